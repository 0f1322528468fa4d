// DepthwiseConv2dNative and its gradients: each channel has filters of its own.
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/volume.hpp"

namespace troupe::nn_depthwise_conv2d {
namespace {

using nn::Volume;
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

struct Depthwise {
  Volume v;
  std::int64_t multiplier = 0;
  std::int64_t filters() const { return v.channels * multiplier; }
};

Result<Depthwise> sizes(const Attrs& attrs, const Shape& in, const Shape& filter) {
  if (in.rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", in));
  if (filter.rank() != 4)
    return invalid_argument(str_cat("filter must be 4-dimensional: ", filter));
  if (in[3] != filter[2])
    return invalid_argument(
        str_cat("input and filter must have the same depth: ", in[3], " vs ", filter[2]));
  Depthwise out;
  Volume& v = out.v;
  v.batch = in[0];
  v.channels = in[3];
  v.in = {1, in[1], in[2]};
  v.window = {1, filter[0], filter[1]};
  v.stride = {1, attrs.stride[1], attrs.stride[2]};
  v.dilation = {1, attrs.dilation[1], attrs.dilation[2]};
  v.out[0] = 1;
  for (int axis : {0, 1}) {
    const auto i = static_cast<std::size_t>(axis) + 1;
    TROUPE_ASSIGN(
        const nn::Extent extent,
        nn::window_extent(attrs.padding, axis, v.in[i], v.window[i], v.dilation[i], v.stride[i]));
    v.out[i] = extent.output;
    v.before[i] = extent.pad_before;
  }
  out.multiplier = filter[3];
  return out;
}

Result<Shape> out_shape(const Depthwise& d) {
  return Shape::make(std::array{d.v.batch, d.v.out[1], d.v.out[2], d.filters()});
}

double cost_of(const Depthwise& d) {
  return static_cast<double>(d.v.window_positions()) * static_cast<double>(d.filters());
}

/// Calls body(batch entry, output position) for all of them.
template <class Body>
void for_each_output(KernelContext& c, const Depthwise& d, Body body) {
  const std::int64_t positions = d.v.out_positions();
  c.parallel_for(d.v.batch * positions, cost_of(d), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      body(i / positions, i % positions);
  });
}

/// The sum of x[channel] w[channel, multiple] into y[channel * multiplier + multiple].
template <class T>
void multiply_add(const Depthwise& d, const T* x, const T* w, T* y) {
  for (std::int64_t ch = 0; ch < d.v.channels; ++ch)
    for (std::int64_t m = 0; m < d.multiplier; ++m)
      y[ch * d.multiplier + m] += x[ch] * w[ch * d.multiplier + m];
}

template <class T>
void forward(KernelContext& c, const Depthwise& d, const T* x, const T* w, T* y) {
  for_each_output(c, d, [&](std::int64_t n, std::int64_t o) {
    T* to = y + (n * d.v.out_positions() + o) * d.filters();
    std::fill_n(to, d.filters(), T(0));
    nn::for_each_in_window(d.v, o, [&](std::int64_t at, std::int64_t k) {
      multiply_add(d, x + (n * d.v.in_positions() + at) * d.v.channels, w + k * d.filters(), to);
    });
  });
}

template <class T>
void backward_input(KernelContext& c, const Depthwise& d, const T* w, const T* dy, T* dx) {
  const std::int64_t image = d.v.in_positions() * d.v.channels;
  const double cost = cost_of(d) * static_cast<double>(d.v.out_positions());
  c.parallel_for(d.v.batch, cost, [&](std::int64_t begin, std::int64_t end) {
    std::fill(dx + begin * image, dx + end * image, T(0));
    for (std::int64_t n = begin; n < end; ++n)
      for (std::int64_t o = 0; o < d.v.out_positions(); ++o) {
        const T* from = dy + (n * d.v.out_positions() + o) * d.filters();
        nn::for_each_in_window(d.v, o, [&](std::int64_t at, std::int64_t k) {
          T* to = dx + n * image + at * d.v.channels;
          for (std::int64_t i = 0; i < d.filters(); ++i)
            to[i / d.multiplier] += from[i] * w[k * d.filters() + i];
        });
      }
  });
}

template <class T>
void backward_filter(KernelContext& c, const Depthwise& d, const T* x, const T* dy, T* dw) {
  std::fill_n(dw, d.v.window_positions() * d.filters(), T(0));
  c.serial_for(d.v.batch * d.v.out_positions(), cost_of(d),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t n = i / d.v.out_positions(), o = i % d.v.out_positions();
                   const T* from = dy + i * d.filters();
                   nn::for_each_in_window(d.v, o, [&](std::int64_t at, std::int64_t k) {
                     const T* in = x + (n * d.v.in_positions() + at) * d.v.channels;
                     for (std::int64_t f = 0; f < d.filters(); ++f)
                       dw[k * d.filters() + f] += in[f / d.multiplier] * from[f];
                   });
                 }
               });
}

Status compute(KernelContext& c) {
  const Tensor &x = c.input(0), &w = c.input(1);
  TROUPE_ASSIGN(const Depthwise d, sizes(c.prepared<Attrs>(), x.shape(), w.shape()));
  TROUPE_ASSIGN(const Shape shape, out_shape(d));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  return dispatch(Floats{}, x.dtype(), [&]<class T>() -> Status {
    forward(c, d, x.data<T>().data(), w.data<T>().data(), y.mutable_data<T>().data());
    return {};
  });
}

Result<Shape> wanted(const Tensor& sizes, std::string_view name) {
  if (sizes.shape().rank() != 1 || sizes.num_elements() != 4)
    return invalid_argument(str_cat("Conv2DCustomBackprop: ", name, " must be 1-dim, not ",
                                    sizes.shape().rank(), ", of 4 elements"));
  return shape_from(sizes);
}

Status check_gradient(const Depthwise& d, const Shape& dy) {
  TROUPE_ASSIGN(const Shape expected, out_shape(d));
  if (dy != expected)
    return invalid_argument(str_cat("out_backprop has shape ", dy, ", expected ", expected));
  return {};
}

Status compute_input(KernelContext& c) {
  const Tensor &w = c.input(1), &dy = c.input(2);
  TROUPE_ASSIGN(const Shape in, wanted(c.input(0), "input_sizes"));
  TROUPE_ASSIGN(const Depthwise d, sizes(c.prepared<Attrs>(), in, w.shape()));
  TROUPE_TRY(check_gradient(d, dy.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (dx.num_elements() == 0)
    return {};
  return dispatch(Floats{}, dx.dtype(), [&]<class T>() -> Status {
    backward_input(c, d, w.data<T>().data(), dy.data<T>().data(), dx.mutable_data<T>().data());
    return {};
  });
}

Status compute_filter(KernelContext& c) {
  const Tensor &x = c.input(0), &dy = c.input(2);
  TROUPE_ASSIGN(const Shape filter, wanted(c.input(1), "filter_sizes"));
  TROUPE_ASSIGN(const Depthwise d, sizes(c.prepared<Attrs>(), x.shape(), filter));
  TROUPE_TRY(check_gradient(d, dy.shape()));
  TROUPE_ASSIGN(Tensor dw, c.allocate_output(0, filter));
  if (dw.num_elements() == 0)
    return {};
  return dispatch(Floats{}, dw.dtype(), [&]<class T>() -> Status {
    backward_filter(c, d, x.data<T>().data(), dy.data<T>().data(), dw.mutable_data<T>().data());
    return {};
  });
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
