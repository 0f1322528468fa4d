// Conv2D and the gradients by its input and its filter: y[n,i,j,q] = sum over di, dj, k of
// x[n, i*stride + di*dilation - pad, j*stride + dj*dilation - pad, k] * filter[di, dj, k, q].
#include "kernels/arith/conv.hpp"
#include "kernels/arith/lookup.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/convolution.hpp"
#include "kernels/nn/internal/convolution_gpu.hpp"
#include "kernels/nn/internal/groups.hpp"

namespace troupe::nn_conv2d {
namespace {

using Ints = std::vector<std::int64_t>;

// ---- shapes

Status infer_backprop_input(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(auto filter, shape_rules::dims_of_rank(c, 1, 4));
  TROUPE_ASSIGN(auto dy, shape_rules::dims_of_rank(c, 2, 4));
  constexpr auto unknown = shape_rules::unknown_dim;
  const bool nhwc = c.attrs().get_or<std::string>("data_format", "NHWC") == "NHWC";
  const auto sizes = c.input_as_ints(0);
  const std::int64_t count = sizes                   ? static_cast<std::int64_t>(sizes->size())
                             : c.input(0).has_rank() ? c.input(0).dim(0)
                                                     : unknown;
  if (count != unknown && count != 4 && count != 2)
    return invalid_argument(
        str_cat("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but "
                "got: ",
                count));
  TROUPE_TRY(shape_rules::merge_dims(dy[nhwc ? 3 : 1], filter[3]).status());
  Ints out(4, unknown);
  if (sizes && count == 4) {
    TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
    out = shape.dims();
  } else if (count == 2) {
    if (sizes)
      std::copy(sizes->begin(), sizes->end(), out.begin() + (nhwc ? 1 : 2));
    out[nhwc ? 3 : 1] = filter[2];
  }
  TROUPE_ASSIGN(out[0], shape_rules::merge_dims(out[0], dy[0]));
  return c.set_output(0, PartialShape(std::move(out)));
}

Status infer_backprop_filter(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(1));
  if (!shape.has_rank())
    shape = {-1, -1, -1, -1};
  if (shape.rank() != 4)
    return invalid_argument(str_cat("Shape must be rank 4 but is rank ", shape.rank()));
  return c.set_output(0, std::move(shape));
}

// ---- kernels

using nn::ConvAttrs;

bool has_zero(const Shape& shape) {
  return shape.num_elements() == 0;
}

// The three for one group. Sizes are at least 1.

Status forward(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x, const Tensor& filter,
               Tensor& y) {
  if (y.kind() == MemoryKind::device)
    return nn::convolve_on_gpu(c, s, x, filter, y);
  if (x.dtype() == DType::float32)
    return nn::convolve(c, s, x, filter, {}, y.mutable_data<float>().data());
  TROUPE_ASSIGN(const auto type, arith::conv2d_type(x.dtype()));
  nn::for_each_images(c, s, [&](std::int64_t begin, std::int64_t end) {
    arith::conv2d_forward(type, s, x.raw(), filter.raw(), y.mutable_raw(), begin, end);
  });
  return {};
}

Status backprop_input(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                      const Tensor& dy, Tensor& dx) {
  if (dx.kind() == MemoryKind::device)
    return nn::convolve_back_on_gpu(c, s, filter, dy, dx);
  if (dx.dtype() == DType::float32)
    return nn::convolve_back(c, s, filter, dy, dx.mutable_data<float>().data());
  TROUPE_ASSIGN(const auto type, arith::conv2d_type(dx.dtype()));
  nn::for_each_images(c, s, [&](std::int64_t begin, std::int64_t end) {
    arith::conv2d_backward_input(type, s, filter.raw(), dy.raw(), dx.mutable_raw(), begin, end);
  });
  return {};
}

Status fill_zero(KernelContext& c, Tensor& tensor) {
  if (tensor.kind() == MemoryKind::device)
    return gpu::fill(c, tensor.mutable_raw(), 0, tensor.byte_size());
  std::fill_n(static_cast<std::byte*>(tensor.mutable_raw()), tensor.byte_size(), std::byte{0});
  return {};
}

// Calls compute(sizes of a group, group of a, group of b, group of `out`), group by group; with one
// group the tensors themselves.
template <class Compute>
Status for_each_group(KernelContext& c, const arith::Conv2DShape& s, std::int64_t filter_depth,
                      const Tensor& a, const Tensor& b, Tensor& out, Compute compute) {
  TROUPE_ASSIGN(const std::int64_t groups, nn::groups_of(s, filter_depth));
  if (groups == 0)
    return fill_zero(c, out);
  if (groups == 1)
    return compute(s, a, b, out);
  const arith::Conv2DShape one = nn::one_group(s, groups);
  TROUPE_ASSIGN(Tensor part, nn::make_group(c, out.dtype(), out.shape(), groups));
  for (std::int64_t g = 0; g < groups; ++g) {
    TROUPE_ASSIGN(const Tensor a_part, nn::take_group(c, a, g, groups));
    TROUPE_ASSIGN(const Tensor b_part, nn::take_group(c, b, g, groups));
    TROUPE_TRY(compute(one, a_part, b_part, part));
    TROUPE_TRY(nn::put_group(c, part, out, g, groups));
  }
  return {};
}

Status compute_forward(KernelContext& c) {
  const Tensor &x = c.input(0), &filter = c.input(1);
  Shape out;
  TROUPE_ASSIGN(const arith::Conv2DShape s,
                nn::check_convolution(c.prepared<ConvAttrs>(), x.shape(), filter.shape(), out));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  if (has_zero(y.shape()))
    return {};
  return for_each_group(
      c, s, filter.shape()[2], x, filter, y,
      [&](const arith::Conv2DShape& one, const Tensor& x_part, const Tensor& filter_part,
          Tensor& y_part) { return forward(c, one, x_part, filter_part, y_part); });
}

/// Compares the sizes that follow from input and filter with those of dy.
Status check_backprop(const char* op, const arith::Conv2DShape& s, const Shape& filter,
                      const Shape& dy) {
  if (s.batch != dy[0])
    return invalid_argument(str_cat(op,
                                    ": input and out_backprop must have the same batch size. "
                                    "Input batch: ",
                                    s.batch, ", outbackprop batch: ", dy[0], ", batch_dim: 0"));
  if (filter[2] <= 0)
    return invalid_argument(str_cat(op, ": filter depth must be strictly greated than zero"));
  if (s.in_c % filter[2] != 0)
    return invalid_argument(str_cat(op, ": input depth must be evenly divisible by filter depth"));
  if (filter[3] != dy[3])
    return invalid_argument(str_cat(op, ": filter and out_backprop must have the same out_depth"));
  const std::int64_t in[] = {s.in_h, s.in_w}, window[] = {s.filter_h, s.filter_w},
                     out[] = {s.out_h, s.out_w}, stride[] = {s.stride_h, s.stride_w},
                     dilation[] = {s.dilation_h, s.dilation_w};
  for (int i = 0; i < 2; ++i)
    if (out[i] != dy[i + 1])
      return invalid_argument(
          str_cat(op, ": Size of out_backprop doesn't match computed: actual = ", dy[i + 1],
                  ", computed = ", out[i], " spatial_dim: ", i + 1, " input: ", in[i],
                  " filter: ", window[i], " output: ", dy[i + 1], " stride: ", stride[i],
                  " dilation: ", dilation[i]));
  return {};
}

Status compute_backprop_input(KernelContext& c) {
  constexpr auto op = "Conv2DCustomBackpropInput";
  const Tensor &sizes = c.input(0), &filter = c.input(1), &dy = c.input(2);
  if (sizes.shape().rank() != 1)
    return invalid_argument(str_cat("Conv2DBackpropInput: input_sizes input must be 1-dim, not ",
                                    sizes.shape().rank()));
  if (dy.shape().rank() != 4) // TensorFlow says so of the gradient
    return invalid_argument(str_cat("input_sizes must be 4-dimensional, got: ", dy.shape().rank()));
  TROUPE_ASSIGN(Shape in, shape_from(sizes));
  if (in.rank() != 4 && in.rank() != 2)
    return invalid_argument(
        str_cat("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but "
                "got: ",
                in.rank()));
  if (filter.shape().rank() != 4)
    return invalid_argument(str_cat(op, ": filter must be 4-dimensional"));
  if (in.rank() == 2) {
    TROUPE_ASSIGN(in, Shape::make(std::array{dy.shape()[0], in[0], in[1], filter.shape()[2]}));
  }
  TROUPE_ASSIGN(arith::Conv2DShape s,
                nn::convolution_sizes(c.prepared<ConvAttrs>(), in, filter.shape()));
  TROUPE_TRY(check_backprop(op, s, filter.shape(), dy.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (has_zero(in))
    return {};
  if (has_zero(dy.shape()) || has_zero(filter.shape()))
    return fill_zero(c, dx);
  return for_each_group(
      c, s, filter.shape()[2], filter, dy, dx,
      [&](const arith::Conv2DShape& one, const Tensor& filter_part, const Tensor& dy_part,
          Tensor& dx_part) { return backprop_input(c, one, filter_part, dy_part, dx_part); });
}

Status compute_backprop_filter(KernelContext& c) {
  constexpr auto op = "Conv2DCustomBackpropFilter";
  const Tensor &x = c.input(0), &sizes = c.input(1), &dy = c.input(2);
  if (sizes.shape().rank() != 1)
    return invalid_argument(
        str_cat(op, ": filter_sizes input must be 1-dim, not ", sizes.shape().rank()));
  TROUPE_ASSIGN(const Shape filter, shape_from(sizes));
  if (x.shape().rank() != 4)
    return invalid_argument(str_cat(op, ": input must be 4-dimensional"));
  if (filter.rank() != 4)
    return invalid_argument(str_cat(op, ": filter must be 4-dimensional"));
  if (dy.shape().rank() != 4)
    return invalid_argument(str_cat(op, ": out_backprop must be 4-dimensional"));
  TROUPE_ASSIGN(arith::Conv2DShape s,
                nn::convolution_sizes(c.prepared<ConvAttrs>(), x.shape(), filter));
  TROUPE_TRY(check_backprop(op, s, filter, dy.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, filter));
  if (has_zero(filter))
    return {};
  if (has_zero(x.shape()) || has_zero(dy.shape()))
    return fill_zero(c, out);
  return for_each_group(c, s, filter[2], x, dy, out,
                        [&](const arith::Conv2DShape& one, const Tensor& x_part,
                            const Tensor& dy_part, Tensor& part) {
                          return part.kind() == MemoryKind::device
                                     ? nn::filter_gradient_on_gpu(c, one, x_part, dy_part, part)
                                     : nn::filter_gradient(c, one, x_part, dy_part, part);
                        });
}

// ---- gradients: the three ops are each other's

AttrMap conv_attrs(GradContext& g) {
  AttrMap out;
  for (const char* name :
       {"strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations"})
    if (const AttrValue* value = g.attrs().find(name))
      out.set(name, *value);
  return out;
}

Status differentiate_forward(GradContext& g) {
  const Value x = g.input(0), filter = g.input(1), dy = g.output_grad(0);
  TROUPE_TRY(
      g.set_input_grad(0, g.op("Conv2DBackpropInput", {g.shape_of(x), filter, dy}, conv_attrs(g))));
  return g.set_input_grad(1,
                          g.op("Conv2DBackpropFilter", {x, g.shape_of(filter), dy}, conv_attrs(g)));
}

Status differentiate_backprop_input(GradContext& g) {
  const Value filter = g.input(1), dy = g.input(2), ddx = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(
      1, g.op("Conv2DBackpropFilter", {ddx, g.shape_of(filter), dy}, conv_attrs(g))));
  return g.set_input_grad(2, g.op("Conv2D", {ddx, filter}, conv_attrs(g)));
}

Status differentiate_backprop_filter(GradContext& g) {
  const Value x = g.input(0), dy = g.input(2), dfilter = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(
      0, g.op("Conv2DBackpropInput", {g.shape_of(x), dfilter, dy}, conv_attrs(g))));
  return g.set_input_grad(2, g.op("Conv2D", {x, dfilter}, conv_attrs(g)));
}

// Kernels of TensorFlow's by which graphs ask for a way to compute what there is one of here.
const std::vector<std::string> gradient_labels = {"", "custom", "eigen_tensor"};

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto attrs =
      "strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
      "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
      "dilations: list(int) = [1, 1, 1, 1]";
  constexpr nn::ImageArgs image{.images = 0b1}, by_input{.images = 0b100, .sizes = 0b1},
      by_filter{.images = 0b101, .makes_image = false};
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = nn::prepare_any_format<nn::prepare_convolution>;
  options.expensive = true;
  KernelOptions sizes_first = options, sizes_second = options;
  sizes_first.host_inputs = {"input_sizes"};
  sizes_second.host_inputs = {"filter_sizes"};
  for (KernelOptions* gradient : {&sizes_first, &sizes_second})
    gradient->labels = gradient_labels;
  for (KernelOptions* with_integers : {&options, &sizes_first})
    with_integers->types[0].dtypes.push_back(DType::int32);
  KernelOptions on_gpu{.types = {{"T", gpu::floats()}}, .prepare = options.prepare};
  KernelOptions gpu_first = on_gpu, gpu_second = on_gpu;
  gpu_first.host_inputs = {"input_sizes"};
  gpu_second.host_inputs = {"filter_sizes"};
  KernelOptions half = options, half_first = sizes_first, half_second = sizes_second;
  for (KernelOptions* narrow : {&half, &half_first, &half_second})
    narrow->types = {{"T", {DType::float16, DType::bfloat16}}};
  library.op("Conv2D")
      .input("input: T; filter: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr(attrs)
      .roles(Role::filtering)
      .shape_fn(nn::infer_convolution)
      .gradient(differentiate_forward)
      .cpu_kernel(nn::any_format<compute_forward, image>, options)
      .cpu_kernel(nn::any_format<in_wider<compute_forward>, image>, half)
      .gpu_kernel(nn::any_format<compute_forward, image>, on_gpu)
      .doc("2-D convolution of images [batch, height, width, depth] with a filter [height, width, "
           "depth, output depth].");
  library.op("Conv2DBackpropInput")
      .input("input_sizes: int32; filter: T; out_backprop: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr(attrs)
      .roles(Role::filtering)
      .shape_fn(infer_backprop_input)
      .gradient(differentiate_backprop_input)
      .cpu_kernel(nn::any_format<compute_backprop_input, by_input>, sizes_first)
      .cpu_kernel(nn::any_format<in_wider<compute_backprop_input>, by_input>, half_first)
      .gpu_kernel(nn::any_format<compute_backprop_input, by_input>, gpu_first)
      .doc("The gradient of Conv2D by its input.");
  library.op("Conv2DBackpropFilter")
      .input("input: T; filter_sizes: int32; out_backprop: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr(attrs)
      .roles(Role::filtering)
      .shape_fn(infer_backprop_filter)
      .gradient(differentiate_backprop_filter)
      .cpu_kernel(nn::any_format<compute_backprop_filter, by_filter>, sizes_second)
      .cpu_kernel(nn::any_format<in_wider<compute_backprop_filter>, by_filter>, half_second)
      .gpu_kernel(nn::any_format<compute_backprop_filter, by_filter>, gpu_second)
      .doc("The gradient of Conv2D by its filter.");
}

} // namespace troupe::nn_conv2d
