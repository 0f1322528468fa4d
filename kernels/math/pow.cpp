// Pow: x to the power of y, elementwise, with broadcasting.
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_pow {
namespace {

// dx = dz * y * x^(y-1);  dy = dz * z * log(x), taken as 0 where x <= 0: there z has no real
// derivative in y.
Status differentiate(GradContext& g) {
  const Value x = g.input(0), y = g.input(1), dz = g.output_grad(0);
  const Value gx = g.mul(g.mul(dz, y), g.op("Pow", {x, g.sub(y, g.scalar_like(y, 1))}));
  const Value positive = g.op("Greater", {x, g.scalar_like(x, 0)});
  const Value safe = g.op("SelectV2", {positive, x, g.scalar_like(x, 1)});
  const Value gy = g.mul(g.mul(dz, g.output(0)), g.op("Log", {safe}));
  const auto [to_x, to_y] = g.unbroadcast(x, y, gx, gy);
  TROUPE_TRY(g.set_input_grad(0, to_x));
  return g.set_input_grad(1, to_y);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Pow")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}")
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate)
      .cpu_kernel(math::binary<arith::BinaryOp::pow>, math::for_types_of(arith::BinaryOp::pow))
      .gpu_kernel(math::binary_on_gpu<arith::BinaryOp::pow>, math::for_gpu(arith::BinaryOp::pow))
      .host_kernel_on_gpu(math::binary<arith::BinaryOp::pow>,
                          math::for_types({DType::int32, DType::int64}))
      .doc("x to the power of y. Integers take no negative powers.");
}

} // namespace troupe::math_pow
