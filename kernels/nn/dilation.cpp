// Dilation2D: the largest sum of an image's element and a filter's in each window, channel by
// channel. Its gradients go to the first such pair of each window.
#include <algorithm>
#include <array>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/arith/depthwise.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe::nn_dilation {
namespace {

using Ints = std::vector<std::int64_t>;
using Reals = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                    std::int64_t, BFloat16, std::uint16_t, Half, std::uint32_t, std::uint64_t>;
template <class T>
constexpr bool is_small = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// A sum as T rounds or wraps it.
template <class T>
T sum(T a, T b) {
  if constexpr (is_small<T>)
    return T(static_cast<float>(a) + static_cast<float>(b));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

template <class T>
bool is_greater(T a, T b) {
  if constexpr (is_small<T>)
    return static_cast<float>(a) > static_cast<float>(b);
  else
    return a > b;
}

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, Half>)
    return T(-65504.0F);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return T(-0x1.fep127F);
  else
    return std::numeric_limits<T>::lowest();
}

struct Attrs {
  std::array<std::int64_t, 2> stride = {}, rate = {};
  nn::WindowPadding padding;
};

Result<std::array<std::int64_t, 2>> spatial(const AttrMap& attrs, std::string_view name,
                                            std::string_view field, std::string_view what) {
  TROUPE_ASSIGN(const Ints sizes, attrs.get<Ints>(name));
  if (sizes.size() != 4)
    return invalid_argument(str_cat(field, " field must specify 4 dimensions"));
  if (sizes[0] != 1 || sizes[3] != 1)
    return unimplemented(str_cat(what, " is only supported across spatial dimensions."));
  if (sizes[1] < 1 || sizes[2] < 1)
    return invalid_argument(str_cat(what, " must be > 0, but got ", sizes[1], ", ", sizes[2]));
  TROUPE_TRY(nn::require_moderate(name, sizes));
  return std::array{sizes[1], sizes[2]};
}

Result<Attrs> read_attrs(const AttrMap& attrs) {
  Attrs out;
  TROUPE_ASSIGN(out.stride, spatial(attrs, "strides", "Sliding window stride", "Stride"));
  TROUPE_ASSIGN(out.rate, spatial(attrs, "rates", "Input stride (atrous rate)", "Rate"));
  TROUPE_ASSIGN(out.padding, nn::read_padding(attrs));
  return out;
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(Attrs attrs, read_attrs(c.attrs()));
  return prepared(attrs);
}

struct Sizes {
  std::int64_t batch = 0, in_h = 0, in_w = 0, depth = 0, filter_h = 0, filter_w = 0;
  nn::Extent rows, columns;
  Attrs attrs;

  Result<Shape> out() const {
    return Shape::make(std::array{batch, rows.output, columns.output, depth});
  }
  double window_cost() const {
    return 2.0 * static_cast<double>(depth * std::min(filter_h, in_h) * std::min(filter_w, in_w));
  }
};

Result<Sizes> sizes(KernelContext& c) {
  const Shape &in = c.input(0).shape(), &filter = c.input(1).shape();
  if (in.rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", in));
  if (filter.rank() != 3)
    return invalid_argument(str_cat("filter must be 3-dimensional: ", filter));
  if (in[3] != filter[2])
    return invalid_argument(
        str_cat("input and filter must have the same depth: ", in[3], " vs ", filter[2]));
  const auto& a = c.prepared<Attrs>();
  Sizes s{.batch = in[0],
          .in_h = in[1],
          .in_w = in[2],
          .depth = in[3],
          .filter_h = filter[0],
          .filter_w = filter[1],
          .rows = {},
          .columns = {},
          .attrs = a};
  TROUPE_ASSIGN(s.rows, nn::window_extent(a.padding, 0, in[1], filter[0], a.rate[0], a.stride[0]));
  TROUPE_ASSIGN(s.columns,
                nn::window_extent(a.padding, 1, in[2], filter[1], a.rate[1], a.stride[1]));
  return s;
}

/// A pair of elements: of the input and of the filter, rows and columns.
struct Place {
  std::int64_t h = 0, w = 0, filter_h = 0, filter_w = 0;
};

/// The largest sum of one window and channel, and whose it is.
template <class T>
T largest(const Sizes& s, const T* image, const T* filter, std::int64_t oh, std::int64_t ow,
          std::int64_t d, Place& place) {
  const std::int64_t top = oh * s.attrs.stride[0] - s.rows.pad_before;
  const std::int64_t left = ow * s.attrs.stride[1] - s.columns.pad_before;
  T most = lowest<T>();
  place = {std::max<std::int64_t>(top, 0), std::max<std::int64_t>(left, 0), 0, 0};
  for (std::int64_t a = 0; a < s.filter_h && s.filter_w > 0; ++a) {
    const std::int64_t h = top + a * s.attrs.rate[0];
    if (h < 0 || h >= s.in_h)
      continue;
    for (std::int64_t b = 0; b < s.filter_w; ++b) {
      const std::int64_t w = left + b * s.attrs.rate[1];
      if (w < 0 || w >= s.in_w)
        continue;
      const T value =
          sum(image[(h * s.in_w + w) * s.depth + d], filter[(a * s.filter_w + b) * s.depth + d]);
      if (is_greater(value, most)) {
        most = value;
        place = {h, w, a, b};
      }
    }
  }
  return most;
}

/// f32 and f64, which the instruction sets have.
void compute_floats(KernelContext& c, const Sizes& s, Tensor& y) {
  const arith::Conv2DShape shape{
      .batch = s.batch,
      .in_h = s.in_h,
      .in_w = s.in_w,
      .in_c = s.depth,
      .filter_h = s.filter_h,
      .filter_w = s.filter_w,
      .out_h = s.rows.output,
      .out_w = s.columns.output,
      .out_c = s.depth,
      .stride_h = s.attrs.stride[0],
      .stride_w = s.attrs.stride[1],
      .dilation_h = s.attrs.rate[0],
      .dilation_w = s.attrs.rate[1],
      .pad_top = s.rows.pad_before,
      .pad_left = s.columns.pad_before,
  };
  const double cost = s.window_cost() / 20 * static_cast<double>(shape.out_w);
  c.parallel_for(s.batch * shape.out_h, cost, [&](std::int64_t begin, std::int64_t end) {
    arith::dilation_forward(arith::type_of(y.dtype()), shape, c.input(0).raw(), c.input(1).raw(),
                            y.mutable_raw(), begin, end);
  });
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, sizes(c));
  TROUPE_ASSIGN(const Shape shape, s.out());
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  if (y.dtype() == DType::float32 || y.dtype() == DType::float64) {
    compute_floats(c, s, y);
    return {};
  }
  return dispatch(Reals{}, y.dtype(), [&]<class T>() -> Status {
    const T *x = c.input(0).data<T>().data(), *filter = c.input(1).data<T>().data();
    T* to = y.mutable_data<T>().data();
    const std::int64_t rows = s.rows.output, columns = s.columns.output;
    c.parallel_for(
        s.batch * rows * columns, s.window_cost(), [&](std::int64_t begin, std::int64_t end) {
          Place place;
          for (std::int64_t o = begin; o < end; ++o)
            for (std::int64_t d = 0; d < s.depth; ++d)
              to[o * s.depth + d] = largest(s, x + o / (rows * columns) * s.in_h * s.in_w * s.depth,
                                            filter, o / columns % rows, o % columns, d, place);
        });
    return {};
  });
}

/// The gradient by the input or by the filter: sums, in the windows' order.
template <bool by_input>
Status compute_grad(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, sizes(c));
  TROUPE_ASSIGN(const Shape shape, s.out());
  if (c.input(2).shape().rank() != 4)
    return invalid_argument(str_cat("out_backprop must be 4-dimensional", c.input(2).shape()));
  if (c.input(2).shape() != shape)
    return invalid_argument("out_backprop has incompatible size.");
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(by_input ? 0 : 1).shape()));
  return dispatch(Reals{}, out.dtype(), [&]<class T>() -> Status {
    const T *x = c.input(0).data<T>().data(), *filter = c.input(1).data<T>().data();
    const T* dy = c.input(2).data<T>().data();
    const auto to = out.mutable_data<T>();
    std::ranges::fill(to, T{});
    if (out.num_elements() == 0)
      return {};
    const std::int64_t rows = s.rows.output, columns = s.columns.output;
    c.serial_for(s.batch * rows * columns, s.window_cost(),
                 [&](std::int64_t begin, std::int64_t end) {
                   Place at;
                   for (std::int64_t o = begin; o < end; ++o)
                     for (std::int64_t d = 0; d < s.depth; ++d) {
                       const std::int64_t image = o / (rows * columns) * s.in_h * s.in_w * s.depth;
                       largest(s, x + image, filter, o / columns % rows, o % columns, d, at);
                       if (at.h >= s.in_h || at.w >= s.in_w)
                         continue;
                       T& element = to[static_cast<std::size_t>(
                           by_input ? image + (at.h * s.in_w + at.w) * s.depth + d
                                    : (at.filter_h * s.filter_w + at.filter_w) * s.depth + d)];
                       element = sum(element, dy[o * s.depth + d]);
                     }
                 });
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto in, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const auto filter, shape_rules::dims_of_rank(c, 1, 3));
  TROUPE_ASSIGN(const Attrs a, read_attrs(c.attrs()));
  Ints out = in;
  for (std::size_t i = 0; i < 2; ++i) {
    TROUPE_ASSIGN(out[i + 1], nn::infer_extent(a.padding, static_cast<int>(i), in[i + 1], filter[i],
                                               a.rate[i], a.stride[i]));
  }
  TROUPE_ASSIGN(out[3], shape_rules::merge_dims(in[3], filter[2]));
  return c.set_output(0, PartialShape(std::move(out)));
}

template <int like>
Status infer_grad(ShapeContext& c) {
  return c.output_like(0, like);
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::int32, DType::uint8, DType::int16,
                 DType::int8, DType::int64, DType::bfloat16, DType::uint16, DType::float16,
                 DType::uint32, DType::uint64}}};
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto attrs = "strides: list(int) >= 4; rates: list(int) >= 4; "
                         "padding: {'SAME', 'VALID'}; T: {float, double, int32, uint8, int16, "
                         "int8, int64, bfloat16, uint16, half, uint32, uint64}";
  library.op("Dilation2D")
      .input("input: T; filter: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer)
      .not_differentiable("two ops are its gradients; clients build them")
      .cpu_kernel(compute, options())
      .doc("The largest sum of an element and the filter's in each window, channel by channel.");
  library.op("Dilation2DBackpropInput")
      .input("input: T; filter: T; out_backprop: T")
      .output("in_backprop: T")
      .attr(attrs)
      .shape_fn(infer_grad<0>)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad<true>, options())
      .doc("The gradient of Dilation2D by its input.");
  library.op("Dilation2DBackpropFilter")
      .input("input: T; filter: T; out_backprop: T")
      .output("filter_backprop: T")
      .attr(attrs)
      .shape_fn(infer_grad<1>)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad<false>, options())
      .doc("The gradient of Dilation2D by its filter.");
}

} // namespace troupe::nn_dilation
