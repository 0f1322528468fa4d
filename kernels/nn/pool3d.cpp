// AvgPool3D and MaxPool3D, their gradients, and the gradient of MaxPool3D's gradient.
#include <algorithm>
#include <limits>
#include <utility>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/volume.hpp"

namespace troupe::nn_pool3d {
namespace {

using nn::Volume;

Result<Volume> sizes(KernelContext& c, const Shape& in) {
  if (in.rank() != 5)
    return invalid_argument("tensor_in must be 5-dimensional");
  const auto& attrs = c.prepared<nn::VolumeAttrs>();
  return nn::volume_sizes(attrs, in, attrs.window);
}

Result<Shape> out_shape(const Volume& v) {
  return nn::volume_shape(v.batch, v.out, v.channels);
}

double cost_of(const Volume& v) {
  double held = static_cast<double>(v.channels);
  for (std::size_t i = 0; i < 3; ++i)
    held *= static_cast<double>(std::min(v.window[i], v.in[i]));
  return held;
}

/// Calls body(n, o) for every batch entry and output position, one batch entry on one thread.
template <class Body>
void for_each_window(KernelContext& c, const Volume& v, Body body) {
  c.parallel_for(v.batch, cost_of(v) * static_cast<double>(v.out_positions()),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t n = begin; n < end; ++n)
                     for (std::int64_t o = 0; o < v.out_positions(); ++o)
                       body(n, o);
                 });
}

struct Offsets {
  std::int64_t in, out;
};
Offsets offsets(const Volume& v, std::int64_t n, std::int64_t o) {
  return {n * v.in_positions() * v.channels, (n * v.out_positions() + o) * v.channels};
}

std::int64_t count_in_window(const Volume& v, std::int64_t o) {
  std::int64_t count = 0;
  nn::for_each_in_window(v, o, [&](std::int64_t, std::int64_t) { ++count; });
  return std::max<std::int64_t>(count, 1);
}

Status compute_avg(KernelContext& c) {
  TROUPE_ASSIGN(const Volume v, sizes(c, c.input(0).shape()));
  TROUPE_ASSIGN(const Shape shape, out_shape(v));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  return dispatch(Floats{}, y.dtype(), [&]<class T>() -> Status {
    const T* x = c.input(0).data<T>().data();
    T* out = y.mutable_data<T>().data();
    for_each_window(c, v, [&](std::int64_t n, std::int64_t o) {
      const Offsets at = offsets(v, n, o);
      const auto count = static_cast<T>(count_in_window(v, o));
      std::fill_n(out + at.out, v.channels, T(0));
      nn::for_each_in_window(v, o, [&](std::int64_t p, std::int64_t) {
        for (std::int64_t k = 0; k < v.channels; ++k)
          out[at.out + k] += x[at.in + p * v.channels + k];
      });
      for (std::int64_t k = 0; k < v.channels; ++k)
        out[at.out + k] /= count;
    });
    return {};
  });
}

Status compute_avg_grad(KernelContext& c) {
  const Tensor &wanted = c.input(0), &dy = c.input(1);
  if (wanted.shape().rank() != 1 || wanted.num_elements() != 5)
    return invalid_argument("tensor_in must be 1-dimensional and 5 elements");
  if (dy.shape().rank() != 5)
    return invalid_argument("out_backprop must be 5-dimensional");
  TROUPE_TRY(nn::check_not_negative(wanted));
  TROUPE_ASSIGN(const Shape in, shape_from(wanted));
  TROUPE_ASSIGN(Volume v, sizes(c, in));
  for (const auto& [dim, which] : {std::pair{0, "first"}, std::pair{4, "last"}})
    if (in[dim] != dy.shape()[dim])
      return invalid_argument(str_cat(
          "Expected ", which, " dimension of tensor_in_shape and out_backprop to match, got ",
          in[dim], " and ", dy.shape()[dim]));
  // As many windows as there are gradients; those that reach beyond the input hold less of it.
  for (std::size_t i = 0; i < 3; ++i) {
    v.out[i] = dy.shape()[static_cast<int>(i) + 1];
    TROUPE_TRY(nn::check_last_window(v.out[i], v.stride[i], v.in[i]));
  }
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (dx.num_elements() == 0)
    return {};
  return dispatch(Floats{}, dx.dtype(), [&]<class T>() -> Status {
    std::ranges::fill(dx.mutable_data<T>(), T(0));
    const T* from = dy.data<T>().data();
    T* out = dx.mutable_data<T>().data();
    for_each_window(c, v, [&](std::int64_t n, std::int64_t o) {
      const Offsets at = offsets(v, n, o);
      const auto count = static_cast<T>(count_in_window(v, o));
      nn::for_each_in_window(v, o, [&](std::int64_t p, std::int64_t) {
        for (std::int64_t k = 0; k < v.channels; ++k)
          out[at.in + p * v.channels + k] += from[at.out + k] / count;
      });
    });
    return {};
  });
}

Status compute_max(KernelContext& c) {
  TROUPE_ASSIGN(const Volume v, sizes(c, c.input(0).shape()));
  TROUPE_ASSIGN(const Shape shape, out_shape(v));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  return dispatch(Floats{}, y.dtype(), [&]<class T>() -> Status {
    const T* x = c.input(0).data<T>().data();
    T* out = y.mutable_data<T>().data();
    for_each_window(c, v, [&](std::int64_t n, std::int64_t o) {
      const Offsets at = offsets(v, n, o);
      std::fill_n(out + at.out, v.channels, std::numeric_limits<T>::lowest());
      nn::for_each_in_window(v, o, [&](std::int64_t p, std::int64_t) {
        for (std::int64_t k = 0; k < v.channels; ++k)
          out[at.out + k] = std::max(out[at.out + k], x[at.in + p * v.channels + k]);
      });
    });
    return {};
  });
}

/// body(input element, output element) for each input of a window that is its maximum, or with
/// `first` for the first of them.
template <class T, class Body>
void for_each_maximum(KernelContext& c, const Volume& v, const T* x, const T* y, bool first,
                      Body body) {
  for_each_window(c, v, [&](std::int64_t n, std::int64_t o) {
    const Offsets at = offsets(v, n, o);
    for (std::int64_t k = 0; k < v.channels; ++k) {
      bool found = false;
      nn::for_each_in_window(v, o, [&](std::int64_t p, std::int64_t) {
        const std::int64_t i = at.in + p * v.channels + k;
        if (!(first && found) && x[i] == y[at.out + k]) {
          found = true;
          body(i, at.out + k);
        }
      });
    }
  });
}

/// Inputs are the pool's input, its output, and the gradient: of the output, or with `second` of
/// the gradient's.
Status compute_max_grad(KernelContext& c, bool second) {
  const Tensor &x = c.input(0), &y = c.input(1), &grad = c.input(2);
  if (x.shape().rank() != 5)
    return invalid_argument("tensor_in must be 5-dimensional");
  if (y.shape().rank() != 5)
    return invalid_argument("tensor_out must be 5-dimensional");
  if (grad.shape().rank() != 5)
    return invalid_argument(
        str_cat(second ? "out_grad_backprop" : "out_backprop", " must be 5-dimensional"));
  TROUPE_ASSIGN(const Volume v, sizes(c, x.shape()));
  TROUPE_ASSIGN(const Shape pooled, out_shape(v));
  if (y.shape() != pooled)
    return invalid_argument(
        str_cat("Expected orig_output shape to be ", pooled, ", but got ", y.shape()));
  const Shape expected = second ? x.shape() : pooled;
  if (grad.shape() != expected)
    return invalid_argument(
        str_cat("Expected grad shape to be ", expected, ", but got ", grad.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, second ? pooled : x.shape()));
  if (out.num_elements() == 0)
    return {};
  return dispatch(Floats{}, out.dtype(), [&]<class T>() -> Status {
    std::ranges::fill(out.mutable_data<T>(), T(0));
    const T* from = grad.data<T>().data();
    T* to = out.mutable_data<T>().data();
    // The gradient goes to every maximum, as in TensorFlow; the gradient's gradient comes from one.
    for_each_maximum(c, v, x.data<T>().data(), y.data<T>().data(), second,
                     [&](std::int64_t in, std::int64_t pool) {
                       if (second)
                         to[pool] = from[in];
                       else
                         to[in] += from[pool];
                     });
    return {};
  });
}

Status compute_max_grad_1(KernelContext& c) {
  return compute_max_grad(c, false);
}
Status compute_max_grad_2(KernelContext& c) {
  return compute_max_grad(c, true);
}

Status infer_avg_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  if (!shape.has_rank())
    shape = {-1, -1, -1, -1, -1};
  if (shape.rank() != 5)
    return invalid_argument(str_cat("Shape must be rank 5 but is rank ", shape.rank()));
  return c.set_output(0, std::move(shape));
}

Status infer_max_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 5));
  return c.output_like(0, 0);
}

Status infer_max_grad_2(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 5));
  return c.output_like(0, 1);
}

AttrMap pool_attrs(GradContext& g) {
  AttrMap attrs;
  for (const char* name : {"ksize", "strides", "padding", "data_format"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  return attrs;
}

Status differentiate_avg(GradContext& g) {
  return g.set_input_grad(
      0, g.op("AvgPool3DGrad", {g.shape_of(g.input(0)), g.output_grad(0)}, pool_attrs(g)));
}
Status differentiate_avg_grad(GradContext& g) {
  return g.set_input_grad(1, g.op("AvgPool3D", {g.output_grad(0)}, pool_attrs(g)));
}
Status differentiate_max(GradContext& g) {
  return g.set_input_grad(
      0, g.op("MaxPool3DGrad", {g.input(0), g.output(0), g.output_grad(0)}, pool_attrs(g)));
}
Status differentiate_max_grad(GradContext& g) {
  return g.set_input_grad(
      2, g.op("MaxPool3DGradGrad", {g.input(0), g.input(1), g.output_grad(0)}, pool_attrs(g)));
}

KernelOptions options(std::vector<DType> types, std::vector<std::string> host = {}) {
  KernelOptions out;
  out.types = {{"T", std::move(types)}};
  out.host_inputs = std::move(host);
  out.prepare = nn::prepare_any_format<nn::prepare_volume>;
  out.expensive = true;
  return out;
}

constexpr nn::ImageArgs one{.images = 1}, three{.images = 1 | 2 | 4};
constexpr nn::ImageArgs of_sizes{.images = 2, .sizes = 1};

constexpr auto windows = "ksize: list(int) >= 5; strides: list(int) >= 5; "
                         "padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'";

void add_avg(OpLibrary& library) {
  const std::vector<DType> wide = {DType::float32, DType::float64};
  const std::vector<DType> narrow = {DType::float16, DType::bfloat16};
  library.op("AvgPool3D")
      .input("input: T")
      .output("output: T")
      .attr(windows)
      .attr("T: {half, bfloat16, float, double}")
      .shape_fn(nn::infer_volume_pool)
      .gradient(differentiate_avg)
      .cpu_kernel(nn::any_format<compute_avg, one>, options(wide))
      .cpu_kernel(nn::any_format<in_wider<compute_avg>, one>, options(narrow))
      .doc("The mean of each window of three dimensions.");
  library.op("AvgPool3DGrad")
      .input("orig_input_shape: int32; grad: T")
      .output("output: T")
      .attr(windows)
      .attr("T: {half, bfloat16, float, double}")
      .shape_fn(infer_avg_grad)
      .gradient(differentiate_avg_grad)
      .cpu_kernel(nn::any_format<compute_avg_grad, of_sizes>, options(wide, {"orig_input_shape"}))
      .cpu_kernel(nn::any_format<in_wider<compute_avg_grad>, of_sizes>,
                  options(narrow, {"orig_input_shape"}))
      .doc("The gradient of AvgPool3D.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add_avg(library);
  const std::vector<DType> narrow = {DType::float16, DType::bfloat16};
  library.op("MaxPool3D")
      .input("input: T")
      .output("output: T")
      .attr(windows)
      .attr("T: {half, bfloat16, float}")
      .shape_fn(nn::infer_volume_pool)
      .gradient(differentiate_max)
      .cpu_kernel(nn::any_format<compute_max, one>, options({DType::float32}))
      .cpu_kernel(nn::any_format<in_wider<compute_max>, one>, options(narrow))
      .doc("The largest of each window of three dimensions.");
  KernelOptions wide_grad = options({DType::float32}), narrow_grad = options(narrow);
  wide_grad.types.push_back({"TInput", {DType::float32}});
  narrow_grad.types.push_back({"TInput", narrow});
  library.op("MaxPool3DGrad")
      .input("orig_input: TInput; orig_output: TInput; grad: T")
      .output("output: T")
      .attr(windows)
      .attr("T: {half, bfloat16, float} = DT_FLOAT; TInput: {half, bfloat16, float} = DT_FLOAT")
      .shape_fn(infer_max_grad)
      .gradient(differentiate_max_grad)
      .cpu_kernel(nn::any_format<compute_max_grad_1, three>, wide_grad)
      .cpu_kernel(nn::any_format<in_wider<compute_max_grad_1>, three>, narrow_grad)
      .doc("The gradient of MaxPool3D: each goes to the first maximum of its window.");
  library.op("MaxPool3DGradGrad")
      .input("orig_input: T; orig_output: T; grad: T")
      .output("output: T")
      .attr(windows)
      .attr("T: realnumbertype")
      .shape_fn(infer_max_grad_2)
      .not_differentiable("it is a second gradient")
      .cpu_kernel(nn::any_format<compute_max_grad_2, three>,
                  options({DType::float32, DType::float64}))
      .cpu_kernel(nn::any_format<in_wider<compute_max_grad_2>, three>, options(narrow))
      .doc("The gradient of MaxPool3DGrad by the gradient that it took.");
}

} // namespace troupe::nn_pool3d
