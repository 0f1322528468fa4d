// TanhGrad, SigmoidGrad, SqrtGrad, RsqrtGrad, ReciprocalGrad, InvGrad: dx from y = f(x) and dy.
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_unary_grad {
namespace {

using arith::GradOp;

// Every op here is z = dy * d(y), linear in dy, so the gradient of dy is the op itself.
Status set_both(GradContext& g, Value dy_grad_op, Value y_grad) {
  TROUPE_TRY(g.set_input_grad(0, y_grad));
  return g.set_input_grad(1, dy_grad_op);
}

Value again(GradContext& g, std::string_view op) {
  return g.op(op, {g.input(0), g.output_grad(0)});
}

// z = dy (1 - y^2)
Status of_tanh_grad(GradContext& g) {
  const Value y = g.input(0), dy = g.input(1), dz = g.output_grad(0);
  return set_both(g, again(g, "TanhGrad"), g.mul(g.mul(g.mul(dz, g.scalar_like(dz, -2)), dy), y));
}

// z = dy y (1 - y)
Status of_sigmoid_grad(GradContext& g) {
  const Value y = g.input(0), dy = g.input(1), dz = g.output_grad(0);
  const Value scaled = g.mul(dz, dy);
  return set_both(g, again(g, "SigmoidGrad"),
                  g.sub(scaled, g.mul(g.mul(scaled, g.scalar_like(dz, 2)), y)));
}

// z = dy / (2 y)
Status of_sqrt_grad(GradContext& g) {
  const Value dz = g.output_grad(0);
  const Value scaled = g.div(dz, g.input(0));
  return set_both(g, g.mul(g.scalar_like(dz, 0.5), scaled), g.mul(g.neg(scaled), g.output(0)));
}

// z = -dy y^3 / 2
Status of_rsqrt_grad(GradContext& g) {
  const Value y = g.input(0), dy = g.input(1), dz = g.output_grad(0);
  return set_both(g, again(g, "RsqrtGrad"),
                  g.mul(g.mul(g.mul(g.scalar_like(dz, -1.5), dz), dy), g.op("Square", {y})));
}

// z = -dy y^2
Status of_reciprocal_grad(GradContext& g) {
  const Value y = g.input(0), dy = g.input(1), dz = g.output_grad(0);
  return set_both(g, again(g, "ReciprocalGrad"),
                  g.mul(g.mul(g.mul(dz, g.scalar_like(dz, -2)), dy), y));
}

struct Row {
  const char* name;
  KernelFn compute, compute_on_gpu;
  GradOp op;
  GradientFn gradient;
  const char* doc;
};

constexpr Row rows[] = {
    {"TanhGrad", math::unary_grad<GradOp::tanh>, math::unary_grad_on_gpu<GradOp::tanh>,
     GradOp::tanh, of_tanh_grad, "dy * (1 - y * y)."},
    {"SigmoidGrad", math::unary_grad<GradOp::sigmoid>, math::unary_grad_on_gpu<GradOp::sigmoid>,
     GradOp::sigmoid, of_sigmoid_grad, "dy * y * (1 - y)."},
    {"SqrtGrad", math::unary_grad<GradOp::sqrt>, math::unary_grad_on_gpu<GradOp::sqrt>,
     GradOp::sqrt, of_sqrt_grad, "dy * 0.5 / y."},
    {"RsqrtGrad", math::unary_grad<GradOp::rsqrt>, math::unary_grad_on_gpu<GradOp::rsqrt>,
     GradOp::rsqrt, of_rsqrt_grad, "dy * -0.5 * y * y * y."},
    {"ReciprocalGrad", math::unary_grad<GradOp::reciprocal>,
     math::unary_grad_on_gpu<GradOp::reciprocal>, GradOp::reciprocal, of_reciprocal_grad,
     "-dy * y * y."},
    {"InvGrad", math::unary_grad<GradOp::reciprocal>, math::unary_grad_on_gpu<GradOp::reciprocal>,
     GradOp::reciprocal, of_reciprocal_grad, "-dy * y * y."},
};

} // namespace

void register_ops(OpLibrary& library) {
  for (const Row& row : rows)
    library.op(row.name)
        .input("y: T; dy: T")
        .output("z: T")
        .attr("T: {bfloat16, half, float, double, complex64, complex128}")
        .shape_fn(shape_unchanged)
        .gradient(row.gradient)
        .cpu_kernel(row.compute, math::for_types_of(row.op))
        .gpu_kernel(row.compute_on_gpu, math::for_gpu(row.op))
        .doc(row.doc);
}

} // namespace troupe::math_unary_grad
