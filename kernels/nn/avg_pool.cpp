// AvgPool: the mean of what each window holds, padding not counted; AvgPoolGrad spreads each
// gradient evenly over its window.
#include <algorithm>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/pooling.hpp"

namespace troupe::nn_avg_pool {
namespace {

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(nn::PoolAttrs attrs, nn::read_pool_attrs(c.schema().name, c.attrs()));
  return prepared(attrs);
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.shape().rank() != 4)
    return nn::no_images(x.shape(), c.attrs());
  TROUPE_ASSIGN(arith::Pool2DShape s, nn::pool_sizes(c.prepared<nn::PoolAttrs>(), x.shape()));
  TROUPE_ASSIGN(const Shape out, nn::output_shape(s));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  if (y.num_elements() == 0)
    return {};
  if (y.kind() == MemoryKind::device) {
    const std::int64_t n = y.num_elements();
    return gpu::launch(c, gpu::kernels::avg_pool, x.dtype(), gpu::over(n), nn::windows_of(s),
                       gpu::WindowDividers(nn::windows_of(s)), x.raw(), y.mutable_raw(), n);
  }
  TROUPE_ASSIGN(const arith::PoolFn fn, arith::avg_pool(x.dtype()));
  c.parallel_for(s.batch, nn::cost_per_image(s), [&](std::int64_t begin, std::int64_t end) {
    fn(s, x.raw(), y.mutable_raw(), begin, end);
  });
  return {};
}

Status compute_grad(KernelContext& c) {
  const Tensor &sizes = c.input(0), &dy = c.input(1);
  if (sizes.shape().rank() != 1 || sizes.num_elements() != 4)
    return invalid_argument(
        "out_backprop must be 1-dimensional and 4 elements"); // TensorFlow's name
  if (dy.shape().rank() != 4)
    return invalid_argument("out_backprop must be 4-dimensional");
  TROUPE_TRY(nn::check_not_negative(sizes));
  TROUPE_ASSIGN(const Shape in, shape_from(sizes));
  TROUPE_ASSIGN(arith::Pool2DShape s, nn::pool_sizes(c.prepared<nn::PoolAttrs>(), in));
  TROUPE_TRY(nn::check_last_window(dy.shape()[1], s.stride_h, s.in_h));
  TROUPE_TRY(nn::check_last_window(dy.shape()[2], s.stride_w, s.in_w));
  TROUPE_ASSIGN(const Shape expected, nn::output_shape(s));
  // TensorFlow's kernel takes as many windows as there are gradients, of the first images.
  if (dy.shape() != expected && (dy.shape()[0] > in[0] || dy.shape()[3] != in[3]))
    return invalid_argument(
        str_cat("Expected grad shape to be ", expected, ", but got ", dy.shape()));
  s.batch = dy.shape()[0];
  s.out_h = dy.shape()[1];
  s.out_w = dy.shape()[2];
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (dx.num_elements() == 0)
    return {};
  const bool on_device = dx.kind() == MemoryKind::device;
  if (on_device && s.batch < in[0])
    TROUPE_TRY(gpu::fill(c, dx.mutable_raw(), 0, dx.byte_size()));
  if (on_device) {
    const std::int64_t n = s.batch * s.in_h * s.in_w * s.channels;
    if (n == 0)
      return {};
    return gpu::launch(c, gpu::kernels::avg_pool_grad, dy.dtype(), gpu::over(n), nn::windows_of(s),
                       gpu::WindowDividers(nn::windows_of(s)), dy.raw(), dx.mutable_raw(), n);
  }
  if (s.batch < in[0] || dy.num_elements() == 0)
    std::fill_n(static_cast<std::byte*>(dx.mutable_raw()), dx.byte_size(), std::byte{0});
  if (dy.num_elements() == 0)
    return {};
  TROUPE_ASSIGN(const arith::PoolFn fn, arith::avg_pool_grad(dy.dtype()));
  c.parallel_for(s.batch, nn::cost_per_image(s), [&](std::int64_t begin, std::int64_t end) {
    fn(s, dy.raw(), dx.mutable_raw(), begin, end);
  });
  return {};
}

Status infer_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  if (!shape.has_rank())
    shape = {-1, -1, -1, -1};
  if (shape.rank() != 4)
    return invalid_argument(str_cat("Shape must be rank 4 but is rank ", shape.rank()));
  return c.set_output(0, std::move(shape));
}

AttrMap pool_attrs(GradContext& g) {
  AttrMap attrs;
  for (const char* name : {"ksize", "strides", "padding", "data_format"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  return attrs;
}

Status differentiate(GradContext& g) {
  return g.set_input_grad(
      0, g.op("AvgPoolGrad", {g.shape_of(g.input(0)), g.output_grad(0)}, pool_attrs(g)));
}

Status differentiate_grad(GradContext& g) {
  return g.set_input_grad(1, g.op("AvgPool", {g.output_grad(0)}, pool_attrs(g)));
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto attrs = "ksize: list(int) >= 4; strides: list(int) >= 4; "
                         "padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
                         "T: {half, bfloat16, float, double}";
  constexpr nn::ImageArgs image{.images = 0b1}, back{.images = 0b10, .sizes = 0b1};
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = nn::prepare_any_format<prepare>;
  options.expensive = true;
  KernelOptions on_gpu{.types = {{"T", gpu::floats()}}, .prepare = options.prepare};
  KernelOptions half = options;
  half.types = {{"T", {DType::float16, DType::bfloat16}}};
  library.op("AvgPool")
      .input("value: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(nn::infer_pool)
      .gradient(differentiate)
      .cpu_kernel(nn::any_format<compute, image>, options)
      .cpu_kernel(nn::any_format<in_wider<compute>, image>, half)
      .gpu_kernel(nn::any_format<compute, image>, on_gpu)
      .doc("The mean of each window that slides over the images' rows and columns.");
  options.host_inputs = half.host_inputs = on_gpu.host_inputs = {"orig_input_shape"};
  library.op("AvgPoolGrad")
      .input("orig_input_shape: int32; grad: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer_grad)
      .gradient(differentiate_grad)
      .cpu_kernel(nn::any_format<compute_grad, back>, options)
      .cpu_kernel(nn::any_format<in_wider<compute_grad>, back>, half)
      .gpu_kernel(nn::any_format<compute_grad, back>, on_gpu)
      .doc("The gradient of AvgPool.");
}

} // namespace troupe::nn_avg_pool
