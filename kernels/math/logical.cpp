// LogicalAnd, LogicalOr (with broadcasting), LogicalNot.
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_logical {
namespace {

constexpr auto flat = "its values are true and false";

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("LogicalAnd")
      .input("x: bool; y: bool")
      .output("z: bool")
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .not_differentiable(flat)
      .cpu_kernel(math::binary<arith::BinaryOp::logical_and>, options())
      .gpu_kernel(math::binary_on_gpu<arith::BinaryOp::logical_and>)
      .doc("Whether both x and y.");
  library.op("LogicalOr")
      .input("x: bool; y: bool")
      .output("z: bool")
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .not_differentiable(flat)
      .cpu_kernel(math::binary<arith::BinaryOp::logical_or>, options())
      .gpu_kernel(math::binary_on_gpu<arith::BinaryOp::logical_or>)
      .doc("Whether x or y or both.");
  library.op("LogicalNot")
      .input("x: bool")
      .output("y: bool")
      .shape_fn(shape_unchanged)
      .not_differentiable(flat)
      .cpu_kernel(math::unary<arith::UnaryOp::logical_not>, options())
      .gpu_kernel(math::unary_on_gpu<arith::UnaryOp::logical_not>)
      .doc("Whether not x.");
}

} // namespace troupe::math_logical
