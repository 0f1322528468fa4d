// Qr: an orthonormal q and an upper triangular r for each matrix, by Householder reflections.
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_qr {
namespace {

using namespace linalg;

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0));
  const auto outer = outer_dims(c.input(0).shape());
  const bool full = attr_or(c, "full_matrices", false);
  const std::int64_t inner = full ? a.rows : std::min(a.rows, a.cols);
  TROUPE_ASSIGN(Matrices q, result_matrices(c, 0, outer, a.rows, inner));
  TROUPE_ASSIGN(Matrices r, result_matrices(c, 1, outer, inner, a.cols));
  TROUPE_TRY(dispatch(Wide{}, a.wide.dtype(), [&]<class T>() {
    const double cost = 2 * cubic(std::max(a.rows, a.cols));
    return for_each_matrix(c, linalg::product(outer), cost, [&](std::int64_t i) -> Status {
      if (a.rows == 0 || a.cols == 0) {
        q.at_mutable<T>(i) = Matrix<T>::Identity(a.rows, inner);
        return {};
      }
      linalg::qr<T>(a.at<T>(i), q.at_mutable<T>(i), r.at_mutable<T>(i));
      return {};
    });
  }));
  TROUPE_TRY(narrow(c, 0, q.wide));
  return narrow(c, 1, r.wide);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_ASSIGN(const bool full, c.attr<bool>("full_matrices"));
  const PartialShape& a = c.input(0);
  const std::int64_t m = from_end(a, 2), n = from_end(a, 1);
  const std::int64_t p = m < 0 || n < 0 ? shape_rules::unknown_dim : std::min(m, n);
  TROUPE_TRY(c.set_output(0, with_inner(outer_of(a), {m, full ? m : p})));
  return c.set_output(1, with_inner(outer_of(a), {full ? m : p, n}));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options = kernel_options();
  options.types[0].dtypes.push_back(DType::float16);
  library.op("Qr")
      .input("input: T")
      .output("q: T; r: T")
      .attr("full_matrices: bool = false; T: {double, float, half, complex64, complex128}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("An orthonormal q and an upper triangular r with q r = input.");
}

} // namespace troupe::linalg_qr
