// MaxPoolWithArgmax: the largest element of each window and where it is. MaxPoolGradWithArgmax
// sends gradients there; MaxPoolGradGrad and MaxPoolGradGradV2 fetch what is there.
#include <algorithm>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/pooling.hpp"

namespace troupe::nn_max_pool_argmax {
namespace {

using Reals = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                    std::int64_t, BFloat16, std::uint16_t, Half, std::uint32_t, std::uint64_t>;
using arith::Pool2DShape;

/// Small floats are compared and added by their value.
template <class T>
using Key = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(nn::PoolAttrs attrs, nn::read_pool_attrs(c.schema().name, c.attrs()));
  return prepared(attrs);
}

Result<Pool2DShape> sizes(const nn::PoolAttrs& attrs, const Shape& in) {
  TROUPE_ASSIGN(const Pool2DShape s, nn::pool_sizes(attrs, in));
  return s;
}

/// Calls body(output position, input position) for the pixels of each window, rows first; positions
/// count pixels of all images. Windows are disjoint units of work.
template <class Start, class Body, class End>
void for_each_window(KernelContext& c, const Pool2DShape& s, Start start, Body body, End end) {
  const double cost = 2.0 * static_cast<double>(std::min(s.window_h, s.in_h) *
                                                std::min(s.window_w, s.in_w) * s.channels);
  c.parallel_for(s.batch * s.out_h * s.out_w, cost, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t o = from; o < to; ++o) {
      const std::int64_t image = o / (s.out_h * s.out_w);
      const std::int64_t top = o / s.out_w % s.out_h * s.stride_h - s.pad_top;
      const std::int64_t left = o % s.out_w * s.stride_w - s.pad_left;
      const std::int64_t bottom = std::min(top + s.window_h, s.in_h);
      const std::int64_t right = std::min(left + s.window_w, s.in_w);
      start(o);
      for (std::int64_t h = std::max<std::int64_t>(top, 0); h < bottom; ++h)
        for (std::int64_t w = std::max<std::int64_t>(left, 0); w < right; ++w)
          body(o, (image * s.in_h + h) * s.in_w + w);
      end(o);
    }
  });
}

template <class T, class I>
void find_largest(KernelContext& c, const Pool2DShape& s, Tensor& y, Tensor& places) {
  const T* x = c.input(0).data<T>().data();
  T* out = y.mutable_data<T>().data();
  I* at = places.mutable_data<I>().data();
  const std::int64_t image = s.in_h * s.in_w * s.channels;
  const bool batch_counts = c.attrs().get_or("include_batch_in_index", false);
  for_each_window(
      c, s,
      [&](std::int64_t o) {
        std::fill_n(out + o * s.channels, s.channels, T{});
        std::fill_n(at + o * s.channels, s.channels, I{-1});
      },
      [&](std::int64_t o, std::int64_t i) {
        for (std::int64_t d = 0; d < s.channels; ++d) {
          const std::int64_t to = o * s.channels + d, from = i * s.channels + d;
          if (at[to] >= 0 && !(Key<T>(out[to]) < Key<T>(x[from])))
            continue;
          out[to] = x[from];
          at[to] = static_cast<I>(batch_counts ? from : from % image);
        }
      },
      [](std::int64_t) {});
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.shape().rank() != 4)
    return invalid_argument("tensor_in must be 4-dimensional (2)");
  if (x.num_elements() == 0)
    return invalid_argument("tensor_in must not be empty (2)");
  TROUPE_ASSIGN(const Pool2DShape s, sizes(c.prepared<nn::PoolAttrs>(), x.shape()));
  TROUPE_ASSIGN(const Shape out, nn::output_shape(s));
  if (c.output_type(1) == DType::int32 && x.num_elements() > INT32_MAX)
    return invalid_argument(
        str_cat("places in ", x.num_elements(), " elements are no int32: ask for Targmax=int64"));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  TROUPE_ASSIGN(Tensor places, c.allocate_output(1, out));
  if (y.num_elements() == 0)
    return {};
  return dispatch(Reals{}, x.dtype(), [&]<class T>() -> Status {
    return dispatch(Types<std::int32_t, std::int64_t>{}, places.dtype(), [&]<class I>() -> Status {
      find_largest<T, I>(c, s, y, places);
      return {};
    });
  });
}

Status compute_grad(KernelContext& c) {
  const Tensor &x = c.input(0), &dy = c.input(1), &argmax = c.input(2);
  if (x.shape().rank() != 4)
    return nn::no_images(x.shape(), c.attrs());
  TROUPE_ASSIGN(const Pool2DShape s, sizes(c.prepared<nn::PoolAttrs>(), x.shape()));
  TROUPE_ASSIGN(const Shape expected, nn::output_shape(s));
  if (dy.shape() != expected)
    return invalid_argument(
        str_cat("Expected grad shape to be ", expected, ", but got ", dy.shape()));
  if (argmax.shape() != expected)
    return invalid_argument(
        str_cat("Expected argmax shape to be ", expected, ", but got ", argmax.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  const bool batch_counts = c.attrs().get_or("include_batch_in_index", false);
  const std::int64_t image = batch_counts ? 0 : s.in_h * s.in_w * s.channels;
  const std::int64_t out_image = s.out_h * s.out_w * s.channels;
  return dispatch(Reals{}, x.dtype(), [&]<class T>() -> Status {
    const auto to = dx.mutable_data<T>();
    const auto from = dy.data<T>();
    const auto at = argmax.data<std::int64_t>();
    std::ranges::fill(to, T{});
    Status status;
    c.serial_for(dy.num_elements(), 3, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end && status.ok(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        std::int64_t place = 0;
        if (__builtin_add_overflow(at[index], i / out_image * image, &place) || place < 0 ||
            place >= dx.num_elements()) {
          status = invalid_argument(
              str_cat("Invalid output gradient index: ", at[index], ", ", dx.num_elements()));
          return;
        }
        T& sum = to[static_cast<std::size_t>(place)];
        sum = T(Key<T>(sum) + Key<T>(from[index]));
      }
    });
    return status;
  });
}

/// What of `grad`, which has the input's shape, lies where each window has its first largest
/// element.
Status compute_grad_grad(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1), &grad = c.input(2);
  if (x.shape().rank() != 4)
    return invalid_argument("tensor_in must be 4-dimensional");
  if (y.shape().rank() != 4)
    return invalid_argument("tensor_out must be 4-dimensional");
  if (grad.shape().rank() != 4)
    return invalid_argument("out_grad_backprop must be 4-dimensional");
  nn::PoolAttrs attrs;
  if (c.node().prepared) {
    attrs = c.prepared<nn::PoolAttrs>();
  } else {
    TROUPE_ASSIGN(attrs, nn::pool_attrs_of_inputs(c, "MaxPoolGradGrad"));
  }
  TROUPE_ASSIGN(const Pool2DShape s, sizes(attrs, x.shape()));
  TROUPE_ASSIGN(const Shape expected, nn::output_shape(s));
  if (y.shape() != expected)
    return invalid_argument(
        str_cat("Expected orig_output shape to be ", expected, ", but got ", y.shape()));
  if (grad.shape() != x.shape())
    return invalid_argument(
        str_cat("Expected grad shape to be ", x.shape(), ", but got ", grad.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, expected));
  if (out.num_elements() == 0)
    return {};
  TROUPE_ASSIGN(Tensor found, c.allocate_temp(DType::bool_, expected));
  return dispatch(Reals{}, x.dtype(), [&]<class T>() -> Status {
    const T *in = x.data<T>().data(), *largest = y.data<T>().data(), *from = grad.data<T>().data();
    T* to = out.mutable_data<T>().data();
    bool* done = found.mutable_data<bool>().data();
    for_each_window(
        c, s,
        [&](std::int64_t o) {
          std::fill_n(to + o * s.channels, s.channels, T{});
          std::fill_n(done + o * s.channels, s.channels, false);
        },
        [&](std::int64_t o, std::int64_t i) {
          for (std::int64_t d = 0; d < s.channels; ++d) {
            const std::int64_t at = o * s.channels + d;
            if (done[at] || !(Key<T>(in[i * s.channels + d]) == Key<T>(largest[at])))
              continue;
            to[at] = from[i * s.channels + d];
            done[at] = true;
          }
        },
        [](std::int64_t) {});
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(nn::infer_pool(c));
  return c.set_output(1, c.outputs()[0]);
}

Status infer_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 4));
  return c.output_like(0, 0);
}

Status infer_grad_grad(ShapeContext& c) {
  TROUPE_TRY(nn::infer_pool(c));
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.outputs()[0], c.input(1)));
  TROUPE_TRY(shape_rules::merge_shapes(c.input(0), c.input(2)).status());
  return c.set_output(0, std::move(out));
}

Status infer_grad_grad_by_inputs(ShapeContext& c) {
  TROUPE_TRY(nn::infer_pool_by_inputs(c, 3));
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.outputs()[0], c.input(1)));
  TROUPE_TRY(shape_rules::merge_shapes(c.input(0), c.input(2)).status());
  return c.set_output(0, std::move(out));
}

KernelOptions options(bool prepares) {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::int32, DType::uint8, DType::int16,
                 DType::int8, DType::int64, DType::bfloat16, DType::uint16, DType::float16,
                 DType::uint32, DType::uint64}}};
  out.expensive = true;
  if (prepares)
    out.prepare = prepare;
  else
    out.host_inputs = {"ksize", "strides"};
  return out;
}

constexpr auto windows = "ksize: list(int) >= 4; strides: list(int) >= 4";
constexpr auto padding = "padding: {'SAME', 'VALID'}";
constexpr auto reals =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MaxPoolWithArgmax")
      .input("input: T")
      .output("output: T; argmax: Targmax")
      .attr(windows)
      .attr("Targmax: {int32, int64} = DT_INT64")
      .attr(padding)
      .attr("include_batch_in_index: bool = false")
      .attr(reals)
      .shape_fn(infer)
      .not_differentiable("MaxPoolGradWithArgmax is its gradient; clients build it")
      .cpu_kernel(compute, options(true))
      .doc("The largest element of each window, and its place in its image or in all of them.");
  KernelOptions grad = options(true);
  grad.types.push_back({"Targmax", {DType::int64}});
  library.op("MaxPoolGradWithArgmax")
      .input("input: T; grad: T; argmax: Targmax")
      .output("output: T")
      .attr(windows)
      .attr(padding)
      .attr("include_batch_in_index: bool = false; Targmax: {int32, int64}")
      .attr(reals)
      .shape_fn(infer_grad)
      .not_differentiable("it is linear in grad; clients build its gradient")
      .cpu_kernel(compute_grad, grad)
      .doc("The gradient of MaxPoolWithArgmax.");
  library.op("MaxPoolGradGrad")
      .input("orig_input: T; orig_output: T; grad: T")
      .output("output: T")
      .attr(windows)
      .attr(padding)
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr(reals)
      .shape_fn(infer_grad_grad)
      .not_differentiable("MaxPoolGrad is its gradient by grad alone")
      .cpu_kernel(compute_grad_grad, options(true))
      .doc("The gradient of MaxPoolGrad by its gradient.");
  library.op("MaxPoolGradGradV2")
      .input("orig_input: T; orig_output: T; grad: T; ksize: int32; strides: int32")
      .output("output: T")
      .attr(padding)
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr(reals)
      .shape_fn(infer_grad_grad_by_inputs)
      .not_differentiable("MaxPoolGradV2 is its gradient by grad alone")
      .cpu_kernel(compute_grad_grad, options(false))
      .doc("The gradient of MaxPoolGradV2 by its gradient.");
}

} // namespace troupe::nn_max_pool_argmax
