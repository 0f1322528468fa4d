// Functions of one number at a time: a row each.
#include "graph/op/conjugate.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_unary_float {
namespace {

using arith::UnaryOp;

// Gradients: dy times the derivative at x, from x or from y = f(x).
Status times(GradContext& g, Value derivative) {
  return g.set_input_grad(0, g.mul(g.output_grad(0), derivative));
}
// SqrtGrad, RsqrtGrad and ReciprocalGrad conjugate y themselves.
Status by_grad_op(GradContext& g, std::string_view op) {
  return g.set_input_grad(0, g.op(op, {g.output(0), g.output_grad(0)}));
}
Status by_plain_grad_op(GradContext& g, std::string_view op) {
  return g.set_input_grad(0, g.op(op, {conjugate(g, g.output(0)), g.output_grad(0)}));
}
Status of_neg(GradContext& g) {
  return g.set_input_grad(0, g.neg(g.output_grad(0)));
}
Status of_abs(GradContext& g) {
  return times(g, g.op("Sign", {g.input(0)}));
}
Status of_sign(GradContext& g) {
  return g.set_input_grad(0, g.zeros_like(g.input(0)));
}
Status of_square(GradContext& g) {
  return times(g, g.mul(conjugate(g, g.input(0)), g.scalar_like(g.input(0), 2)));
}
Status of_sqrt(GradContext& g) {
  return by_grad_op(g, "SqrtGrad");
}
Status of_rsqrt(GradContext& g) {
  return by_grad_op(g, "RsqrtGrad");
}
Status of_reciprocal(GradContext& g) {
  return by_grad_op(g, "ReciprocalGrad");
}
Status of_exp(GradContext& g) {
  return times(g, conjugate(g, g.output(0)));
}
Status of_expm1(GradContext& g) {
  return times(g, g.op("Exp", {conjugate(g, g.input(0))}));
}
Status of_log(GradContext& g) {
  return times(g, g.op("Reciprocal", {conjugate(g, g.input(0))}));
}
Status of_log1p(GradContext& g) {
  const Value x = conjugate(g, g.input(0));
  return times(g, g.op("Reciprocal", {g.add(g.scalar_like(x, 1), x)}));
}
Status of_tanh(GradContext& g) {
  return by_plain_grad_op(g, "TanhGrad");
}
Status of_sigmoid(GradContext& g) {
  return by_plain_grad_op(g, "SigmoidGrad");
}
Status of_sin(GradContext& g) {
  return times(g, g.op("Cos", {conjugate(g, g.input(0))}));
}
Status of_cos(GradContext& g) {
  return times(g, g.neg(g.op("Sin", {conjugate(g, g.input(0))})));
}
// 2 / sqrt(pi) * exp(-x^2)
Status of_erf(GradContext& g) {
  const Value x = g.input(0);
  return times(
      g, g.mul(g.scalar_like(x, 1.1283791670955126), g.op("Exp", {g.neg(g.op("Square", {x}))})));
}

constexpr auto with_integers =
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}";
constexpr auto with_unsigned = "T: {bfloat16, half, float, double, int8, int16, int32, int64, "
                               "uint8, uint16, uint32, uint64, complex64, complex128}";
constexpr auto without_complex = "T: {bfloat16, half, float, double, int8, int16, int32, int64}";
constexpr auto floats_and_complex = "T: {bfloat16, half, float, double, complex64, complex128}";
constexpr auto floats_only = "T: {bfloat16, half, float, double}";

struct Row {
  const char* name;
  const char* types;
  KernelFn compute, compute_on_gpu;
  UnaryOp op;
  GradientFn gradient;
  const char* doc;
};

constexpr Row rows[] = {
    {"Neg", with_integers, math::unary<UnaryOp::neg>, math::unary_on_gpu<UnaryOp::neg>,
     UnaryOp::neg, of_neg, "-x."},
    {"Abs", without_complex, math::unary<UnaryOp::abs>, math::unary_on_gpu<UnaryOp::abs>,
     UnaryOp::abs, of_abs, "x without its sign."},
    {"Sign", with_integers, math::unary<UnaryOp::sign>, math::unary_on_gpu<UnaryOp::sign>,
     UnaryOp::sign, of_sign, "-1, 0 or 1 for x < 0, x = 0, x > 0; NaN of NaN."},
    {"Square", with_unsigned, math::unary<UnaryOp::square>, math::unary_on_gpu<UnaryOp::square>,
     UnaryOp::square, of_square, "x * x."},
    {"Sqrt", floats_and_complex, math::unary<UnaryOp::sqrt>, math::unary_on_gpu<UnaryOp::sqrt>,
     UnaryOp::sqrt, of_sqrt, "The square root of x."},
    {"Rsqrt", floats_and_complex, math::unary<UnaryOp::rsqrt>, math::unary_on_gpu<UnaryOp::rsqrt>,
     UnaryOp::rsqrt, of_rsqrt, "1 / sqrt(x)."},
    {"Reciprocal", with_integers, math::unary<UnaryOp::reciprocal>,
     math::unary_on_gpu<UnaryOp::reciprocal>, UnaryOp::reciprocal, of_reciprocal, "1 / x."},
    {"Inv", with_integers, math::unary<UnaryOp::reciprocal>,
     math::unary_on_gpu<UnaryOp::reciprocal>, UnaryOp::reciprocal, of_reciprocal, "1 / x."},
    {"Exp", floats_and_complex, math::unary<UnaryOp::exp>, math::unary_on_gpu<UnaryOp::exp>,
     UnaryOp::exp, of_exp, "e to the power of x."},
    {"Expm1", floats_and_complex, math::unary<UnaryOp::expm1>, math::unary_on_gpu<UnaryOp::expm1>,
     UnaryOp::expm1, of_expm1, "exp(x) - 1, exact also for small x."},
    {"Log", floats_and_complex, math::unary<UnaryOp::log>, math::unary_on_gpu<UnaryOp::log>,
     UnaryOp::log, of_log, "The natural logarithm of x."},
    {"Log1p", floats_and_complex, math::unary<UnaryOp::log1p>, math::unary_on_gpu<UnaryOp::log1p>,
     UnaryOp::log1p, of_log1p, "log(1 + x), exact also for small x."},
    {"Tanh", floats_and_complex, math::unary<UnaryOp::tanh>, math::unary_on_gpu<UnaryOp::tanh>,
     UnaryOp::tanh, of_tanh, "The hyperbolic tangent of x."},
    {"Sigmoid", floats_and_complex, math::unary<UnaryOp::sigmoid>,
     math::unary_on_gpu<UnaryOp::sigmoid>, UnaryOp::sigmoid, of_sigmoid, "1 / (1 + exp(-x))."},
    {"Sin", floats_and_complex, math::unary<UnaryOp::sin>, math::unary_on_gpu<UnaryOp::sin>,
     UnaryOp::sin, of_sin, "The sine of x."},
    {"Cos", floats_and_complex, math::unary<UnaryOp::cos>, math::unary_on_gpu<UnaryOp::cos>,
     UnaryOp::cos, of_cos, "The cosine of x."},
    {"Erf", floats_only, math::unary<UnaryOp::erf>, math::unary_on_gpu<UnaryOp::erf>, UnaryOp::erf,
     of_erf, "The error function of x."},
};

} // namespace

void register_ops(OpLibrary& library) {
  for (const Row& row : rows)
    library.op(row.name)
        .input("x: T")
        .output("y: T")
        .attr(row.types)
        .shape_fn(shape_unchanged)
        .gradient(row.gradient)
        .cpu_kernel(row.compute, math::for_types_of(row.op))
        .gpu_kernel(row.compute_on_gpu, math::for_gpu(row.op))
        .doc(row.doc);
}

} // namespace troupe::math_unary_float
