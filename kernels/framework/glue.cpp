// Reading the small integer tensors that say how an op works.
#include "kernels/framework/glue.hpp"

namespace troupe {

Result<std::vector<std::int64_t>> integers(const Tensor& tensor, std::string_view name) {
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(tensor.num_elements()));
  if (tensor.dtype() == DType::int32)
    for (auto number : tensor.data<std::int32_t>())
      out.push_back(number);
  else if (tensor.dtype() == DType::int64)
    for (auto number : tensor.data<std::int64_t>())
      out.push_back(number);
  else
    return invalid_argument(
        str_cat(name, " must be of dtype int32 or int64, got ", to_string(tensor.dtype())));
  return out;
}

Result<std::int64_t> integer_scalar(const Tensor& tensor, std::string_view name) {
  if (!tensor.shape().is_scalar())
    return invalid_argument(str_cat(name, " must be a scalar, got shape ", tensor.shape()));
  TROUPE_ASSIGN(auto numbers, integers(tensor, name));
  return numbers[0];
}

Result<Shape> shape_from_tensor(const Tensor& sizes, std::string_view name) {
  if (sizes.shape().rank() > 1)
    return invalid_argument(
        str_cat(name, " must be a vector of {int32,int64}, got shape ", sizes.shape()));
  TROUPE_ASSIGN(auto dims, integers(sizes, name));
  for (std::int64_t dim : dims)
    if (dim < 0)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= 0"));
  return Shape::make(dims);
}

Result<int> normalized_axis(std::int64_t axis, int rank, std::string_view name) {
  if (axis < -rank || axis >= rank)
    return invalid_argument(
        str_cat("Expected ", name, " in the range [", -rank, ", ", rank, "), but got ", axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::vector<int>> normalized_axes(const std::vector<std::int64_t>& axes, int rank) {
  std::vector<int> out;
  for (std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument(str_cat("Invalid reduction dimension (", axis, " for input with ",
                                      rank, " dimension(s)"));
    const int from_front = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (std::ranges::find(out, from_front) != out.end())
      return invalid_argument(
          str_cat("Invalid reduction arguments: Axes contains duplicate dimension: ", from_front));
    out.push_back(from_front);
  }
  return out;
}

} // namespace troupe
