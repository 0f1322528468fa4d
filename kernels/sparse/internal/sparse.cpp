#include "kernels/sparse/internal/sparse.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/arith/movement.hpp"

namespace troupe::sparse {
namespace {

template <class T>
Status take_objects(const Tensor& values, std::span<const std::int64_t> order,
                    const Tensor* otherwise, Tensor& out) {
  const auto from = values.data<T>();
  const auto to = out.mutable_data<T>();
  for (std::size_t i = 0; i < order.size(); ++i)
    to[i] = order[i] < 0 ? otherwise->data<T>()[0] : from[static_cast<std::size_t>(order[i])];
  return {};
}

Status check_after_previous(const Sparse& s, std::int64_t i) {
  if (i == 0 || std::ranges::lexicographical_compare(s.index(i - 1), s.index(i)))
    return {};
  const std::string which = str_cat("indices[", i, "] = [", listed(s.index(i)), "] is ");
  if (std::ranges::equal(s.index(i - 1), s.index(i)))
    return invalid_argument(which + "repeated");
  return invalid_argument(which + "out of order. Many sparse ops require sorted indices.\n    Use "
                                  "`tf.sparse.reorder` to create a correctly ordered copy.\n\n");
}

} // namespace

Result<Sparse> sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.shape().rank() != 2)
    return invalid_argument(
        str_cat("Sparse indices must be rank 2 but is rank ", indices.shape().rank()));
  if (values.shape().rank() != 1)
    return invalid_argument(
        str_cat("Sparse values must be rank 1 but is rank ", values.shape().rank()));
  if (shape.shape().rank() != 1)
    return invalid_argument(
        str_cat("Sparse shape must be rank 1 but is rank ", shape.shape().rank()));
  if (indices.shape()[0] != values.shape()[0])
    return invalid_argument(str_cat("Number of elements in indices (", indices.shape()[0],
                                    ") and values (", values.shape()[0], ") do not match"));
  if (indices.shape()[1] != shape.shape()[0])
    return invalid_argument(str_cat("Index rank (", indices.shape()[1], ") and shape rank (",
                                    shape.shape()[0], ") do not match"));
  return Sparse{indices.data<std::int64_t>(), &values, shape.data<std::int64_t>(),
                indices.shape()[0], indices.shape()[1]};
}

Result<Sparse> sparse_tensor(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  const Shape &ix = indices.shape(), &vals = values.shape();
  if (vals.rank() != 1)
    return invalid_argument(str_cat("vals must be a vec, but got: ", vals));
  if (ix.rank() > 0 && ix[0] != vals[0])
    return invalid_argument(
        str_cat("indices and values rows (indexing dimension) must match. (indices = ", ix[0],
                ", values = ", vals[0], ")"));
  if (ix.rank() != 2)
    return invalid_argument(str_cat("indices must be a matrix, but got: ", ix));
  if (ix[1] != shape.num_elements())
    return invalid_argument("Order length must be SparseTensor rank.");
  return Sparse{indices.data<std::int64_t>(), &values, shape.data<std::int64_t>(), ix[0], ix[1]};
}

Status check_shape(std::span<const std::int64_t> shape) {
  for (std::int64_t d : shape)
    if (d < 0)
      return invalid_argument(str_cat("Expected shape dimensions to be non-negative, got ", d));
  return Shape::make(shape).status();
}

Status check_bounds(const Sparse& s) {
  const std::int64_t* at = s.indices.data();
  for (std::int64_t i = 0; i < s.entries; ++i, at += s.rank) {
    bool inside = true;
    for (std::int64_t d = 0; d < s.rank; ++d)
      inside &= at[d] >= 0 && at[d] < s.shape[static_cast<std::size_t>(d)];
    if (!inside)
      return invalid_argument(str_cat("Sparse index tuple indices[", i, ", :] = [",
                                      str_join(Dims(at, at + s.rank), ", "), "] is out of bounds"));
  }
  return {};
}

Status check_order(const Sparse& s) {
  for (std::int64_t i = 1; i < s.entries; ++i)
    TROUPE_TRY(check_after_previous(s, i));
  return {};
}

Status check_indices(const Sparse& s) {
  for (std::int64_t i = 0; i < s.entries; ++i) {
    const auto at = s.index(i);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < 0 || at[d] >= s.shape[d])
        return invalid_argument(str_cat("indices[", i, "] = [", listed(at),
                                        "] is out of bounds: need 0 <= index < [", listed(s.shape),
                                        "]"));
    TROUPE_TRY(check_after_previous(s, i));
  }
  return {};
}

Dims sorted_order(const Sparse& s) {
  const auto less = [&](std::int64_t a, std::int64_t b) {
    return std::ranges::lexicographical_compare(s.index(a), s.index(b));
  };
  bool sorted = true;
  for (std::int64_t i = 1; i < s.entries && sorted; ++i)
    sorted = !less(i, i - 1);
  if (sorted)
    return {};
  Dims order(static_cast<std::size_t>(s.entries));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, less);
  return order;
}

Status take(KernelContext& c, int output, const Tensor& values, std::span<const std::int64_t> order,
            const Tensor* otherwise) {
  TROUPE_ASSIGN(Tensor out,
                c.allocate_output(output, Shape{static_cast<std::int64_t>(order.size())}));
  if (is_object(values.dtype()))
    return dispatch(Types<std::string, ResourceHandle, Variant>{}, values.dtype(),
                    [&]<class T>() { return take_objects<T>(values, order, otherwise, out); });
  arith::take_elements(static_cast<std::int64_t>(dtype_size(values.dtype())), values.raw(),
                       order.data(), otherwise != nullptr ? otherwise->raw() : nullptr,
                       out.mutable_raw(), static_cast<std::int64_t>(order.size()));
  return {};
}

Status give(KernelContext& c, int output, const Dims& values) {
  return c.set_output(output, Tensor::vector<std::int64_t>(values));
}

Status give_indices(KernelContext& c, int output, const Dims& values, std::int64_t rank) {
  const std::int64_t rows = rank == 0 ? 0 : static_cast<std::int64_t>(values.size()) / rank;
  TROUPE_ASSIGN(Tensor out, c.allocate_output(output, Shape{rows, rank}));
  std::ranges::copy(values, out.mutable_data<std::int64_t>().begin());
  return {};
}

std::int64_t volume(std::span<const std::int64_t> dims) {
  std::int64_t out = 1;
  for (std::int64_t d : dims)
    if (__builtin_mul_overflow(out, d, &out))
      return -1;
  return out;
}

} // namespace troupe::sparse
