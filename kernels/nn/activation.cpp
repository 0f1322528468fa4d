// Relu, Relu6, Elu and Softplus, and the ops of their gradients: elementwise.
#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::nn_activation {
namespace {

Status check_shapes(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  if (shape != c.input(1).shape())
    return invalid_argument(str_cat("Inputs to operation ", c.node_name(), " of type ",
                                    c.node().schema->name,
                                    " must have the same size and shape.  Input 0: ", shape,
                                    " != input 1: ", c.input(1).shape()));
  return {};
}

template <arith::GradOp op>
Status compute_grad(KernelContext& c) {
  TROUPE_TRY(check_shapes(c));
  const Shape shape = c.input(0).shape();
  const void* dy = c.input(0).raw();
  const void* x = c.input(1).raw();
  TROUPE_ASSIGN(const auto fn, arith::unary_grad(op, c.input(0).dtype()));
  TROUPE_ASSIGN(Tensor dx, c.forward_or_allocate({0, 1}, 0, shape));
  c.parallel_for(
      dx.num_elements(), math::nanoseconds(arith::cost_of(op)),
      [&](std::int64_t begin, std::int64_t end) { fn(dy, x, dx.mutable_raw(), begin, end); });
  return {};
}

template <arith::GradOp op>
Status compute_grad_on_gpu(KernelContext& c) {
  TROUPE_TRY(check_shapes(c));
  return math::unary_grad_on_gpu(c, op, 0, 1);
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.input(0), c.input(1)));
  return c.set_output(0, std::move(out));
}

Status differentiate_relu(GradContext& g) {
  return g.set_input_grad(0, g.op("ReluGrad", {g.output_grad(0), g.output(0)}));
}
Status differentiate_relu6(GradContext& g) {
  return g.set_input_grad(0, g.op("Relu6Grad", {g.output_grad(0), g.output(0)}));
}
Status differentiate_elu(GradContext& g) {
  return g.set_input_grad(0, g.op("EluGrad", {g.output_grad(0), g.output(0)}));
}
Status differentiate_softplus(GradContext& g) {
  return g.set_input_grad(0, g.op("SoftplusGrad", {g.output_grad(0), g.input(0)}));
}

// Both are linear in dy and flat in x almost everywhere.
Status differentiate_relu_grad(GradContext& g) {
  TROUPE_TRY(g.set_input_grad(0, g.op("ReluGrad", {g.output_grad(0), g.input(1)})));
  return g.set_input_grad(1, g.zeros_like(g.input(1)));
}
Status differentiate_relu6_grad(GradContext& g) {
  TROUPE_TRY(g.set_input_grad(0, g.op("Relu6Grad", {g.output_grad(0), g.input(1)})));
  return g.set_input_grad(1, g.zeros_like(g.input(1)));
}

// dx = dy * (y + 1) where y < 0: its derivative by y is dy there, 0 elsewhere.
Status differentiate_elu_grad(GradContext& g) {
  const Value dy = g.input(0), y = g.input(1), ddx = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(0, g.op("EluGrad", {ddx, y})));
  const Value zeros = g.zeros_like(y);
  return g.set_input_grad(1, g.op("Select", {g.op("Less", {y, zeros}), g.mul(ddx, dy), zeros}));
}

// dx = dy / (exp(-x) + 1): its derivative by x is dy / (exp(-x) + 2 + exp(x)).
Status differentiate_softplus_grad(GradContext& g) {
  const Value dy = g.input(0), x = g.input(1), ddx = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(0, g.op("SoftplusGrad", {ddx, x})));
  const Value below = g.add(g.add(g.op("Exp", {g.neg(x)}), g.scalar_like(x, 2)), g.op("Exp", {x}));
  return g.set_input_grad(1, g.div(g.mul(ddx, dy), below));
}

constexpr auto floats = "T: {half, bfloat16, float, double}";
constexpr auto reals = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, "
                       "half, uint32, uint64}";

using arith::GradOp;
using arith::UnaryOp;

struct Row {
  const char *name, *doc, *types;
  KernelFn compute, compute_on_gpu;
  UnaryOp op;
  GradientFn gradient;
  const char *grad_second_input, *grad_types;
  KernelFn compute_grad, compute_grad_on_gpu;
  GradOp grad_op;
  GradientFn grad_gradient;
};

constexpr Row rows[] = {
    {"Relu", "max(x, 0).",
     "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
     "uint64, qint8}",
     math::unary<UnaryOp::relu>, math::unary_on_gpu<UnaryOp::relu>, UnaryOp::relu,
     differentiate_relu, "features", reals, compute_grad<GradOp::relu>,
     compute_grad_on_gpu<GradOp::relu>, GradOp::relu, differentiate_relu_grad},
    {"Relu6", "min(max(x, 0), 6).", reals, math::unary<UnaryOp::relu6>,
     math::unary_on_gpu<UnaryOp::relu6>, UnaryOp::relu6, differentiate_relu6, "features", reals,
     compute_grad<GradOp::relu6>, compute_grad_on_gpu<GradOp::relu6>, GradOp::relu6,
     differentiate_relu6_grad},
    {"Elu", "x where it is positive, else exp(x) - 1.", floats, math::unary<UnaryOp::elu>,
     math::unary_on_gpu<UnaryOp::elu>, UnaryOp::elu, differentiate_elu, "outputs", floats,
     compute_grad<GradOp::elu>, compute_grad_on_gpu<GradOp::elu>, GradOp::elu,
     differentiate_elu_grad},
    {"Softplus", "log(exp(x) + 1).", floats, math::unary<UnaryOp::softplus>,
     math::unary_on_gpu<UnaryOp::softplus>, UnaryOp::softplus, differentiate_softplus, "features",
     floats, compute_grad<GradOp::softplus>, compute_grad_on_gpu<GradOp::softplus>,
     GradOp::softplus, differentiate_softplus_grad},
};

} // namespace

void register_ops(OpLibrary& library) {
  for (const Row& row : rows) {
    library.op(row.name)
        .input("features: T")
        .output("activations: T")
        .attr(row.types)
        .shape_fn(shape_unchanged)
        .gradient(row.gradient)
        .cpu_kernel(row.compute, math::for_types_of(row.op))
        .gpu_kernel(row.compute_on_gpu, math::for_gpu(row.op))
        .doc(row.doc);
    library.op(str_cat(row.name, "Grad"))
        .input(str_cat("gradients: T; ", row.grad_second_input, ": T"))
        .output("backprops: T")
        .attr(row.grad_types)
        .shape_fn(infer_grad)
        .gradient(row.grad_gradient)
        .cpu_kernel(row.compute_grad, math::for_types_of(row.grad_op))
        .gpu_kernel(row.compute_grad_on_gpu, math::for_gpu(row.grad_op))
        .doc(str_cat("The gradient of ", row.name, "."));
  }
}

} // namespace troupe::nn_activation
