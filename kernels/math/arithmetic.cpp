// Add, AddV2, Sub, Mul, SquaredDifference, Maximum, Minimum: elementwise, with broadcasting.
#include <algorithm>
#include <string>

#include "graph/op/conjugate.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_arithmetic {
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
  return set_both(g, g.mul(dz, conjugate(g, g.input(1))), g.mul(dz, conjugate(g, g.input(0))));
}

// d(x - y)^2 = 2 (x - y) (dx - dy)
Status differentiate_squared_difference(GradContext& g) {
  const Value dz = g.output_grad(0);
  const Value gx = g.mul(g.mul(g.scalar_like(dz, 2), dz), g.sub(g.input(0), g.input(1)));
  return set_both(g, gx, g.neg(gx));
}

bool join_strings(const void* a, const void* b, void* out, std::int64_t n, arith::RowMode mode) {
  const auto* x = static_cast<const std::string*>(a);
  const auto* y = static_cast<const std::string*>(b);
  auto* z = static_cast<std::string*>(out);
  for (std::int64_t i = 0; i < n; ++i)
    z[i] = x[mode == arith::RowMode::left_scalar ? 0 : i] +
           y[mode == arith::RowMode::right_scalar ? 0 : i];
  return true;
}

/// Bytes of the texts of `x`, each as often as it comes in an output of `shape`.
std::size_t text_in(const Tensor& x, const Shape& shape) {
  std::size_t bytes = 0;
  for (const std::string& text : x.data<std::string>())
    bytes += text.size();
  const std::int64_t each = shape.num_elements() / std::max<std::int64_t>(x.num_elements(), 1);
  return bytes * static_cast<std::size_t>(each);
}

// Add joins texts.
Status add_strings(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(x.shape(), y.shape()));
  TROUPE_ASSIGN(const arith::BroadcastPlan plan, math::broadcast_plan({&x.shape(), &y.shape()}));
  TROUPE_ASSIGN(Tensor z, c.allocate_output(0, shape));
  TROUPE_TRY(z.charge(text_in(x, shape) + text_in(y, shape)));
  const arith::BinaryKernel kernel{
      .fn = join_strings, .in_size = sizeof(std::string), .out_size = sizeof(std::string)};
  kernel(plan, x.raw(), y.raw(), z.mutable_raw(), 0, plan.size);
  return {};
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

void register_ops(OpLibrary& library) {
  library.op("Add")
      .input("x: T; y: T")
      .output("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
            "complex128, string}")
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_add)
      .cpu_kernel(math::binary<BinaryOp::add>, math::for_types_of(BinaryOp::add))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::add>, math::for_gpu(BinaryOp::add))
      .host_kernel_on_gpu(math::binary<BinaryOp::add>, math::for_types({DType::int32}))
      .cpu_kernel(add_strings, math::for_types({DType::string}))
      .doc("x + y; texts are joined.");
  library.op("AddV2")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .commutative()
      .aggregate()
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_add)
      .cpu_kernel(math::binary<BinaryOp::add>, math::for_types_of(BinaryOp::add))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::add>, math::for_gpu(BinaryOp::add))
      .host_kernel_on_gpu(math::binary<BinaryOp::add>, math::for_types({DType::int32}))
      .doc("x + y.");
  library.op("Sub")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_sub)
      .cpu_kernel(math::binary<BinaryOp::sub>, math::for_types_of(BinaryOp::sub))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::sub>, math::for_gpu(BinaryOp::sub))
      .host_kernel_on_gpu(math::binary<BinaryOp::sub>, math::for_types({DType::int32}))
      .doc("x - y.");
  library.op("Mul")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_number)
      .commutative()
      .shape_fn(shape_broadcast_binary)
      .gradient(differentiate_mul)
      .cpu_kernel(math::binary<BinaryOp::mul>, math::for_types_of(BinaryOp::mul))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::mul>, math::for_gpu(BinaryOp::mul))
      .host_kernel_on_gpu(math::binary<BinaryOp::mul>, math::for_types({DType::int32}))
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
      .gpu_kernel(math::binary_on_gpu<BinaryOp::squared_difference>,
                  math::for_gpu(BinaryOp::squared_difference))
      .host_kernel_on_gpu(math::binary<BinaryOp::squared_difference>,
                          math::for_types({DType::int32}))
      .doc("(x - y) * (x - y).");
  library.op("Maximum")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_real)
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_choice(g, "GreaterEqual"); })
      .cpu_kernel(math::binary<BinaryOp::maximum>, math::for_types_of(BinaryOp::maximum))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::maximum>, math::for_gpu(BinaryOp::maximum))
      .host_kernel_on_gpu(math::binary<BinaryOp::maximum>, math::for_types({DType::int32}))
      .doc("The larger of x and y; NaN if either is NaN.");
  library.op("Minimum")
      .input("x: T; y: T")
      .output("z: T")
      .attr(any_real)
      .shape_fn(shape_broadcast_binary)
      .gradient([](GradContext& g) { return differentiate_choice(g, "LessEqual"); })
      .cpu_kernel(math::binary<BinaryOp::minimum>, math::for_types_of(BinaryOp::minimum))
      .gpu_kernel(math::binary_on_gpu<BinaryOp::minimum>, math::for_gpu(BinaryOp::minimum))
      .host_kernel_on_gpu(math::binary<BinaryOp::minimum>, math::for_types({DType::int32}))
      .doc("The smaller of x and y; NaN if either is NaN.");
}

} // namespace troupe::math_arithmetic
