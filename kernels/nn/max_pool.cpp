// MaxPool: the largest element of each window; MaxPoolGrad sends each gradient to the first such
// element. MaxPoolV2 and MaxPoolGradV2 are told windows and strides as inputs.
#include <algorithm>
#include <limits>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/pooling.hpp"

namespace troupe::nn_max_pool {
namespace {

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(nn::PoolAttrs attrs, nn::read_pool_attrs(c.schema().name, c.attrs()));
  return prepared(attrs);
}

Result<nn::PoolAttrs> attrs_of(KernelContext& c, std::string_view op) {
  if (c.node().prepared)
    return c.prepared<nn::PoolAttrs>();
  return nn::pool_attrs_of_inputs(c, op);
}

Status pool_on_gpu(KernelContext& c, const arith::Pool2DShape& s, const Tensor& x, Tensor& y) {
  const std::int64_t n = y.num_elements();
  if (n == 0)
    return {};
  return gpu::launch(c, gpu::kernels::max_pool, x.dtype(),
                     gpu::over_packs(n, dtype_size(x.dtype())), nn::windows_of(s),
                     gpu::WindowDividers(nn::windows_of(s)), x.raw(), y.mutable_raw(), n);
}

// Each pixel's channels are an image of one column, and its windows do not overlap.
Status compute_over_depth(KernelContext& c, std::int64_t depth) {
  const Tensor& x = c.input(0);
  const Shape& in = x.shape();
  if (in[3] % depth != 0)
    return unimplemented(str_cat("Depthwise max pooling requires the depth window to evenly divide "
                                 "the input depth, and ",
                                 depth, " does not divide ", in[3]));
  const arith::Pool2DShape s{.batch = in[0] * in[1] * in[2],
                             .in_h = in[3],
                             .in_w = 1,
                             .channels = 1,
                             .window_h = depth,
                             .out_h = in[3] / depth,
                             .out_w = 1,
                             .stride_h = depth};
  TROUPE_ASSIGN(const Shape out, Shape::make(std::array{in[0], in[1], in[2], s.out_h}));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  if (y.kind() == MemoryKind::device)
    return pool_on_gpu(c, s, x, y);
  TROUPE_ASSIGN(const arith::PoolFn fn, arith::max_pool(x.dtype()));
  if (y.num_elements() > 0)
    c.parallel_for(s.batch, nn::cost_per_image(s), [&](std::int64_t begin, std::int64_t end) {
      fn(s, x.raw(), y.mutable_raw(), begin, end);
    });
  return {};
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(const nn::PoolAttrs attrs, attrs_of(c, "MaxPool"));
  if (x.shape().rank() != 4)
    return nn::no_images(x.shape(), c.attrs());
  if (attrs.depth > 1)
    return compute_over_depth(c, attrs.depth);
  TROUPE_ASSIGN(arith::Pool2DShape s, nn::pool_sizes(attrs, x.shape()));
  TROUPE_ASSIGN(const Shape out, nn::output_shape(s));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  if (y.num_elements() == 0)
    return {};
  if (x.num_elements() == 0) // explicit padding around nothing
    return invalid_argument(
        str_cat("a window of MaxPool lies in the padding alone: the input has shape ", x.shape()));
  if (y.kind() == MemoryKind::device)
    return pool_on_gpu(c, s, x, y);
  TROUPE_ASSIGN(const arith::PoolFn fn, arith::max_pool(x.dtype()));
  c.parallel_for(s.batch, nn::cost_per_image(s), [&](std::int64_t begin, std::int64_t end) {
    fn(s, x.raw(), y.mutable_raw(), begin, end);
  });
  return {};
}

/// A window without numbers gives the lowest finite one of the op's own dtype, not that of the
/// float that it is computed in.
Status compute_half(KernelContext& c) {
  TROUPE_TRY(compute(c));
  const bool is_half = c.attrs().get_or("T", DType::float32) == DType::float16;
  const float lowest = is_half ? -65504.0F : -0x1.fep127F;
  for (float& y : c.output_entry(0).tensor.mutable_data<float>())
    y = std::max(y, lowest);
  return {};
}

Status compute_grad(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1), &dy = c.input(2);
  if (x.shape().rank() != 4)
    return invalid_argument("tensor_in must be 4-dimensional");
  if (y.shape().rank() != 4)
    return invalid_argument("tensor_out must be 4-dimensional");
  if (dy.shape().rank() != 4)
    return invalid_argument("out_backprop must be 4-dimensional");
  TROUPE_ASSIGN(const nn::PoolAttrs attrs, attrs_of(c, "MaxPoolGrad"));
  TROUPE_ASSIGN(arith::Pool2DShape s, nn::pool_sizes(attrs, x.shape()));
  TROUPE_ASSIGN(const Shape expected, nn::output_shape(s));
  if (y.shape() != expected)
    return invalid_argument(
        str_cat("Expected orig_output shape to be ", expected, ", but got ", y.shape()));
  if (dy.shape() != expected)
    return invalid_argument(
        str_cat("Expected grad shape to be ", expected, ", but got ", dy.shape()));
  if (s.in_h > 0 && s.in_w > std::numeric_limits<std::int32_t>::max() / s.in_h)
    return unimplemented(
        str_cat("MaxPoolGrad takes images of up to 2^31 - 1 pixels, not ", s.in_h, " x ", s.in_w));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  if (dx.num_elements() == 0)
    return {};
  if (dx.kind() == MemoryKind::device) {
    const std::int64_t n = dx.num_elements(), windows = dy.num_elements();
    const gpu::Windows sizes = nn::windows_of(s);
    const gpu::WindowDividers by(sizes);
    TROUPE_ASSIGN(Tensor places, c.allocate_temp(DType::int32, dy.shape()));
    if (windows > 0)
      TROUPE_TRY(gpu::launch(c, gpu::kernels::largest_places, x.dtype(),
                             gpu::over_packs(windows, dtype_size(x.dtype())), sizes, by, x.raw(),
                             places.mutable_raw(), windows));
    return gpu::launch(c, gpu::kernels::max_pool_grad, x.dtype(),
                       gpu::over_packs(n, dtype_size(x.dtype())), sizes, by, places.raw(), dy.raw(),
                       dx.mutable_raw(), n);
  }
  if (dy.num_elements() == 0) {
    std::fill_n(static_cast<std::byte*>(dx.mutable_raw()), dx.byte_size(), std::byte{0});
    return {};
  }
  TROUPE_ASSIGN(const arith::MaxPoolGradFn fn, arith::max_pool_grad(x.dtype()));
  c.parallel_for(s.batch, nn::cost_per_image(s), [&](std::int64_t begin, std::int64_t end) {
    fn(s, x.raw(), dy.raw(), dx.mutable_raw(), begin, end);
  });
  return {};
}

Status infer_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 4));
  return c.output_like(0, 0);
}

Status differentiate(GradContext& g) {
  AttrMap attrs;
  for (const char* name : {"ksize", "strides", "padding", "explicit_paddings", "data_format"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  return g.set_input_grad(
      0, g.op("MaxPoolGrad", {g.input(0), g.output(0), g.output_grad(0)}, std::move(attrs)));
}

Status infer_by_inputs(ShapeContext& c) {
  return nn::infer_pool_by_inputs(c, 1);
}

Status differentiate_by_inputs(GradContext& g) {
  AttrMap attrs;
  for (const char* name : {"padding", "data_format"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  return g.set_input_grad(
      0, g.op("MaxPoolGradV2", {g.input(0), g.output(0), g.output_grad(0), g.input(1), g.input(2)},
              std::move(attrs)));
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto attrs = "ksize: list(int) >= 4; strides: list(int) >= 4; "
                         "padding: {'SAME', 'VALID', 'EXPLICIT'}; "
                         "explicit_paddings: list(int) = []";
  constexpr nn::ImageArgs image{.images = 0b1}, back{.images = 0b111};
  KernelOptions options;
  options.types = {
      {"T", {DType::float32, DType::float64, DType::int32, DType::int64, DType::uint64}}};
  options.prepare = nn::prepare_any_format<prepare>;
  options.expensive = true;
  KernelOptions on_gpu{.types = {{"T", gpu::floats()}}, .prepare = options.prepare};
  KernelOptions half = options, integer = options, narrow = options;
  half.types = {{"T", {DType::float16, DType::bfloat16}}};
  integer.types = {{"T", {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::uint32}}};
  narrow.types = {{"T", half.types[0].dtypes}};
  narrow.types[0].dtypes.insert(narrow.types[0].dtypes.end(), integer.types[0].dtypes.begin(),
                                integer.types[0].dtypes.end());
  library.op("MaxPool")
      .input("input: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = "
            "DT_FLOAT")
      .attr(attrs)
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .shape_fn(nn::infer_pool)
      .gradient(differentiate)
      .cpu_kernel(nn::any_format<compute, image>, options)
      .cpu_kernel(nn::any_format<in_wider<compute_half>, image>, half)
      .cpu_kernel(nn::any_format<in_wider<compute>, image>, integer)
      .gpu_kernel(nn::any_format<compute, image>, on_gpu)
      .doc("The largest element of each window that slides over the images, or of each group of "
           "neighbouring channels.");
  library.op("MaxPoolGrad")
      .input("orig_input: T; orig_output: T; grad: T")
      .output("output: T")
      .attr(attrs)
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64} = DT_FLOAT")
      .shape_fn(infer_grad)
      .not_differentiable("MaxPoolGradGrad is its gradient by grad alone")
      .cpu_kernel(nn::any_format<compute_grad, back>, options)
      .cpu_kernel(nn::any_format<in_wider<compute_grad>, back>, narrow)
      .gpu_kernel(nn::any_format<compute_grad, back>, on_gpu)
      .doc("The gradient of MaxPool over rows and columns; not over the depth.");
  for (KernelOptions* each : {&options, &half, &integer, &narrow, &on_gpu}) {
    each->prepare = nullptr;
    each->host_inputs = {"ksize", "strides"};
  }
  library.op("MaxPoolV2")
      .input("input: T; ksize: int32; strides: int32")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = "
            "DT_FLOAT")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .shape_fn(infer_by_inputs)
      .gradient(differentiate_by_inputs)
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute_half>, half)
      .cpu_kernel(in_wider<compute>, integer)
      .gpu_kernel(compute, on_gpu)
      .doc("MaxPool with windows and strides that a step computes.");
  library.op("MaxPoolGradV2")
      .input("orig_input: T; orig_output: T; grad: T; ksize: int32; strides: int32")
      .output("output: T")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64} = DT_FLOAT")
      .shape_fn(infer_grad)
      .not_differentiable("MaxPoolGradGradV2 is its gradient by grad alone")
      .cpu_kernel(compute_grad, options)
      .cpu_kernel(in_wider<compute_grad>, narrow)
      .gpu_kernel(compute_grad, on_gpu)
      .doc("The gradient of MaxPoolV2 over rows and columns; not over the depth.");
}

} // namespace troupe::nn_max_pool
