// Lu: both triangular factors in one matrix, and the permutation of its rows.
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_lu {
namespace {

using namespace linalg;

template <class T, class Index>
Status decompose(ConstView<T> a, View<T> lu, Index* rows) {
  const Lu<T> found = linalg::lu<T>(a);
  if (!found.is_invertible())
    return invalid_argument("Input is not invertible.");
  lu = found.factors;
  for (std::int64_t row : found.order)
    *rows++ = static_cast<Index>(row);
  return {};
}

Status compute(KernelContext& c) {
  if (const int rank = c.input(0).shape().rank(); rank < 2)
    return invalid_argument(str_cat("Input tensor must have rank >= 2, got ", rank));
  TROUPE_ASSIGN(const Matrices a, operand(c, 0, eliminated_dtype));
  TROUPE_TRY(check_square(a));
  auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices lu, result_matrices(c, 0, outer, a.rows, a.rows, eliminated_dtype));
  const std::int64_t count = linalg::product(outer);
  outer.push_back(a.rows);
  TROUPE_ASSIGN(const Shape rows, Shape::make(outer));
  TROUPE_ASSIGN(Tensor p, c.allocate_output(1, rows));
  if (a.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Eliminated{}, a.wide.dtype(), [&]<class T>() {
      return dispatch(Indices{}, p.dtype(), [&]<class Index>() {
        return for_each_matrix(c, count, cubic(a.rows), [&](std::int64_t i) {
          return decompose<T, Index>(a.at<T>(i), lu.at_mutable<T>(i),
                                     p.mutable_data<Index>().data() + i * a.rows);
        });
      });
    }));
  return narrow(c, 0, lu.wide);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(infer_square(c));
  const PartialShape square = c.outputs()[0];
  return c.set_output(1, with_inner(outer_of(square), {from_end(square, 1)}));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Lu")
      .input("input: T")
      .output("lu: T; p: output_idx_type")
      .attr("T: {double, float, half, complex64, complex128}")
      .attr("output_idx_type: {int32, int64} = DT_INT32")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("Triangular factors of each matrix, its rows permuted.");
}

} // namespace troupe::linalg_lu
