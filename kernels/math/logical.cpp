// LogicalAnd, LogicalOr (with broadcasting), LogicalNot.
#include "kernels/framework/op_library.hpp"
#include "kernels/math/internal/elementwise.hpp"

namespace troupe {
namespace {

constexpr auto flat = "its values are true and false";

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_math_logical(OpLibrary& library) {
  library.op("LogicalAnd")
      .input("x: bool; y: bool")
      .output("z: bool")
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .not_differentiable(flat)
      .cpu_kernel(
          [](KernelContext& c) {
            return math::binary(c, arith::BinaryOp::logical_and, math::cheap);
          },
          options())
      .doc("Whether both x and y.");
  library.op("LogicalOr")
      .input("x: bool; y: bool")
      .output("z: bool")
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .not_differentiable(flat)
      .cpu_kernel(
          [](KernelContext& c) {
            return math::binary(c, arith::BinaryOp::logical_or, math::cheap);
          },
          options())
      .doc("Whether x or y or both.");
  library.op("LogicalNot")
      .input("x: bool")
      .output("y: bool")
      .shape_fn(shape_unchanged)
      .not_differentiable(flat)
      .cpu_kernel(
          [](KernelContext& c) { return math::unary(c, arith::UnaryOp::logical_not, math::cheap); },
          options())
      .doc("Whether not x.");
}

} // namespace troupe
