// ParallelConcat: rows below each other, one from each input.
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_parallel_concat {
namespace {

Result<Shape> wanted_shape(const AttrMap& attrs, std::int64_t rows) {
  TROUPE_ASSIGN(const auto shape, attrs.get<PartialShape>("shape"));
  const auto whole = shape.to_shape();
  if (!whole)
    return invalid_argument("All inputs must have fully defined shapes.");
  if (whole->rank() < 1 || (*whole)[0] != rows)
    return invalid_argument(str_cat("Wrong size for dimension 0: the shape is ", *whole, ", but ",
                                    rows, " rows are given"));
  return *whole;
}

Status check_row(const PartialShape& row, const Shape& whole) {
  if (!row.has_rank() || row.is_compatible_with(whole.with_dim(0, 1)))
    return {};
  if (row.rank() != whole.rank())
    return invalid_argument(str_cat("value and update shape doesn't match: ", whole, " vs. ", row));
  for (int d = 1; d < whole.rank(); ++d)
    if (row.dim(d) != shape_rules::unknown_dim && row.dim(d) != whole[d])
      return invalid_argument(
          str_cat("value and update shape doesn't match ", whole, " vs. ", row));
  return invalid_argument(str_cat("update shape doesn't match: ", row));
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Shape shape, wanted_shape(c.attrs(), c.num_inputs()));
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(check_row(c.input(i).shape(), shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  std::int64_t at = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Tensor& row = c.input(i);
    TROUPE_TRY(out.charge(array::text_bytes(row, 0, row.num_elements())));
    array::copy_elements(row, 0, out, at, row.num_elements());
    at += row.num_elements();
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const Shape shape, wanted_shape(c.attrs(), c.num_inputs()));
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(check_row(c.input(i), shape));
  return c.set_output(0, shape);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ParallelConcat")
      .input("values: N * T")
      .output("output: T")
      .attr("N: int >= 1; T: type; shape: shape")
      .shape_fn(infer)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(compute)
      .doc("The rows, each of first dimension 1, below each other.");
}

} // namespace troupe::array_parallel_concat
