// Cholesky and CholeskyGrad: the lower triangular factor l of a = l l^H.
#include <limits>

#include "graph/op/grad_context.hpp"
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_cholesky {
namespace {

using namespace linalg;

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0, eliminated_dtype));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, a.rows, a.rows, eliminated_dtype));
  if (out.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Eliminated{}, a.wide.dtype(), [&]<class T>() {
      return for_each_matrix(c, linalg::product(outer), cubic(a.rows),
                             [&](std::int64_t i) -> Status {
                               Matrix<T> lower = a.at<T>(i);
                               if (!cholesky<T>(lower))
                                 lower.setConstant(std::numeric_limits<double>::quiet_NaN());
                               out.at_mutable<T>(i) = lower.template triangularView<Eigen::Lower>();
                               return {};
                             });
    }));
  return narrow(c, 0, out.wide);
}

/// Murray, "Differentiation of the Cholesky decomposition" (2016), section 3, symbolic form:
/// a' = l^-H phi(l^H l') l^-1, symmetric, phi halving the diagonal of the lower triangle.
Matrix<double> gradient_of(ConstView<double> l, ConstView<double> dl) {
  const Matrix<double> lower = l.triangularView<Eigen::Lower>();
  const Matrix<double> lower_grad = dl.triangularView<Eigen::Lower>();
  Matrix<double> phi = lower.transpose() * lower_grad;
  phi.diagonal() *= 0.5;
  const auto divide = [&](Matrix<double>& by_l) {
    triangular_solve<double>(l, arith::Triangle::lower, true,
                             {by_l.data(), by_l.rows(), by_l.cols()});
  };
  Matrix<double> middle = phi.triangularView<Eigen::Lower>();
  divide(middle);
  Matrix<double> turned = middle.transpose();
  divide(turned);
  return 0.5 * (turned + turned.transpose());
}

Status compute_grad(KernelContext& c) {
  TROUPE_TRY(check_same_batch(c, 2));
  TROUPE_ASSIGN(const Matrices l, operand(c, 0));
  TROUPE_ASSIGN(const Matrices dl, operand(c, 1));
  if (l.rows != dl.rows || l.cols != dl.cols)
    return invalid_argument("Inputs (L and grad) must have the same shape.");
  if (l.rows != l.cols)
    return invalid_argument("Inputs must be a square matrices.");
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, l.rows, l.rows));
  if (out.wide.num_elements() > 0)
    TROUPE_TRY(for_each_matrix(
        c, linalg::product(outer), 3 * cubic(l.rows), [&](std::int64_t i) -> Status {
          out.at_mutable<double>(i) = gradient_of(l.at<double>(i), dl.at<double>(i));
          return {};
        }));
  return narrow(c, 0, out.wide);
}

Status infer_grad(ShapeContext& c) {
  TROUPE_TRY(infer_square(c));
  TROUPE_ASSIGN(const auto both, shape_rules::merge_shapes(c.outputs()[0], c.input(1)));
  return c.set_output(0, both);
}

Status differentiate(GradContext& g) {
  if (is_complex(g.dtype(g.input(0))))
    return unimplemented("the gradient of a complex Cholesky factor is made by its client");
  return g.set_input_grad(0, g.op("CholeskyGrad", {g.output(0), g.output_grad(0)}));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Cholesky")
      .input("input: T")
      .output("output: T")
      .attr("T: {double, float, half, complex64, complex128}")
      .shape_fn(infer_square)
      .gradient(differentiate)
      .cpu_kernel(compute, kernel_options())
      .doc("The lower triangular factor of each positive definite matrix; NaN for another.");
  KernelOptions options = kernel_options();
  options.types = {{"T", {DType::float32, DType::float64}}};
  library.op("CholeskyGrad")
      .input("l: T; grad: T")
      .output("output: T")
      .attr("T: {half, float, double}")
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_grad, options)
      .doc("The gradient of Cholesky, from its output.");
  library.op("BatchCholesky")
      .input("input: T")
      .output("output: T")
      .attr("T: {double, float}")
      .shape_fn(infer_square)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
  library.op("BatchCholeskyGrad")
      .input("l: T; grad: T")
      .output("output: T")
      .attr("T: {float, double}")
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_grad, options)
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::linalg_cholesky
