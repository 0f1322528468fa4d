// DepthwiseConv2dNative and its gradients: each channel has filters of its own.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/depthwise.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe::nn_depthwise_conv2d {
namespace {

using arith::Conv2DShape;
using Ints = std::vector<std::int64_t>;

struct Attrs {
  Ints stride, dilation;
  nn::WindowPadding padding;
};

Result<Attrs> read_attrs(const AttrMap& attrs) {
  Attrs out;
  TROUPE_ASSIGN(out.stride, attrs.get<Ints>("strides"));
  out.dilation = attrs.get_or<Ints>("dilations", {1, 1, 1, 1});
  if (out.stride.size() != 4)
    return invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (out.dilation.size() != 4)
    return invalid_argument("Sliding window dilations field must specify 4 dimensions");
  if (out.stride[0] != 1 || out.stride[3] != 1)
    return invalid_argument(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  if (out.stride[1] < 1 || out.stride[2] < 1)
    return invalid_argument("In depthwise convolution the strides must be positive");
  if (out.dilation[1] < 1 || out.dilation[2] < 1)
    return invalid_argument("In depthwise convolution the dilations must be positive");
  TROUPE_TRY(nn::require_moderate("strides", out.stride));
  TROUPE_TRY(nn::require_moderate("dilations", out.dilation));
  TROUPE_ASSIGN(out.padding, nn::read_padding(attrs));
  return out;
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(Attrs attrs, read_attrs(c.attrs()));
  return prepared(std::move(attrs));
}

/// The convolution; out_c counts all channels' filters.
Result<Conv2DShape> sizes(const Attrs& attrs, const Shape& in, const Shape& filter) {
  TROUPE_ASSIGN(const nn::Extent h, nn::window_extent(attrs.padding, 0, in[1], filter[0],
                                                      attrs.dilation[1], attrs.stride[1]));
  TROUPE_ASSIGN(const nn::Extent w, nn::window_extent(attrs.padding, 1, in[2], filter[1],
                                                      attrs.dilation[2], attrs.stride[2]));
  return Conv2DShape{
      .batch = in[0],
      .in_h = in[1],
      .in_w = in[2],
      .in_c = in[3],
      .filter_h = filter[0],
      .filter_w = filter[1],
      .out_h = h.output,
      .out_w = w.output,
      .out_c = filter[2] * filter[3],
      .stride_h = attrs.stride[1],
      .stride_w = attrs.stride[2],
      .dilation_h = attrs.dilation[1],
      .dilation_w = attrs.dilation[2],
      .pad_top = h.pad_before,
      .pad_left = w.pad_before,
  };
}

Result<Shape> out_shape(const Conv2DShape& s) {
  return Shape::make(std::array{s.batch, s.out_h, s.out_w, s.out_c});
}

/// Nanoseconds for a row of the output, which is what threads share out.
double row_cost(const Conv2DShape& s) {
  constexpr double product = 0.1;
  return product * static_cast<double>(s.filter_h * s.filter_w) *
         static_cast<double>(s.out_w * s.out_c);
}

Status compute(KernelContext& c) {
  const Tensor &x = c.input(0), &w = c.input(1);
  if (x.shape().rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", x.shape()));
  if (w.shape().rank() != 4)
    return invalid_argument(str_cat("filter must be 4-dimensional: ", w.shape()));
  if (x.shape()[3] != w.shape()[2])
    return invalid_argument(
        str_cat("input and filter must have the same depth: ", x.shape()[3], " vs ", w.shape()[2]));
  TROUPE_ASSIGN(const Conv2DShape s, sizes(c.prepared<Attrs>(), x.shape(), w.shape()));
  TROUPE_ASSIGN(const Shape shape, out_shape(s));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  c.parallel_for(s.batch * s.out_h, row_cost(s), [&](std::int64_t begin, std::int64_t end) {
    arith::depthwise_forward(arith::type_of(x.dtype()), s, x.raw(), w.raw(), y.mutable_raw(), begin,
                             end);
  });
  return {};
}

/// The shape that the sizes of `what`, "Input" or "Filter", name.
Result<Shape> wanted(const Tensor& sizes, std::string_view what, std::string_view name) {
  if (sizes.shape().rank() != 1)
    return invalid_argument(str_cat("Conv2DBackprop", what, ": ", name,
                                    " input must be 1-dim, not ", sizes.shape().rank()));
  TROUPE_ASSIGN(const Integers dims, integers(sizes));
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0)
      return invalid_argument(str_cat("Dimension ", i, " of ", name, " must be >= 0"));
  return shape_from(sizes);
}

Result<Conv2DShape> gradient_sizes(std::string_view what, const Attrs& attrs, const Shape& in,
                                   const Shape& filter, const Shape& dy) {
  const auto bad = [&](const auto&... parts) {
    return invalid_argument(str_cat("DepthwiseConv2DBackprop", what, ": ", parts...));
  };
  if (in.rank() != 4)
    return bad("input must be 4-dimensional");
  if (filter.rank() != 4)
    return bad("filter must be 4-dimensional");
  if (dy.rank() != 4)
    return bad("out_backprop must be 4-dimensional");
  if (in[0] != dy[0])
    return bad("input and out_backprop must have the same batch size");
  if (in[3] != filter[2])
    return bad("input and filter must have the same in_depth");
  std::int64_t channels = 0;
  if (__builtin_mul_overflow(filter[3], in[3], &channels) || channels != dy[3])
    return bad("depth_multiplier * in_depth not equal to out_depth");
  TROUPE_ASSIGN(const Conv2DShape s, sizes(attrs, in, filter));
  if (s.out_h != dy[1])
    return bad("Number of rows of out_backprop doesn't match computed: actual = ", dy[1],
               ", computed = ", s.out_h);
  if (s.out_w != dy[2])
    return bad("Number of cols of out_backprop doesn't match computed: actual = ", dy[2],
               ", computed = ", s.out_w);
  return s;
}

Status compute_input(KernelContext& c) {
  const Tensor &w = c.input(1), &dy = c.input(2);
  TROUPE_ASSIGN(const Shape in, wanted(c.input(0), "Input", "input_sizes"));
  TROUPE_ASSIGN(const Conv2DShape s,
                gradient_sizes("Input", c.prepared<Attrs>(), in, w.shape(), dy.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (dx.num_elements() == 0)
    return {};
  if (w.num_elements() == 0 || dy.num_elements() == 0) {
    std::memset(dx.mutable_raw(), 0, dx.byte_size());
    return {};
  }
  const double cost = row_cost(s) * static_cast<double>(s.out_h) / static_cast<double>(s.in_h);
  c.parallel_for(s.batch * s.in_h, cost, [&](std::int64_t begin, std::int64_t end) {
    arith::depthwise_backward_input(arith::type_of(dx.dtype()), s, w.raw(), dy.raw(),
                                    dx.mutable_raw(), begin, end);
  });
  return {};
}

// Each part sums its rows into a buffer of its own, the first one into the output: the result
// depends on the number of threads alone.
Status sum_rows(KernelContext& c, const Conv2DShape& s, const Tensor& x, const Tensor& dy,
                Tensor& dw) {
  constexpr double worth_a_thread = 20'000; // nanoseconds
  constexpr std::int64_t max_parts = 64;
  const std::int64_t rows = s.batch * s.out_h, size = dw.num_elements();
  const double cost = row_cost(s) * static_cast<double>(rows);
  const std::int64_t parts =
      std::clamp<std::int64_t>(std::min({rows, static_cast<std::int64_t>(cost / worth_a_thread),
                                         std::int64_t{c.device().compute().threads()}}),
                               1, max_parts);
  TROUPE_ASSIGN(const auto add, arith::add_n(dw.dtype()));
  TROUPE_ASSIGN(Tensor others, c.allocate_temp(dw.dtype(), Shape{parts - 1, size}));
  std::array<const void*, max_parts> sums{dw.raw()};
  for (std::int64_t i = 1; i < parts; ++i)
    sums[static_cast<std::size_t>(i)] = others.rows(i - 1, i).raw();
  c.parallel_for(
      parts, cost / static_cast<double>(parts), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          arith::depthwise_backward_filter(arith::type_of(dw.dtype()), s, x.raw(), dy.raw(),
                                           const_cast<void*>(sums[static_cast<std::size_t>(i)]),
                                           i * rows / parts, (i + 1) * rows / parts);
      });
  if (parts > 1)
    c.parallel_for(size, 0.3, [&](std::int64_t begin, std::int64_t end) {
      add(sums.data(), static_cast<int>(parts), dw.mutable_raw(), begin, end);
    });
  return {};
}

Status compute_filter(KernelContext& c) {
  const Tensor &x = c.input(0), &dy = c.input(2);
  TROUPE_ASSIGN(const Shape filter, wanted(c.input(1), "Filter", "filter_sizes"));
  TROUPE_ASSIGN(const Conv2DShape s,
                gradient_sizes("Filter", c.prepared<Attrs>(), x.shape(), filter, dy.shape()));
  TROUPE_ASSIGN(Tensor dw, c.allocate_output(0, filter));
  if (dw.num_elements() == 0)
    return {};
  if (x.num_elements() == 0 || dy.num_elements() == 0) {
    std::memset(dw.mutable_raw(), 0, dw.byte_size());
    return {};
  }
  return sum_rows(c, s, x, dy, dw);
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(Ints dims, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const Ints filter, shape_rules::dims_of_rank(c, 1, 4));
  TROUPE_ASSIGN(const Attrs attrs, read_attrs(c.attrs()));
  const bool nhwc = c.attrs().get_or<std::string>("data_format", "NHWC") == "NHWC";
  const std::size_t rows = nhwc ? 1 : 2, depth = nhwc ? 3 : 1;
  for (std::size_t a = 0; a < 2; ++a) {
    TROUPE_ASSIGN(dims[rows + a],
                  nn::infer_extent(attrs.padding, static_cast<int>(a), dims[rows + a], filter[a],
                                   attrs.dilation[rows + a], attrs.stride[rows + a]));
  }
  TROUPE_ASSIGN(const std::int64_t channels, shape_rules::merge_dims(dims[depth], filter[2]));
  TROUPE_ASSIGN(dims[depth], shape_rules::multiply_dims(channels, filter[3]));
  return c.set_output(0, PartialShape(std::move(dims)));
}

template <int i>
Status infer_sizes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(i, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(i));
  if (!shape.has_rank())
    shape = {-1, -1, -1, -1};
  if (shape.rank() != 4)
    return invalid_argument(str_cat("Shape must be rank 4 but is rank ", shape.rank()));
  return c.set_output(0, std::move(shape));
}

AttrMap conv_attrs(GradContext& g) {
  AttrMap attrs;
  for (const char* name : {"strides", "padding", "explicit_paddings", "data_format", "dilations"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  return attrs;
}

Status differentiate(GradContext& g) {
  const Value x = g.input(0), w = g.input(1), dy = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(
      0, g.op("DepthwiseConv2dNativeBackpropInput", {g.shape_of(x), w, dy}, conv_attrs(g))));
  return g.set_input_grad(
      1, g.op("DepthwiseConv2dNativeBackpropFilter", {x, g.shape_of(w), dy}, conv_attrs(g)));
}

Status differentiate_input(GradContext& g) {
  const Value w = g.input(1), dy = g.input(2), ddx = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(
      1, g.op("DepthwiseConv2dNativeBackpropFilter", {ddx, g.shape_of(w), dy}, conv_attrs(g))));
  return g.set_input_grad(2, g.op("DepthwiseConv2dNative", {ddx, w}, conv_attrs(g)));
}

Status differentiate_filter(GradContext& g) {
  const Value x = g.input(0), dy = g.input(2), ddw = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(
      0, g.op("DepthwiseConv2dNativeBackpropInput", {g.shape_of(x), ddw, dy}, conv_attrs(g))));
  return g.set_input_grad(2, g.op("DepthwiseConv2dNative", {x, ddw}, conv_attrs(g)));
}

constexpr nn::ImageArgs forward_args{.images = 1};
constexpr nn::ImageArgs by_input{.images = 4, .sizes = 1};
constexpr nn::ImageArgs by_filter{.images = 1 | 4, .makes_image = false};

KernelOptions options(std::vector<DType> types, std::vector<std::string> host = {}) {
  KernelOptions out;
  out.types = {{"T", std::move(types)}};
  out.host_inputs = std::move(host);
  out.prepare = nn::prepare_any_format<prepare>;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto attrs = "T: {half, bfloat16, float, double}; strides: list(int); "
                         "padding: {'SAME', 'VALID', 'EXPLICIT'}; "
                         "explicit_paddings: list(int) = []; "
                         "data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
                         "dilations: list(int) = [1, 1, 1, 1]";
  const std::vector<DType> wide = {DType::float32, DType::float64};
  const std::vector<DType> narrow = {DType::float16, DType::bfloat16};
  library.op("DepthwiseConv2dNative")
      .input("input: T; filter: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer)
      .gradient(differentiate)
      .cpu_kernel(nn::any_format<compute, forward_args>, options(wide))
      .cpu_kernel(nn::any_format<in_wider<compute>, forward_args>, options(narrow))
      .doc("Convolution of each channel with filters of its own.");
  library.op("DepthwiseConv2dNativeBackpropInput")
      .input("input_sizes: int32; filter: T; out_backprop: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer_sizes<0>)
      .gradient(differentiate_input)
      .cpu_kernel(nn::any_format<compute_input, by_input>, options(wide, {"input_sizes"}))
      .cpu_kernel(nn::any_format<in_wider<compute_input>, by_input>,
                  options(narrow, {"input_sizes"}))
      .doc("The gradient of DepthwiseConv2dNative by its input.");
  library.op("DepthwiseConv2dNativeBackpropFilter")
      .input("input: T; filter_sizes: int32; out_backprop: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer_sizes<1>)
      .gradient(differentiate_filter)
      .cpu_kernel(nn::any_format<compute_filter, by_filter>, options(wide, {"filter_sizes"}))
      .cpu_kernel(nn::any_format<in_wider<compute_filter>, by_filter>,
                  options(narrow, {"filter_sizes"}))
      .doc("The gradient of DepthwiseConv2dNative by its filter.");
}

} // namespace troupe::nn_depthwise_conv2d
