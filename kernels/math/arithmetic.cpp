// Add, AddV2, Sub, Mul, SquaredDifference, Maximum, Minimum: elementwise, with broadcasting.
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe {
namespace {

using arith::BinaryOp;

Status set_both(GradContext& g, Value gx, Value gy) {
  const auto [x, y] = g.unbroadcast(g.input(0), g.input(1), gx, gy);
  TROUPE_TRY(g.set_input_grad(0, x));
  return g.set_input_grad(1, y);
}

Status differentiate_add(GradContext& g) {
  return set_both(g, g.output_grad(0), g.output_grad(0));
}

Status differentiate_sub(GradContext& g) {
  return set_both(g, g.output_grad(0), g.neg(g.output_grad(0)));
}

Status differentiate_mul(GradContext& g) {
  const Value dz = g.output_grad(0);
  return set_both(g, g.mul(dz, g.input(1)), g.mul(dz, g.input(0)));
}

// d(x - y)^2 = 2 (x - y) (dx - dy)
Status differentiate_squared_difference(GradContext& g) {
  const Value dz = g.output_grad(0);
  const Value gx = g.mul(g.mul(g.scalar_like(dz, 2), dz), g.sub(g.input(0), g.input(1)));
  return set_both(g, gx, g.neg(gx));
}

// The whole gradient goes to the input that was chosen; to x where both are equal.
Status differentiate_choice(GradContext& g, std::string_view x_is_chosen) {
  const Value dz = g.output_grad(0);
  const Value zeros = g.zeros_like(dz);
  const Value mask = g.op(x_is_chosen, {g.input(0), g.input(1)});
  return set_both(g, g.op("SelectV2", {mask, dz, zeros}), g.op("SelectV2", {mask, zeros, dz}));
}

constexpr auto any_number = "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
                            "int64, complex64, complex128, uint32, uint64}";
constexpr auto any_real = "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, "
                          "uint32, int64, uint64}";

} // namespace

void register_math_arithmetic(OpLibrary& library) {
  library.op("Add")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
            "complex128, string}")
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_add)
      .cpu_kernel(math::binary<BinaryOp::add>, math::for_types_of(BinaryOp::add))
      .doc("x + y.");
  library.op("AddV2")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .commutative()
      .aggregate()
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_add)
      .cpu_kernel(math::binary<BinaryOp::add>, math::for_types_of(BinaryOp::add))
      .doc("x + y.");
  library.op("Sub")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_sub)
      .cpu_kernel(math::binary<BinaryOp::sub>, math::for_types_of(BinaryOp::sub))
      .doc("x - y.");
  library.op("Mul")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_mul)
      .cpu_kernel(math::binary<BinaryOp::mul>, math::for_types_of(BinaryOp::mul))
      .doc("x * y.");
  library.op("SquaredDifference")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_squared_difference)
      .cpu_kernel(math::binary<BinaryOp::squared_difference>,
                  math::for_types_of(BinaryOp::squared_difference))
      .doc("(x - y) * (x - y).");
  library.op("Maximum")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_real)
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_choice(g, "GreaterEqual"); })
      .cpu_kernel(math::binary<BinaryOp::maximum>, math::for_types_of(BinaryOp::maximum))
      .doc("The larger of x and y; NaN if either is NaN.");
  library.op("Minimum")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_real)
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_choice(g, "LessEqual"); })
      .cpu_kernel(math::binary<BinaryOp::minimum>, math::for_types_of(BinaryOp::minimum))
      .doc("The smaller of x and y; NaN if either is NaN.");
}

} // namespace troupe
