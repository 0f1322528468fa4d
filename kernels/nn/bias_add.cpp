// BiasAdd and its gradient: one number for each channel, which is the last dimension or, for NCHW,
// the second.
#include <algorithm>
#include <array>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/math/elementwise.hpp"
#include "kernels/nn/internal/vectors.hpp"

namespace troupe::nn_bias_add {
namespace {

/// Whether the channel is the second dimension; BiasAddV1 has no data_format.
bool is_nchw(const AttrMap& attrs) {
  return attrs.get_or<std::string>("data_format", "NHWC") == "NCHW";
}

/// Keeps is_nchw for the kernels.
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  return prepared(is_nchw(c.attrs()));
}

Status infer_bias_add(ShapeContext& c) {
  const bool nchw = is_nchw(c.attrs());
  TROUPE_TRY(c.require_rank_at_least(0, nchw ? 3 : 2));
  TROUPE_TRY(c.require_rank(1, 1));
  const PartialShape &value = c.input(0), &bias = c.input(1);
  if (!value.has_rank())
    return c.set_output(0, {});
  auto dims = value.dims();
  auto& channels = dims[nchw ? 1 : dims.size() - 1];
  if (bias.has_rank()) {
    TROUPE_ASSIGN(channels, shape_rules::merge_dims(channels, bias.dim(0)));
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_bias_add_grad(ShapeContext& c) {
  const bool nchw = is_nchw(c.attrs());
  TROUPE_TRY(c.require_rank_at_least(0, nchw ? 3 : 2));
  const PartialShape& dy = c.input(0);
  return c.set_output(
      0, {dy.has_rank() ? dy.dim(nchw ? 1 : dy.rank() - 1) : shape_rules::unknown_dim});
}

/// A value's shape as [outer, channels, inner].
struct Layout {
  std::int64_t outer = 1, channels = 1, inner = 1;
};

Result<Layout> layout_of(const Shape& shape, bool nchw) {
  if (shape.rank() < 2)
    return invalid_argument(str_cat("Input tensor must be at least 2D: ", shape));
  const int channel = nchw ? 1 : shape.rank() - 1;
  Layout out{.channels = shape[channel]};
  for (int i = 0; i < channel; ++i)
    out.outer *= shape[i];
  for (int i = channel + 1; i < shape.rank(); ++i)
    out.inner *= shape[i];
  return out;
}

Status compute_bias_add(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const void* value = c.input(0).raw();
  const Tensor& bias = c.input(1);
  const bool nchw = c.prepared<bool>();
  TROUPE_ASSIGN(Layout layout, layout_of(shape, nchw));
  TROUPE_TRY(nn::check_bias(bias, shape, nchw ? 1 : shape.rank() - 1));
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  if (out.num_elements() == 0)
    return {};
  const bool on_gpu = out.kind() == MemoryKind::device;
  if (const auto add = arith::bias_add(out.dtype()); !on_gpu && layout.inner == 1 && add.ok()) {
    c.parallel_for(layout.outer, 0.3 * static_cast<double>(layout.channels),
                   [&](std::int64_t begin, std::int64_t end) {
                     (*add)(value, bias.raw(), out.mutable_raw(), layout.channels, begin, end);
                   });
    return {};
  }
  const std::int64_t value_dims[] = {layout.outer, layout.channels, layout.inner};
  const std::int64_t bias_dims[] = {1, layout.channels, 1};
  arith::BroadcastPlan plan;
  TROUPE_CHECK(arith::make_broadcast_plan({value_dims, bias_dims}, plan), "three dimensions");
  if (on_gpu)
    return math::binary_on_gpu(c, arith::BinaryOp::add, plan, value, bias.raw(), out);
  TROUPE_ASSIGN(const auto add, arith::binary(arith::BinaryOp::add, out.dtype()));
  c.parallel_for(plan.size, 0.3, [&](std::int64_t begin, std::int64_t end) {
    add(plan, value, bias.raw(), out.mutable_raw(), begin, end);
  });
  return {};
}

/// Sums columns of the rows, each thread its share into a buffer of its own.
Status sum_rows(KernelContext& c, const Tensor& dy, const Layout& layout, Tensor& out) {
  TROUPE_ASSIGN(const arith::BiasAddGradFn sum, arith::bias_add_grad(dy.dtype()));
  TROUPE_ASSIGN(const auto add, arith::add_n(dy.dtype()));
  constexpr std::int64_t max_parts = 256;
  const std::int64_t parts =
      dy.num_elements() < 2'000'000
          ? 1
          : std::min({std::int64_t{c.device().compute().threads()}, layout.outer, max_parts});
  if (parts == 1) {
    sum(dy.raw(), out.mutable_raw(), layout.channels, 0, layout.outer);
    return {};
  }
  TROUPE_ASSIGN(Tensor sums, c.allocate_temp(dy.dtype(), Shape{parts, layout.channels}));
  std::array<const void*, max_parts> inputs;
  for (std::int64_t i = 0; i < parts; ++i)
    inputs[static_cast<std::size_t>(i)] = sums.rows(i, i + 1).raw();
  c.parallel_for(parts, 0.3 * static_cast<double>(dy.num_elements() / parts),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     sum(dy.raw(), const_cast<void*>(inputs[static_cast<std::size_t>(i)]),
                         layout.channels, i * layout.outer / parts, (i + 1) * layout.outer / parts);
                 });
  add(inputs.data(), static_cast<int>(parts), out.mutable_raw(), 0, layout.channels);
  return {};
}

Status compute_bias_add_grad(KernelContext& c) {
  const Tensor& dy = c.input(0);
  TROUPE_ASSIGN(Layout layout, layout_of(dy.shape(), c.prepared<bool>()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{layout.channels}));
  if (layout.channels == 0)
    return {};
  if (out.kind() == MemoryKind::device) {
    const std::int64_t dims[] = {layout.outer, layout.channels, layout.inner};
    const bool reduced[] = {true, false, true};
    return gpu::reduce(c, gpu::Reduce::sum, dims, reduced, dy.dtype(), dy.raw(), out.mutable_raw());
  }
  if (layout.inner == 1 && arith::bias_add_grad(dy.dtype()).ok())
    return sum_rows(c, dy, layout, out);
  // Complex numbers are summed part by part.
  const DType part = dy.dtype() == DType::complex64    ? DType::float32
                     : dy.dtype() == DType::complex128 ? DType::float64
                                                       : dy.dtype();
  const std::int64_t dims[] = {layout.outer, layout.channels, layout.inner,
                               part == dy.dtype() ? 1 : 2};
  const bool reduced[] = {true, false, true, false};
  arith::ReducePlan plan;
  TROUPE_CHECK(arith::make_reduce_plan(dims, reduced, plan), "four dimensions");
  TROUPE_ASSIGN(const auto kernel, arith::reduce(arith::ReduceOp::sum, part));
  c.parallel_for(plan.outputs, 0.3 * static_cast<double>(plan.count),
                 [&](std::int64_t begin, std::int64_t end) {
                   arith::run_reduce(kernel, plan, dy.raw(), out.mutable_raw(), begin, end);
                 });
  return {};
}

AttrMap data_format(GradContext& g) {
  return {{"data_format", g.attrs().get_or<std::string>("data_format", "NHWC")}};
}

Status differentiate_bias_add(GradContext& g) {
  TROUPE_TRY(g.set_input_grad(0, g.output_grad(0)));
  return g.set_input_grad(1, g.op("BiasAddGrad", {g.output_grad(0)}, data_format(g)));
}

// Each channel's gradient goes to every position that was summed into it.
Status differentiate_bias_add_grad(GradContext& g) {
  return g.set_input_grad(
      0, g.op("BiasAdd", {g.zeros_like(g.input(0)), g.output_grad(0)}, data_format(g)));
}

constexpr auto any_number =
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
    "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}";
constexpr auto format = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", arith::dtypes_of(arith::BinaryOp::add)}};
  out.prepare = prepare;
  return out;
}

KernelOptions gpu_options() {
  return {.types = {{"T", gpu::numbers()}}, .prepare = prepare};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("BiasAdd")
      .input("value: T; bias: T")
      .output("output: T")
      .attr(any_number)
      .attr(format)
      .shape_fn(infer_bias_add)
      .gradient(differentiate_bias_add)
      .cpu_kernel(compute_bias_add, options())
      .gpu_kernel(compute_bias_add, gpu_options())
      .doc("Adds one number for each channel.");
  library.op("BiasAddV1")
      .input("value: T; bias: T")
      .output("output: T")
      .attr(any_number)
      .shape_fn(infer_bias_add)
      .gradient(differentiate_bias_add)
      .cpu_kernel(compute_bias_add, options())
      .gpu_kernel(compute_bias_add, gpu_options())
      .doc("Adds one number for each element of the last dimension.");
  library.op("BiasAddGrad")
      .input("out_backprop: T")
      .output("output: T")
      .attr(any_number)
      .attr(format)
      .shape_fn(infer_bias_add_grad)
      .gradient(differentiate_bias_add_grad)
      .cpu_kernel(compute_bias_add_grad, options())
      .gpu_kernel(compute_bias_add_grad, gpu_options())
      .doc("Sums over every dimension but the channels.");
}

} // namespace troupe::nn_bias_add
