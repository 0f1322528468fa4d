// FusedPadConv2D and FusedResizeAndPadConv2D: what TensorFlow's optimize_for_inference makes of
// ResizeBilinear, MirrorPad and the Conv2D after them.
#include <algorithm>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/convolution.hpp"

namespace troupe::nn_fused_pad_conv2d {
namespace {

using Ints = std::vector<std::int64_t>;

struct Attrs {
  std::int64_t offset = 0; ///< 1 where the border is not repeated (REFLECT)
  bool align_corners = false;
  nn::ConvAttrs conv;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(const auto mode, c.attr<std::string>("mode"));
  out.offset = mode == "REFLECT" ? 1 : 0;
  out.align_corners = c.attrs().get_or("resize_align_corners", false);
  TROUPE_ASSIGN(const Ints stride, c.attr<Ints>("strides"));
  if (stride.size() != 4)
    return invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (stride[0] != 1 || stride[3] != 1)
    return invalid_argument("Current implementation does not yet support strides in the batch and "
                            "depth dimensions.");
  for (std::int64_t s : stride)
    if (s <= 0)
      return invalid_argument(str_cat("Stride must be > 0, but got ", s));
  TROUPE_TRY(nn::require_moderate("strides", stride));
  out.conv.stride = {stride[1], stride[2]};
  TROUPE_ASSIGN(out.conv.padding, nn::read_padding(c.attrs()));
  return prepared(std::move(out));
}

// ---- shapes

Status infer(ShapeContext& c) {
  const bool resizes = c.num_inputs() == 4;
  const int paddings = resizes ? 2 : 1, filter_at = paddings + 1;
  TROUPE_ASSIGN(Ints in, shape_rules::dims_of_rank(c, 0, 4));
  if (resizes) {
    TROUPE_ASSIGN(const auto count, shape_rules::dims_of_rank(c, 1, 1));
    TROUPE_TRY(shape_rules::merge_dims(count[0], 2).status());
    const auto to = c.input_as_ints(1);
    for (std::size_t i = 0; i < 2; ++i)
      in[i + 1] = to && (*to)[i] >= 0 ? (*to)[i] : shape_rules::unknown_dim;
  }
  TROUPE_TRY(c.require_rank(paddings, 2));
  const PartialShape& amounts_shape = c.input(paddings);
  if (amounts_shape.has_rank()) {
    TROUPE_TRY(
        shape_rules::merge_shapes(amounts_shape, PartialShape{amounts_shape.dim(0), 2}).status());
    if (amounts_shape.dim(0) >= 0 && amounts_shape.dim(0) != 4)
      return invalid_argument(
          str_cat("Shape must be rank ", amounts_shape.dim(0), " but is rank 4"));
  }
  const auto amounts = c.input_as_ints(paddings);
  for (std::size_t i = 0; i < 4; ++i) {
    if (amounts && ((*amounts)[2 * i] < 0 || (*amounts)[2 * i + 1] < 0))
      return invalid_argument("Paddings must be non-negative");
    for (std::size_t side = 0; side < 2; ++side) {
      TROUPE_ASSIGN(in[i], amounts ? shape_rules::add_dims(in[i], (*amounts)[2 * i + side])
                                   : shape_rules::unknown_dim);
    }
  }
  TROUPE_ASSIGN(const Ints filter, shape_rules::dims_of_rank(c, filter_at, 4));
  TROUPE_ASSIGN(const Ints stride, c.attr<Ints>("strides"));
  if (stride.size() != 4)
    return invalid_argument(str_cat(
        "Operation requires the stride attribute to contain 4 values, but got: ", stride.size()));
  TROUPE_TRY(shape_rules::merge_dims(in[3], filter[2]).status());
  TROUPE_ASSIGN(const nn::WindowPadding padding, nn::read_padding(c.attrs()));
  for (std::size_t a = 0; a < 2; ++a) {
    TROUPE_ASSIGN(in[a + 1], nn::infer_extent(padding, static_cast<int>(a), in[a + 1], filter[a], 1,
                                              stride[a + 1]));
  }
  in[3] = filter[3];
  return c.set_output(0, PartialShape(std::move(in)));
}

// ---- resizing

/// Two neighbours and how far from the lower one a position is.
struct Between {
  std::int64_t lower = 0, upper = 0;
  float part = 0;
};

std::vector<Between> positions(std::int64_t from, std::int64_t to, bool align_corners) {
  const float scale = align_corners && to > 1
                          ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                          : static_cast<float>(from) / static_cast<float>(to);
  std::vector<Between> out(static_cast<std::size_t>(to));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float at = static_cast<float>(i) * scale, floor = std::floor(at);
    out[i] = {std::min(static_cast<std::int64_t>(floor), from - 1),
              std::min(static_cast<std::int64_t>(std::ceil(at)), from - 1), at - floor};
  }
  return out;
}

template <class T>
void resize_row(const T* top, const T* bottom, const std::vector<Between>& xs, T y_part,
                std::int64_t channels, T* to) {
  for (const Between& x : xs)
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t left = x.lower * channels + c, right = x.upper * channels + c;
      const T part = static_cast<T>(x.part);
      const T upper = top[left] + (top[right] - top[left]) * part;
      const T lower = bottom[left] + (bottom[right] - bottom[left]) * part;
      *to++ = upper + (lower - upper) * y_part;
    }
}

Result<Tensor> resized(KernelContext& c, const Tensor& x, const Tensor& size, bool align_corners) {
  const Shape& in = x.shape();
  constexpr std::int64_t most = INT32_MAX;
  if (in[1] >= most || in[2] >= most)
    return invalid_argument("input sizes must be between 0 and max int32");
  if (size.shape().rank() != 1)
    return invalid_argument(str_cat("shape_t must be 1-dimensional", size.shape()));
  if (size.shape()[0] != 2)
    return invalid_argument(str_cat("shape_t must have two elements", size.shape()));
  const std::int64_t height = size.data<std::int32_t>()[0], width = size.data<std::int32_t>()[1];
  if (height <= 0 || width <= 0)
    return invalid_argument("output dimensions must be positive");
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{in[0], height, width, in[3]}));
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(x.dtype(), shape));
  const auto xs = positions(in[2], width, align_corners);
  const auto ys = positions(in[1], height, align_corners);
  TROUPE_TRY(dispatch(Types<float, double>{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = out.mutable_data<T>().data();
    const std::int64_t from_row = in[2] * in[3], to_row = width * in[3];
    c.parallel_for(in[0] * height, 3.0 * static_cast<double>(to_row),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const Between& y = ys[static_cast<std::size_t>(row % height)];
                       const T* image = from + row / height * in[1] * from_row;
                       resize_row(image + y.lower * from_row, image + y.upper * from_row, xs,
                                  static_cast<T>(y.part), in[3], to + row * to_row);
                     }
                   });
    return {};
  }));
  return out;
}

// ---- mirroring

Status check_paddings(const Tensor& paddings, const Integers& amounts, const Shape& shape,
                      std::int64_t offset) {
  for (int d = 0; d < 4; ++d) {
    const auto at = 2 * static_cast<std::size_t>(d);
    const std::int64_t before = amounts[at], after = amounts[at + 1];
    if (before < 0 || after < 0)
      return invalid_argument(str_cat("paddings must be non-negative: ", before, " ", after));
    if (before <= shape[d] - offset && after <= shape[d] - offset)
      continue;
    return invalid_argument(
        offset == 0 ? str_cat("paddings must be no greater than the dimension size: ", before, ", ",
                              after, " greater than ", shape[d])
                    : str_cat("paddings must be less than the dimension size: ", before, ", ",
                              after, " not less than ", shape[d]));
  }
  const char* wrong = amounts[0] != 0 || amounts[1] != 0   ? "batches"
                      : amounts[6] != 0 || amounts[7] != 0 ? "channels"
                                                           : nullptr;
  if (wrong)
    return invalid_argument(str_cat("Fused mirror padding only support spatial padding, not ",
                                    wrong, ": ", debug_string(paddings)));
  return {};
}

/// For each place along a padded dimension, where its element comes from.
Ints sources(std::int64_t extent, std::int64_t before, std::int64_t after, std::int64_t offset) {
  Ints out;
  for (std::int64_t at = -before; at < extent + after; ++at)
    out.push_back(at < 0 ? offset - 1 - at : at >= extent ? 2 * extent - 1 - offset - at : at);
  return out;
}

Result<Tensor> mirrored(KernelContext& c, const Tensor& x, const Tensor& paddings,
                        std::int64_t offset) {
  const Shape &in = x.shape(), &p = paddings.shape();
  if (p.rank() != 2 || p[1] != 2)
    return invalid_argument(str_cat("paddings must be a matrix with 2 columns: ", p));
  if (p[0] != 4)
    return invalid_argument(
        str_cat("The first dimension of paddings must be the rank of inputs: 4 ", p, " ", in));
  TROUPE_ASSIGN(const Integers amounts, integers(paddings));
  TROUPE_TRY(check_paddings(paddings, amounts, in, offset));
  if (std::ranges::all_of(amounts, [](std::int64_t amount) { return amount == 0; }))
    return x;
  const Ints rows = sources(in[1], amounts[2], amounts[3], offset);
  const Ints columns = sources(in[2], amounts[4], amounts[5], offset);
  const auto height = static_cast<std::int64_t>(rows.size());
  const auto width = static_cast<std::int64_t>(columns.size());
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{in[0], height, width, in[3]}));
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(x.dtype(), shape));
  TROUPE_TRY(dispatch(Types<float, double>{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = out.mutable_data<T>().data();
    c.parallel_for(in[0] * height, 0.5 * static_cast<double>(width * in[3]),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const T* source = from + (row / height * in[1] +
                                                 rows[static_cast<std::size_t>(row % height)]) *
                                                    in[2] * in[3];
                       T* target = to + row * width * in[3];
                       for (std::int64_t column : columns)
                         target = std::copy_n(source + column * in[3], in[3], target);
                     }
                   });
    return {};
  }));
  return out;
}

// ---- kernels

Status check_filter(const Shape& filter, const Shape& in) {
  if (filter.rank() != 4)
    return invalid_argument(str_cat("filter must be 4-dimensional: ", filter));
  if (filter[2] != in[3])
    return invalid_argument(
        str_cat("input and filter must have the same depth: ", in[3], " vs ", filter[2]));
  return {};
}

Status compute(KernelContext& c) {
  const auto& a = c.prepared<Attrs>();
  const bool resizes = c.num_inputs() == 4;
  Tensor x = c.input(0);
  if (x.num_elements() == 0)
    return invalid_argument("Input tensor can't be empty");
  if (x.shape().rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", x.shape()));
  if (resizes) {
    TROUPE_ASSIGN(x, resized(c, x, c.input(1), a.align_corners));
  }
  const Tensor &paddings = c.input(resizes ? 2 : 1), &filter = c.input(resizes ? 3 : 2);
  TROUPE_ASSIGN(x, mirrored(c, x, paddings, a.offset));
  TROUPE_TRY(check_filter(filter.shape(), x.shape()));
  TROUPE_ASSIGN(const arith::Conv2DShape s,
                nn::convolution_sizes(a.conv, x.shape(), filter.shape()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{s.batch, s.out_h, s.out_w, s.out_c}));
  if (shape.num_elements() == 0)
    return invalid_argument("Output tensor can't be empty");
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (filter.num_elements() == 0) {
    std::fill_n(static_cast<std::byte*>(y.mutable_raw()), y.byte_size(), std::byte{0});
    return {};
  }
  if (x.dtype() == DType::float32)
    return nn::convolve(c, s, x, filter, {}, y.mutable_data<float>().data());
  TROUPE_ASSIGN(const auto type, arith::conv2d_type(x.dtype()));
  nn::for_each_images(c, s, [&](std::int64_t begin, std::int64_t end) {
    arith::conv2d_forward(type, s, x.raw(), filter.raw(), y.mutable_raw(), begin, end);
  });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  KernelOptions half = options;
  half.types = {{"T", {DType::float16, DType::bfloat16}}};
  constexpr auto attrs = "mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); "
                         "padding: {'SAME', 'VALID'}";
  constexpr auto why = "it is made of ops that are, after their gradients were added";
  library.op("FusedPadConv2D")
      .input("input: T; paddings: int32; filter: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr(attrs)
      .shape_fn(infer)
      .not_differentiable(why)
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, half)
      .doc("MirrorPad, then Conv2D.");
  half.types = {{"T", {DType::float16}}};
  library.op("FusedResizeAndPadConv2D")
      .input("input: T; size: int32; paddings: int32; filter: T")
      .output("output: T")
      .attr("T: {half, float, double}; resize_align_corners: bool = false")
      .attr(attrs)
      .shape_fn(infer)
      .not_differentiable(why)
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, half)
      .doc("ResizeBilinear, MirrorPad, then Conv2D.");
}

} // namespace troupe::nn_fused_pad_conv2d
