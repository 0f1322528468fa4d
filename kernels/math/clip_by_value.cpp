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
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  const auto* t = static_cast<const std::byte*>(c.input(0).raw());
  TROUPE_ASSIGN(Tensor z, c.forward_or_allocate(0, 0, shape));
  auto* out = static_cast<std::byte*>(z.mutable_raw());
  // A bound is one element for all, or as long as t.
  const auto clip = [&](const arith::BinaryKernel& kernel, const void* from, const Tensor& bound,
                        std::int64_t at, std::int64_t n) {
    const bool is_one = bound.num_elements() == 1;
    const auto* to = static_cast<const std::byte*>(bound.raw()) + (is_one ? 0 : at * size);
    kernel.row(from, to, out + at * size, n,
               is_one ? arith::RowMode::right_scalar : arith::RowMode::both_rows);
  };
  const Tensor &lower = c.input(1), &upper = c.input(2);
  c.parallel_for(shape.num_elements(), 2 * math::cheap, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t block = 2048; // stays in the nearest cache between the two
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t n = std::min(block, end - at);
      clip(clip_above, t + at * size, upper, at, n);
      clip(clip_below, out + at * size, lower, at, n);
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
