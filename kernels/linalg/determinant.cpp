// MatrixDeterminant and LogMatrixDeterminant, from the pivots of an LU decomposition.
#include "graph/op/grad_context.hpp"
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_determinant {
namespace {

using namespace linalg;

/// Sign (of magnitude 1, or 0) and logarithm of the magnitude.
template <class T>
struct SignedLog {
  T sign = 1;
  double log = 0;
};

/// Of a permutation, which is put in order on the way: -1 for an odd number of exchanges.
double sign_of(std::vector<std::int64_t>& order) {
  double sign = 1;
  for (std::size_t i = 0; i < order.size(); ++i)
    while (order[i] != static_cast<std::int64_t>(i)) {
      std::swap(order[i], order[static_cast<std::size_t>(order[i])]);
      sign = -sign;
    }
  return sign;
}

template <class T>
SignedLog<T> determinant(ConstView<T> a) {
  SignedLog<T> out;
  if (a.rows() == 0)
    return out;
  Lu<T> found = lu<T>(a);
  out.sign = sign_of(found.order);
  const auto diagonal = found.factors.diagonal();
  using Part = decltype(std::abs(T()));
  for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
    const double magnitude = std::abs(diagonal(i));
    out.sign *= magnitude == 0 ? T(0) : diagonal(i) / static_cast<Part>(magnitude);
    out.log += std::log(magnitude);
    if (magnitude == 0)
      return {T(0), -std::numeric_limits<double>::infinity()};
  }
  return out;
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0, eliminated_dtype));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Tensor out, result(c, 0, outer, {}, eliminated_dtype));
  TROUPE_TRY(dispatch(Eliminated{}, a.wide.dtype(), [&]<class T>() {
    auto to = out.mutable_data<T>();
    return for_each_matrix(c, product(outer), cubic(a.rows), [&](std::int64_t i) -> Status {
      const auto d = determinant<T>(a.at<T>(i));
      to[static_cast<std::size_t>(i)] =
          d.sign == T(0) ? T(0) : d.sign * static_cast<decltype(std::abs(T()))>(std::exp(d.log));
      return {};
    });
  }));
  return narrow(c, 0, out);
}

Status compute_log(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0, eliminated_dtype));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Tensor sign, result(c, 0, outer, {}, eliminated_dtype));
  TROUPE_ASSIGN(Tensor log, result(c, 1, outer, {}, eliminated_dtype));
  TROUPE_TRY(dispatch(Eliminated{}, a.wide.dtype(), [&]<class T>() {
    auto signs = sign.mutable_data<T>(), logs = log.mutable_data<T>();
    return for_each_matrix(c, product(outer), cubic(a.rows), [&](std::int64_t i) -> Status {
      const auto d = determinant<T>(a.at<T>(i));
      signs[static_cast<std::size_t>(i)] = d.sign;
      logs[static_cast<std::size_t>(i)] = d.log;
      return {};
    });
  }));
  TROUPE_TRY(narrow(c, 0, sign));
  return narrow(c, 1, log);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(shape_rules::merge_dims(from_end(c.input(0), 2), from_end(c.input(0), 1)).status());
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, outer_of(c.input(0))));
  return {};
}

// d det = det tr(a^-1 da), d log|det| = tr(a^-1 da): a factor for each matrix times a^-H.
Value times_inverse(GradContext& g, Value factor) {
  const Value inverse = g.op("MatrixInverse", {g.input(0)}, {{"adjoint", true}});
  const Value column = g.op("ExpandDims", {factor, g.constant(Tensor::scalar<std::int32_t>(-1))});
  return g.mul(g.op("ExpandDims", {column, g.constant(Tensor::scalar<std::int32_t>(-1))}), inverse);
}
Status differentiate(GradContext& g) {
  return g.set_input_grad(0, times_inverse(g, g.mul(g.output_grad(0), g.output(0))));
}
Status differentiate_log(GradContext& g) {
  if (g.output_grad(1).is_none())
    return {};
  return g.set_input_grad(0, times_inverse(g, g.output_grad(1)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MatrixDeterminant")
      .input("input: T")
      .output("output: T")
      .attr("T: {half, float, double, complex64, complex128}")
      .shape_fn(infer)
      .gradient(differentiate)
      .cpu_kernel(compute, kernel_options())
      .doc("The determinant of each matrix.");
  library.op("LogMatrixDeterminant")
      .input("input: T")
      .output("sign: T; log_abs_determinant: T")
      .attr("T: {half, float, double, complex64, complex128}")
      .shape_fn(infer)
      .gradient(differentiate_log)
      .cpu_kernel(compute_log, kernel_options())
      .doc("Sign, and logarithm of the magnitude, of each matrix's determinant.");
  library.op("BatchMatrixDeterminant")
      .input("input: T")
      .output("output: T")
      .attr("T: {float, double, complex64, complex128}")
      .shape_fn(infer)
      .gradient(differentiate)
      .cpu_kernel(compute, kernel_options())
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::linalg_determinant
