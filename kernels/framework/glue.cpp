// Reading the small integer tensors that say how an op works.
#include "kernels/framework/glue.hpp"

namespace troupe {

Result<Integers> integers(const Tensor& tensor) {
  Integers out(static_cast<std::size_t>(tensor.num_elements()));
  TROUPE_TRY(dispatch(Types<std::int32_t, std::int64_t, std::int16_t, std::int8_t>{},
                      tensor.dtype(), [&]<class T>() -> Status {
                        std::ranges::copy(tensor.data<T>(), out.begin());
                        return {};
                      }));
  return out;
}

Result<Shape> shape_from(const Tensor& sizes) {
  TROUPE_ASSIGN(const auto dims, integers(sizes));
  for (std::int64_t dim : dims)
    if (dim < 0)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= 0"));
  std::int64_t elements = 1;
  for (std::int64_t dim : dims)
    if (__builtin_mul_overflow(elements, std::max<std::int64_t>(dim, 1), &elements))
      return invalid_argument(
          str_cat("Shape [", str_join(dims, ","), "] would have more than 2**63 - 1 elements"));
  return Shape::make(dims);
}

} // namespace troupe
