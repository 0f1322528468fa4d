// Conv2D and the gradients by its input and its filter: y[n,i,j,q] = sum over di, dj, k of
// x[n, i*stride + di*dilation - pad, j*stride + dj*dilation - pad, k] * filter[di, dj, k, q].
#include "kernels/arith/conv.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe {
namespace {

using Ints = std::vector<std::int64_t>;

struct ConvAttrs {
  std::array<std::int64_t, 2> stride = {1, 1}, dilation = {1, 1};
  nn::WindowPadding padding;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(Ints stride, c.attr<Ints>("strides"));
  TROUPE_ASSIGN(Ints dilation, c.attr<Ints>("dilations"));
  if (dilation.size() != 4)
    return invalid_argument("Sliding window dilations field must specify 4 dimensions");
  if (stride.size() != 4)
    return invalid_argument("Sliding window strides field must specify 4 dimensions");
  TROUPE_TRY(nn::require_nhwc(c.schema().name, c.attrs()));
  if (stride[0] != 1 || stride[3] != 1)
    return unimplemented("Current implementation does not yet support strides in the batch and "
                         "depth dimensions.");
  if (stride[1] <= 0 || stride[2] <= 0)
    return invalid_argument("Row and column strides should be larger than 0.");
  if (dilation[0] != 1 || dilation[3] != 1)
    return unimplemented("Current implementation does not yet support dilations in the batch and "
                         "depth dimensions.");
  if (dilation[1] <= 0 || dilation[2] <= 0)
    return invalid_argument("Dilated rates should be larger than 0.");
  TROUPE_TRY(nn::require_moderate("strides", stride));
  TROUPE_TRY(nn::require_moderate("dilations", dilation));
  TROUPE_ASSIGN(nn::WindowPadding padding, nn::read_padding(c.attrs()));
  return prepared(ConvAttrs{{stride[1], stride[2]}, {dilation[1], dilation[2]}, padding});
}

// ---- shapes

Status infer_forward(ShapeContext& c) {
  TROUPE_ASSIGN(auto in, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(auto filter, shape_rules::dims_of_rank(c, 1, 4));
  TROUPE_ASSIGN(Ints stride, c.attr<Ints>("strides"));
  TROUPE_ASSIGN(Ints dilation, c.attr<Ints>("dilations"));
  TROUPE_ASSIGN(std::string format, c.attr<std::string>("data_format"));
  if (dilation.size() != 4)
    return invalid_argument(str_cat(
        "Conv2D requires the dilation attribute to contain 4 values, but got: ", dilation.size()));
  if (stride.size() != 4)
    return invalid_argument(
        str_cat("Conv2D on data format ", format,
                " requires the stride attribute to contain 4 values, but got: ", stride.size()));
  TROUPE_ASSIGN(nn::WindowPadding padding, nn::read_padding(c.attrs()));
  const std::size_t rows = format == "NHWC" ? 1 : 2, depth = format == "NHWC" ? 3 : 1;
  if (in[depth] > 0 && filter[2] > 0) {
    if (in[depth] % filter[2] != 0)
      return invalid_argument(str_cat("Depth of input (", in[depth],
                                      ") is not a multiple of input depth of filter (", filter[2],
                                      ")"));
    const std::int64_t groups = in[depth] / filter[2];
    if (filter[3] > 0 && filter[3] % groups != 0)
      return invalid_argument(str_cat("Depth of output (", filter[3],
                                      ") is not a multiple of the number of groups (", groups,
                                      ")"));
  }
  Ints out = in;
  for (std::size_t a = 0; a < 2; ++a) {
    TROUPE_ASSIGN(out[rows + a], nn::infer_extent(padding, static_cast<int>(a), in[rows + a],
                                                  filter[a], dilation[rows + a], stride[rows + a]));
  }
  out[depth] = filter[3];
  return c.set_output(0, PartialShape(std::move(out)));
}

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

double flops(const arith::Conv2DShape& s) {
  return 2.0 * static_cast<double>(s.batch * s.out_h * s.out_w) *
         static_cast<double>(s.out_c * s.filter_h * s.filter_w) * static_cast<double>(s.in_c);
}

/// How many parts the images are split into; each gets about the same number of them.
std::int64_t parts(KernelContext& c, const arith::Conv2DShape& s) {
  if (flops(s) < 3e7)
    return 1;
  return std::clamp<std::int64_t>(c.device().compute().threads(), 1,
                                  std::max<std::int64_t>(s.batch, 1));
}

template <class Body>
void for_each_part(KernelContext& c, const arith::Conv2DShape& s, std::int64_t count,
                   const Body& body) {
  if (count == 1)
    return body(0, 0, s.batch);
  c.parallel_for(count, flops(s) / static_cast<double>(count) / 50,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     body(i, i * s.batch / count, (i + 1) * s.batch / count);
                 });
}

/// Sizes of the convolution of such an input and filter. Both shapes have rank 4.
Result<arith::Conv2DShape> sizes_of(const ConvAttrs& attrs, const Shape& in, const Shape& filter) {
  TROUPE_ASSIGN(nn::Extent h, nn::window_extent(attrs.padding, 0, in[1], filter[0],
                                                attrs.dilation[0], attrs.stride[0]));
  TROUPE_ASSIGN(nn::Extent w, nn::window_extent(attrs.padding, 1, in[2], filter[1],
                                                attrs.dilation[1], attrs.stride[1]));
  return arith::Conv2DShape{
      .batch = in[0],
      .in_h = in[1],
      .in_w = in[2],
      .in_c = in[3],
      .filter_h = filter[0],
      .filter_w = filter[1],
      .out_h = h.output,
      .out_w = w.output,
      .out_c = filter[3],
      .stride_h = attrs.stride[0],
      .stride_w = attrs.stride[1],
      .dilation_h = attrs.dilation[0],
      .dilation_w = attrs.dilation[1],
      .pad_top = h.pad_before,
      .pad_left = w.pad_before,
  };
}

Status no_groups(std::string_view op, std::int64_t in_depth, std::int64_t filter_depth) {
  return unimplemented(str_cat(op, " has no kernel for grouped convolution: the input's depth is ",
                               in_depth, ", the filter's ", filter_depth));
}

bool has_zero(const Shape& shape) {
  return shape.num_elements() == 0;
}

Status compute_forward(KernelContext& c) {
  const Tensor &x = c.input(0), &filter = c.input(1);
  if (x.shape().rank() != 4)
    return invalid_argument(str_cat("convolution input must be 4-dimensional: ", x.shape()));
  if (filter.shape().rank() != 4)
    return invalid_argument(str_cat("convolution filter must be 4-dimensional: ", filter.shape()));
  const std::int64_t depth = x.shape()[3], filter_depth = filter.shape()[2];
  if (filter_depth <= 0)
    return invalid_argument(str_cat("filter depth must be stricly positive, got ", filter_depth));
  if (depth % filter_depth != 0)
    return invalid_argument(str_cat("input depth must be evenly divisible by filter depth: ", depth,
                                    " vs ", filter_depth));
  if (filter.shape()[0] == 0 || filter.shape()[1] == 0)
    return invalid_argument(
        "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  TROUPE_ASSIGN(arith::Conv2DShape s, sizes_of(c.prepared<ConvAttrs>(), x.shape(), filter.shape()));
  TROUPE_ASSIGN(const Shape out, Shape::make(std::array{s.batch, s.out_h, s.out_w, s.out_c}));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  if (has_zero(y.shape()))
    return {};
  if (depth != filter_depth)
    return no_groups("Conv2D", depth, filter_depth);
  const auto type = static_cast<arith::Type>(x.dtype());
  for_each_part(c, s, parts(c, s), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
    arith::conv2d_forward(type, s, x.raw(), filter.raw(), y.mutable_raw(), begin, end);
  });
  return {};
}

/// Compares the sizes that follow from input and filter with those of dy.
Status check_backprop(const char* op, const arith::Conv2DShape& s, const Shape& filter,
                      const Shape& dy) {
  if (s.batch != dy[0])
    return invalid_argument(str_cat(op,
                                    ": input and out_backprop must have the same batch size. "
                                    "Input batch: ",
                                    s.batch, ", outbackprop batch: ", dy[0], ", batch_dim: 0"));
  if (filter[2] <= 0 || s.in_c % filter[2] != 0)
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

void fill_zero(Tensor& tensor) {
  std::fill_n(static_cast<std::byte*>(tensor.mutable_raw()), tensor.byte_size(), std::byte{0});
}

Status compute_backprop_input(KernelContext& c) {
  constexpr auto op = "Conv2DCustomBackpropInput";
  const Tensor &sizes = c.input(0), &filter = c.input(1), &dy = c.input(2);
  if (sizes.shape().rank() != 1)
    return invalid_argument(str_cat("Conv2DBackpropInput: input_sizes input must be 1-dim, not ",
                                    sizes.shape().rank()));
  TROUPE_ASSIGN(Shape in, shape_from(sizes));
  if (in.rank() != 4 && in.rank() != 2)
    return invalid_argument(
        str_cat("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but "
                "got: ",
                in.rank()));
  if (filter.shape().rank() != 4)
    return invalid_argument(str_cat(op, ": filter must be 4-dimensional"));
  if (dy.shape().rank() != 4)
    return invalid_argument(str_cat(op, ": out_backprop must be 4-dimensional"));
  if (in.rank() == 2) {
    TROUPE_ASSIGN(in, Shape::make(std::array{dy.shape()[0], in[0], in[1], filter.shape()[2]}));
  }
  TROUPE_ASSIGN(arith::Conv2DShape s, sizes_of(c.prepared<ConvAttrs>(), in, filter.shape()));
  TROUPE_TRY(check_backprop(op, s, filter.shape(), dy.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (has_zero(in))
    return {};
  if (has_zero(dy.shape()) || has_zero(filter.shape())) {
    fill_zero(dx);
    return {};
  }
  if (s.in_c != filter.shape()[2])
    return no_groups("Conv2DBackpropInput", s.in_c, filter.shape()[2]);
  const auto type = static_cast<arith::Type>(dx.dtype());
  for_each_part(c, s, parts(c, s), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
    arith::conv2d_backward_input(type, s, filter.raw(), dy.raw(), dx.mutable_raw(), begin, end);
  });
  return {};
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
  TROUPE_ASSIGN(arith::Conv2DShape s, sizes_of(c.prepared<ConvAttrs>(), x.shape(), filter));
  TROUPE_TRY(check_backprop(op, s, filter, dy.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, filter));
  if (has_zero(filter))
    return {};
  if (has_zero(x.shape()) || has_zero(dy.shape())) {
    fill_zero(out);
    return {};
  }
  if (s.in_c != filter[2])
    return no_groups("Conv2DBackpropFilter", s.in_c, filter[2]);
  const auto type = static_cast<arith::Type>(x.dtype());
  const std::int64_t count = parts(c, s);
  if (count == 1) {
    arith::conv2d_backward_filter(type, s, x.raw(), dy.raw(), out.mutable_raw(), 0, s.batch);
    return {};
  }
  // Each part sums its images into a buffer of its own: the result depends on their number alone.
  TROUPE_ASSIGN(Tensor sums, c.allocate_temp(x.dtype(), Shape{count, filter.num_elements()}));
  const auto part = [&](std::int64_t i) { return sums.rows(i, i + 1).mutable_raw(); };
  for_each_part(c, s, count, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
    arith::conv2d_backward_filter(type, s, x.raw(), dy.raw(), part(i), begin, end);
  });
  std::vector<const void*> inputs;
  for (std::int64_t i = 0; i < count; ++i)
    inputs.push_back(part(i));
  arith::add_n(type, inputs.data(), static_cast<int>(count), out.mutable_raw(), 0,
               filter.num_elements());
  return {};
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

} // namespace

void register_nn_conv2d(OpLibrary& library) {
  constexpr auto attrs =
      "strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
      "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
      "dilations: list(int) = [1, 1, 1, 1]";
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  KernelOptions sizes_first = options, sizes_second = options;
  sizes_first.host_inputs = {"input_sizes"};
  sizes_second.host_inputs = {"filter_sizes"};
  library.op("Conv2D")
      .input("input: T; filter: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr(attrs)
      .shape_fn(infer_forward)
      .gradient(differentiate_forward)
      .cpu_kernel(compute_forward, options)
      .doc("2-D convolution of images [batch, height, width, depth] with a filter [height, width, "
           "depth, output depth].");
  library.op("Conv2DBackpropInput")
      .input("input_sizes: int32; filter: T; out_backprop: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr(attrs)
      .shape_fn(infer_backprop_input)
      .gradient(differentiate_backprop_input)
      .cpu_kernel(compute_backprop_input, sizes_first)
      .doc("The gradient of Conv2D by its input.");
  library.op("Conv2DBackpropFilter")
      .input("input: T; filter_sizes: int32; out_backprop: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr(attrs)
      .shape_fn(infer_backprop_filter)
      .gradient(differentiate_backprop_filter)
      .cpu_kernel(compute_backprop_filter, sizes_second)
      .doc("The gradient of Conv2D by its filter.");
}

} // namespace troupe
