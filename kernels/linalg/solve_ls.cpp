// MatrixSolveLs: least squares, by the normal equations or, where asked for, by a complete
// orthogonal decomposition.
#include "kernels/framework/eigen_checks.hpp"

#include <Eigen/QR>

#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_solve_ls {
namespace {

using namespace linalg;

/// x = (a^H a + l I)^-1 a^H b, or for wide matrices a^H (a a^H + l I)^-1 b. All products are of the
/// same types, since each combination costs the compiler seconds.
template <class T>
Status solve_fast(const Matrix<T>& a, const Matrix<T>& b, double l2, View<T> x) {
  const bool tall = a.rows() >= a.cols();
  const Matrix<T> adjoint = a.adjoint();
  Matrix<T> gram = tall ? adjoint * a : a * adjoint;
  gram.diagonal().array() += T(l2);
  if (!cholesky<T>(gram))
    return invalid_argument("Input matrix was rank deficient or ill-conditioned. Try setting "
                            "fast=False or provide a larger l2_regularizer > 0.");
  Matrix<T> right = tall ? adjoint * b : b;
  const ConstView<T> lower(gram.data(), gram.rows(), gram.cols());
  for (const bool upper : {false, true})
    triangular_solve<T>(lower, arith::Triangle::lower, upper,
                        {right.data(), right.rows(), right.cols()});
  if (tall)
    x = right;
  else
    x = adjoint * right;
  return {};
}

template <class T>
Status solve(const Matrix<T>& a, const Matrix<T>& b, double l2, bool fast, View<T> x) {
  if (fast)
    return solve_fast<T>(a, b, l2, x);
  using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::CompleteOrthogonalDecomposition<ColumnMajor> cod{ColumnMajor(a)};
  x = cod.solve(ColumnMajor(b));
  return {};
}

Status compute(KernelContext& c) {
  const Tensor& l2 = c.input(2);
  TROUPE_TRY(check_same_batch(c, 2));
  TROUPE_ASSIGN(const Matrices a, operand(c, 0));
  TROUPE_ASSIGN(const Matrices b, operand(c, 1));
  if (a.rows != b.rows)
    return invalid_argument("Input matrix and rhs are incompatible.");
  const auto outer = outer_dims(c.input(0).shape());
  if (product(outer) > 0 && !l2.shape().is_scalar())
    return invalid_argument(str_cat("l2_regularizer must be scalar, got shape ", l2.shape()));
  if (product(outer) > 0 && !(l2.value<double>() >= 0))
    return invalid_argument("l2_regularizer must be >= 0.");
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, a.cols, b.cols));
  const bool fast = attr_or(c, "fast", true);
  if (out.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Wide{}, a.wide.dtype(), [&]<class T>() {
      const double cost = 3 * cubic(std::max(a.rows, a.cols));
      return for_each_matrix(c, linalg::product(outer), cost, [&](std::int64_t i) -> Status {
        if (a.rows == 0) {
          out.at_mutable<T>(i).setZero();
          return {};
        }
        return solve<T>(a.at<T>(i), b.at<T>(i), l2.value<double>(), fast, out.at_mutable<T>(i));
      });
    }));
  return narrow(c, 0, out.wide);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_least(1, 2));
  TROUPE_TRY(c.require_rank(2, 0));
  const PartialShape &a = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const auto outer, shape_rules::merge_shapes(outer_of(a), outer_of(b)));
  TROUPE_TRY(shape_rules::merge_dims(from_end(a, 2), from_end(b, 2)).status());
  return c.set_output(0, with_inner(outer, {from_end(a, 1), from_end(b, 1)}));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options = kernel_options();
  options.host_inputs = {"l2_regularizer"};
  library.op("MatrixSolveLs")
      .input("matrix: T; rhs: T; l2_regularizer: double")
      .output("output: T")
      .attr("T: {double, float, half, complex64, complex128}; fast: bool = true")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("The least-squares solution for each matrix and right-hand side.");
  library.op("BatchMatrixSolveLs")
      .input("matrix: T; rhs: T; l2_regularizer: double")
      .output("output: T")
      .attr("T: {double, float}; fast: bool = true")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::linalg_solve_ls
