// UnravelIndex: the coordinates of flat indices into an array of the given dimensions.
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"

namespace troupe::array_unravel_index {
namespace {

Status check_dims(const Integers& dims, DType dtype) {
  const std::int64_t most = dtype == DType::int32 ? INT32_MAX : INT64_MAX;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0)
      return invalid_argument(
          str_cat("Input dims cannot contain a dim of zero, but dims contains zero at index ", i));
    if (dims[i] < 0)
      return invalid_argument(
          str_cat("Input dims cannot be negative. Got dim = ", dims[i], " at index ", i));
  }
  std::int64_t product = 1;
  for (std::int64_t d : dims)
    if (__builtin_mul_overflow(product, d, &product) || product > most)
      return invalid_argument(
          str_cat("Input dims product is causing integer overflow: (", str_join(dims, " "), ")"));
  return {};
}

Status compute(KernelContext& c) {
  const Tensor &indices = c.input(0), &given = c.input(1);
  if (indices.shape().rank() > 1)
    return invalid_argument(
        str_cat("The indices can only be scalar or vector, got \"", indices.shape(), "\""));
  if (indices.num_elements() == 0)
    return invalid_argument("received empty tensor indices: " + debug_string(indices));
  if (given.shape().rank() != 1)
    return invalid_argument(str_cat("The indices can only be 1-D, got \"", given.shape(), "\""));
  TROUPE_ASSIGN(const Integers dims, integers(given));
  TROUPE_TRY(check_dims(dims, given.dtype()));
  std::int64_t size = 1;
  for (std::int64_t d : dims)
    size *= d;
  TROUPE_ASSIGN(const Integers flat, integers(indices));
  for (std::int64_t i : flat)
    if (i < 0 || i >= size)
      return invalid_argument("index is out of bound as with dims");
  const auto rank = static_cast<std::int64_t>(dims.size());
  const Shape shape =
      indices.shape().is_scalar() ? Shape{rank} : Shape{rank, indices.num_elements()};
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  return dispatch(Indices{}, out.dtype(), [&]<class I>() -> Status {
    const auto to = out.mutable_data<I>();
    for (std::size_t i = 0; i < flat.size(); ++i) {
      std::int64_t left = flat[i];
      for (std::size_t d = dims.size(); d-- > 0; left /= dims[d])
        to[d * flat.size() + i] = static_cast<I>(left % dims[d]);
    }
    return {};
  });
}

Status infer(ShapeContext& c) {
  const PartialShape &indices = c.input(0), &dims = c.input(1);
  if (!indices.has_rank())
    return {};
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  const std::int64_t rank =
      dims.has_rank() && dims.rank() == 1 ? dims.dim(0) : shape_rules::unknown_dim;
  if (indices.rank() == 0)
    return c.set_output(0, {rank});
  return c.set_output(0, {rank, indices.dim(0)});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("UnravelIndex")
      .input("indices: Tidx; dims: Tidx")
      .output("output: Tidx")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .shape_fn(infer)
      .not_differentiable("places are no numbers to differentiate")
      .cpu_kernel(compute)
      .doc("The coordinates of each flat index, in a column.");
}

} // namespace troupe::array_unravel_index
