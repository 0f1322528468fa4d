// ClipByValue: max(min(t, upper), lower); each bound is a scalar or has t's shape. A NaN stays, a
// bound that is NaN does not count.
#include <algorithm>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_clip_by_value {
namespace {

// The gradient goes to t where t lies within the bounds, else to the bound that it crossed.
Status differentiate(GradContext& g) {
  const Value t = g.input(0), lower = g.input(1), upper = g.input(2), dz = g.output_grad(0);
  const Value zeros = g.zeros_like(dz);
  const Value below = g.op("Less", {t, lower});
  const Value above = g.op("Greater", {t, upper});
  const Value outside = g.op("LogicalOr", {below, above});
  const Value to_lower = g.op("SelectV2", {below, dz, zeros});
  const Value to_upper = g.op("SelectV2", {above, dz, zeros});
  TROUPE_TRY(g.set_input_grad(0, g.op("SelectV2", {outside, zeros, dz})));
  TROUPE_TRY(g.set_input_grad(1, g.unbroadcast(t, lower, {}, to_lower).second));
  return g.set_input_grad(2, g.unbroadcast(t, upper, {}, to_upper).second);
}

Status compute(KernelContext& c) {
  const Shape shape = c.input(0).shape(), lower_shape = c.input(1).shape(),
              upper_shape = c.input(2).shape();
  const auto fits = [&](const Shape& bound) { return bound == shape || bound.is_scalar(); };
  if (!fits(lower_shape) || !fits(upper_shape))
    return invalid_argument(str_cat(
        "clip_value_min and clip_value_max must be either of the same shape as input, or a "
        "scalar. input shape: ",
        shape, "clip_value_min shape: ", lower_shape, "clip_value_max shape: ", upper_shape));
  const DType dtype = c.input(0).dtype();
  TROUPE_ASSIGN(const auto clip_above, arith::binary(arith::BinaryOp::clip_above, dtype));
  TROUPE_ASSIGN(const auto clip_below, arith::binary(arith::BinaryOp::clip_below, dtype));
  TROUPE_ASSIGN(const arith::BroadcastPlan with_upper,
                math::broadcast_plan({&shape, &upper_shape}));
  TROUPE_ASSIGN(const arith::BroadcastPlan with_lower,
                math::broadcast_plan({&shape, &lower_shape}));
  const void* t = c.input(0).raw();
  const void* lower = c.input(1).raw();
  const void* upper = c.input(2).raw();
  TROUPE_ASSIGN(Tensor z, c.forward_or_allocate(0, 0, shape));
  void* out = z.mutable_raw();
  c.parallel_for(shape.num_elements(), 2 * math::cheap, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t block = 2048; // stays in the nearest cache between the two
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t stop = std::min(at + block, end);
      clip_above(with_upper, t, upper, out, at, stop);
      clip_below(with_lower, out, lower, out, at, stop);
    }
  });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ClipByValue")
      .input("t: T; clip_value_min: T; clip_value_max: T")
      .output("output: T")
      .attr("T: numbertype")
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .cpu_kernel(compute, math::for_types_of(arith::BinaryOp::clip_above))
      .gpu_kernel(math::clip_on_gpu, math::for_gpu(arith::BinaryOp::clip_above))
      .doc("t where it lies within the bounds, else the bound that it crosses.");
}

} // namespace troupe::math_clip_by_value
