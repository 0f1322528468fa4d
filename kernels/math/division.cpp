// Division in all its roundings, and the remainders: elementwise, with broadcasting.
#include "graph/op/conjugate.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_division {
namespace {

using arith::BinaryOp;

Status set_both(GradContext& g, Value gx, Value gy) {
  const auto [x, y] = g.unbroadcast(g.input(0), g.input(1), gx, gy);
  TROUPE_TRY(g.set_input_grad(0, x));
  return g.set_input_grad(1, y);
}

// z = x / y: dx = dz / y, dy = dz * ((-x / y) / y), with the op's own kind of division.
Status differentiate_division(GradContext& g, std::string_view op) {
  const Value x = conjugate(g, g.input(0)), y = conjugate(g, g.input(1)), dz = g.output_grad(0);
  return set_both(g, g.op(op, {dz, y}), g.mul(dz, g.op(op, {g.op(op, {g.neg(x), y}), y})));
}

// z = x - y * floor(x / y), and floor is flat.
Status differentiate_floor_mod(GradContext& g) {
  const Value dz = g.output_grad(0);
  return set_both(g, dz, g.mul(dz, g.neg(g.op("FloorDiv", {g.input(0), g.input(1)}))));
}

Status differentiate_mul_no_nan(GradContext& g) {
  const Value dz = g.output_grad(0);
  return set_both(g, g.op("MulNoNan", {dz, g.input(1)}), g.op("MulNoNan", {g.input(0), dz}));
}

// z = atan2(y, x): dy = dz * x / (x^2 + y^2), dx = dz * -y / (x^2 + y^2)
Status differentiate_atan2(GradContext& g) {
  const Value y = g.input(0), x = g.input(1);
  const Value scale = g.div(g.output_grad(0), g.add(g.op("Square", {x}), g.op("Square", {y})));
  return set_both(g, g.mul(scale, x), g.mul(scale, g.neg(y)));
}

constexpr auto any_number = "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
                            "uint32, uint64, int64, complex64, complex128}";

// Of integers it truncates, of floats it does not.
Status compute_div(KernelContext& c) {
  const DType dtype = c.input(0).dtype();
  return math::binary(c, is_floating(dtype) || is_complex(dtype) ? BinaryOp::real_div
                                                                 : BinaryOp::trunc_div);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RealDiv")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_division(g, "RealDiv"); })
      .cpu_kernel(math::binary<BinaryOp::real_div>, math::for_types_of(BinaryOp::real_div))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::real_div>, math::for_gpu(BinaryOp::real_div))
      .doc("x / y of floating point numbers.");
  library.op("Div")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_division(g, "Div"); })
      .cpu_kernel(compute_div, math::for_types_of(BinaryOp::mul)) // all that have numbers
      .gpu_kernel(math::binary_on_gpu<BinaryOp::real_div>, math::for_gpu(BinaryOp::real_div))
      .host_kernel_on_gpu(compute_div, math::for_types({DType::int32, DType::int64}))
      .doc("x / y; integers are rounded toward zero.");
  library.op("FloorDiv")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .roles(Role::flat)
      .shape_fn(shape_broadcast_binary)
      .not_differentiable("it is piecewise constant")
      .cpu_kernel(math::binary<BinaryOp::floor_div>, math::for_types_of(BinaryOp::floor_div))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::floor_div>, math::for_gpu(BinaryOp::floor_div))
      .host_kernel_on_gpu(math::binary<BinaryOp::floor_div>,
                          math::for_types({DType::int32, DType::int64}))
      .doc("x / y, rounded down.");
  library.op("TruncateDiv")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .roles(Role::flat)
      .shape_fn(shape_broadcast_binary)
      .not_differentiable("it is piecewise constant")
      .cpu_kernel(math::binary<BinaryOp::trunc_div>, math::for_types_of(BinaryOp::trunc_div))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::trunc_div>, math::for_gpu(BinaryOp::trunc_div))
      .host_kernel_on_gpu(math::binary<BinaryOp::trunc_div>,
                          math::for_types({DType::int32, DType::int64}))
      .doc("x / y, rounded toward zero.");
  library.op("FloorMod")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, "
            "double}")
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_floor_mod)
      .cpu_kernel(math::binary<BinaryOp::floor_mod>, math::for_types_of(BinaryOp::floor_mod))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::floor_mod>, math::for_gpu(BinaryOp::floor_mod))
      .host_kernel_on_gpu(math::binary<BinaryOp::floor_mod>,
                          math::for_types({DType::int32, DType::int64}))
      .doc("What x / y rounded down leaves: the sign is y's.");
  library.op("TruncateMod")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {int32, int64, bfloat16, half, float, double}")
      .shape_fn(shape_broadcast_binary)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(math::binary<BinaryOp::trunc_mod>, math::for_types_of(BinaryOp::trunc_mod))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::trunc_mod>, math::for_gpu(BinaryOp::trunc_mod))
      .host_kernel_on_gpu(math::binary<BinaryOp::trunc_mod>,
                          math::for_types({DType::int32, DType::int64}))
      .doc("What x / y rounded toward zero leaves: the sign is x's.");
  library.op("Mod")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {int32, int64, half, bfloat16, float, double}")
      .shape_fn(shape_broadcast_binary)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(math::binary<BinaryOp::trunc_mod>, math::for_types_of(BinaryOp::trunc_mod))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::trunc_mod>, math::for_gpu(BinaryOp::trunc_mod))
      .host_kernel_on_gpu(math::binary<BinaryOp::trunc_mod>,
                          math::for_types({DType::int32, DType::int64}))
      .doc("What x / y rounded toward zero leaves: the sign is x's.");
  library.op("DivNoNan")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {half, float, bfloat16, double, complex64, complex128}")
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_division(g, "DivNoNan"); })
      .cpu_kernel(math::binary<BinaryOp::div_no_nan>, math::for_types_of(BinaryOp::div_no_nan))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::div_no_nan>, math::for_gpu(BinaryOp::div_no_nan))
      .doc("x / y, and 0 where y is 0.");
  library.op("MulNoNan")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_mul_no_nan)
      .cpu_kernel(math::binary<BinaryOp::mul_no_nan>, math::for_types_of(BinaryOp::mul_no_nan))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::mul_no_nan>, math::for_gpu(BinaryOp::mul_no_nan))
      .doc("x * y, and 0 where y is 0, even if x is infinite or NaN.");
  library.op("Atan2")
      .input("y: T; x: T")
      .output("z: T")
      .attr("T: {bfloat16, half, float, double}")
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_atan2)
      .cpu_kernel(math::binary<BinaryOp::atan2>, math::for_types_of(BinaryOp::atan2))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::atan2>, math::for_gpu(BinaryOp::atan2))
      .doc("The angle of the point (x, y), in (-pi, pi].");
}

} // namespace troupe::math_division
