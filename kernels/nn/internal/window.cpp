// Windows that slide over images: how large the output is and what padding they see.
#include "kernels/nn/internal/window.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::nn {

using Ints = std::vector<std::int64_t>;

namespace {

/// What a window covers, holes included. INVALID_ARGUMENT beyond 2^62: a tensor without elements
/// may have any dimensions.
Result<std::int64_t> reach_of(std::int64_t window, std::int64_t dilation) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t steps = 0, reach = 0;
  if (__builtin_sub_overflow(window, 1, &steps) ||
      __builtin_mul_overflow(steps, dilation, &reach) || reach >= most)
    return invalid_argument(
        str_cat("a window of ", window, " elements with dilation ", dilation, " is too large"));
  return reach + 1;
}

/// The input with its padding. INVALID_ARGUMENT beyond 2^62, so that a stride may be added.
Result<std::int64_t> padded(std::int64_t input, std::int64_t before, std::int64_t after) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (input >= most)
    return invalid_argument(str_cat("an image dimension of ", input, " is too large"));
  return input + before + after;
}

} // namespace

Status require_moderate(std::string_view name, const Ints& sizes) {
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size > INT32_MAX; }))
    return invalid_argument(str_cat(name, " of ", str_join(sizes, ","), " are beyond 2^31 - 1"));
  return {};
}

Result<WindowPadding> read_padding(const AttrMap& attrs) {
  TROUPE_ASSIGN(std::string kind, attrs.get<std::string>("padding"));
  const Ints sizes = attrs.get_or<Ints>("explicit_paddings", {});
  WindowPadding out;
  if (kind != "EXPLICIT") {
    if (!sizes.empty())
      return invalid_argument("explicit_paddings attribute must be empty if the padding attribute "
                              "is not EXPLICIT");
    out.kind = kind == "SAME" ? Padding::same : Padding::valid;
    return out;
  }
  out.kind = Padding::explicit_sizes;
  if (sizes.size() != 8)
    return invalid_argument(
        str_cat("explicit_paddings attribute must contain 8 values, but got: ", sizes.size()));
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; }))
    return invalid_argument("All elements of explicit_paddings must be nonnegative");
  TROUPE_TRY(require_moderate("explicit_paddings", sizes));
  const std::size_t rows = attrs.get_or<std::string>("data_format", "NHWC") == "NHWC" ? 2 : 4;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 0 && (i < rows || i >= rows + 4))
      return invalid_argument(
          "Nonzero explicit padding in the batch or depth dimensions is not supported");
  out.before = {sizes[rows], sizes[rows + 2]};
  out.after = {sizes[rows + 1], sizes[rows + 3]};
  return out;
}

Result<Extent> window_extent(const WindowPadding& padding, int axis, std::int64_t input,
                             std::int64_t window, std::int64_t dilation, std::int64_t stride) {
  const auto a = static_cast<std::size_t>(axis);
  TROUPE_ASSIGN(const std::int64_t effective, reach_of(window, dilation));
  TROUPE_ASSIGN(const std::int64_t extent, padded(input, padding.before[a], padding.after[a]));
  if (padding.kind == Padding::same) {
    const std::int64_t output = (input + stride - 1) / stride;
    const std::int64_t needed = (output - 1) * stride + effective - input;
    return Extent{output, std::max<std::int64_t>(needed, 0) / 2};
  }
  const std::int64_t output = (extent - effective + stride) / stride;
  if (output < 0)
    return invalid_argument(
        str_cat("Computed output size would be negative: ", output, " [input_size: ", extent,
                ", effective_filter_size: ", effective, ", stride: ", stride, "]"));
  return Extent{output, padding.before[a]};
}

Result<std::int64_t> infer_extent(const WindowPadding& padding, int axis, std::int64_t input,
                                  std::int64_t window, std::int64_t dilation, std::int64_t stride) {
  const auto a = static_cast<std::size_t>(axis);
  if (stride <= 0)
    return invalid_argument(str_cat("Stride must be > 0, but got ", stride));
  if (dilation < 1)
    return invalid_argument(str_cat("Dilation rate must be >= 1, but got ", dilation));
  if (input == shape_rules::unknown_dim || window == shape_rules::unknown_dim)
    return shape_rules::unknown_dim;
  TROUPE_TRY(require_moderate("stride or dilation", {stride, dilation}));
  TROUPE_ASSIGN(const std::int64_t extent, padded(input, padding.before[a], padding.after[a]));
  if (padding.kind == Padding::same)
    return (extent + stride - 1) / stride;
  TROUPE_ASSIGN(const std::int64_t reach, reach_of(window, dilation));
  return shape_rules::valid_extent(extent, reach, stride);
}

Status check_not_negative(const Tensor& sizes) {
  TROUPE_ASSIGN(const Integers numbers, integers(sizes));
  for (std::int64_t size : numbers)
    if (size < 0)
      return invalid_argument(str_cat("Expected a non-negative size, got ", size));
  return {};
}

Status check_last_window(std::int64_t count, std::int64_t stride, std::int64_t input) {
  if (count > 0 && count - 1 > input / stride)
    return invalid_argument("index * stride must be less than or equal to input size");
  return {};
}

Status require_nhwc(std::string_view op, const AttrMap& attrs) {
  const auto format = attrs.get_or<std::string>("data_format", "NHWC");
  if (format == "NHWC")
    return {};
  return unimplemented(str_cat("The ", op,
                               " op currently only supports the NHWC tensor format on "
                               "the CPU. The op was given the format: ",
                               format, ". Transpose its input to NHWC first"));
}

namespace {

Status check_nhwc_pool(std::string_view op, const AttrMap& attrs) {
  // TensorFlow's sentence and code for pools, which are not those of convolutions.
  if (const auto format = attrs.get_or<std::string>("data_format", "NHWC"); format != "NHWC")
    return invalid_argument(str_cat("Default ", op.substr(0, 3), "Pooling",
                                    op.ends_with("Grad") ? "Grad" : "",
                                    "Op only supports NHWC on device type CPU. The op was given ",
                                    format, "; transpose its input to NHWC first"));
  return {};
}

/// What both ways of saying windows and strides have in common, after their checks.
Result<PoolAttrs> make_pool_attrs(const Ints& window, const Ints& stride, const AttrMap& attrs) {
  TROUPE_TRY(require_moderate("ksize", window));
  TROUPE_TRY(require_moderate("strides", stride));
  if (window[3] != 1 && (window[1] != 1 || window[2] != 1))
    return unimplemented(
        "MaxPooling supports exactly one of pooling across depth or pooling across "
        "width/height.");
  if (window[3] != 1 && window[3] != stride[3])
    return unimplemented(
        "Depthwise max pooling requires the depth window to equal the depth stride");
  TROUPE_ASSIGN(WindowPadding padding, read_padding(attrs));
  if (window[3] != 1) // every pixel, whatever the steps from one to the next
    return PoolAttrs{{1, 1}, {1, 1}, window[3], {}};
  return PoolAttrs{{window[1], window[2]}, {stride[1], stride[2]}, 1, padding};
}

} // namespace

Result<PoolAttrs> read_pool_attrs(std::string_view op, const AttrMap& attrs) {
  TROUPE_TRY(check_nhwc_pool(op, attrs));
  TROUPE_ASSIGN(Ints window, attrs.get<Ints>("ksize"));
  TROUPE_ASSIGN(Ints stride, attrs.get<Ints>("strides"));
  if (window.size() != 4)
    return invalid_argument("Sliding window ksize field must specify 4 dimensions");
  if (stride.size() != 4)
    return invalid_argument("Sliding window stride field must specify 4 dimensions");
  for (std::int64_t k : window)
    if (k <= 0)
      return invalid_argument(str_cat("Sliding window ksize must be positive. The specified or "
                                      "inferred ksize is: ",
                                      str_join(window, ",")));
  for (std::int64_t s : stride)
    if (s <= 0)
      return invalid_argument(str_cat("Stride must be > 0, but got ", s));
  if (window[0] != 1 || stride[0] != 1)
    return unimplemented("Pooling is not yet supported on the batch dimension.");
  if ((window[3] != 1 || stride[3] != 1) && op != "MaxPool")
    return unimplemented(str_cat("Non-spatial pooling is not yet supported: the ksize and strides "
                                 "of ",
                                 op, " must be 1 in the depth dimension"));
  return make_pool_attrs(window, stride, attrs);
}

Result<PoolAttrs> read_pool_attrs_of_inputs(std::string_view op, const AttrMap& attrs) {
  TROUPE_TRY(check_nhwc_pool(op, attrs));
  TROUPE_ASSIGN(const Ints window, attrs.get<Ints>("ksize"));
  TROUPE_ASSIGN(const Ints stride, attrs.get<Ints>("strides"));
  const bool forward = op == "MaxPool";
  if (window.size() != 4)
    return invalid_argument("Sliding window ksize field must specify 4 dimensions");
  if (stride.size() != 4)
    return invalid_argument(str_cat("Sliding window ", forward ? "stride" : "strides",
                                    " field must specify 4 dimensions"));
  const bool is_positive = std::ranges::all_of(window, [](std::int64_t k) { return k > 0; });
  if (forward && !is_positive)
    return invalid_argument("Sliding window ksize must be positive.");
  if (window[0] != 1 || stride[0] != 1)
    return unimplemented("Pooling is not yet supported on the batch dimension.");
  if (!forward && (window[3] != 1 || stride[3] != 1))
    return unimplemented("MaxPoolingGrad is not yet supported on the depth dimension.");
  for (std::size_t a : {1, 2})
    if (stride[a] <= 0)
      return invalid_argument(str_cat("Stride must be > 0, but got ", stride[a]));
  if (!is_positive)
    return invalid_argument(str_cat("Sliding window ksize must be positive. The specified or "
                                    "inferred ksize is: ",
                                    str_join(window, ",")));
  return make_pool_attrs(window, stride, attrs);
}

Status check_padding(const PoolAttrs& attrs) {
  constexpr std::string_view sides[2][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int64_t size = side == 0 ? attrs.padding.before[a] : attrs.padding.after[a];
      if (size >= attrs.window[a] && size > 0)
        return invalid_argument(str_cat(sides[a][side], " padding ", size,
                                        " needs to be smaller than the window size ",
                                        attrs.window[a]));
    }
  return {};
}

namespace {

Status infer_pool_with(ShapeContext& c, const Ints& window, const Ints& stride) {
  TROUPE_ASSIGN(auto in, shape_rules::dims_of_rank(c, 0, 4));
  if (window.size() != 4)
    return invalid_argument(
        str_cat(c.schema().name,
                " requires the ksize attribute to contain 4 values, but got: ", window.size()));
  if (stride.size() != 4)
    return invalid_argument(
        str_cat(c.schema().name,
                " requires the stride attribute to contain 4 values, but got: ", stride.size()));
  TROUPE_ASSIGN(WindowPadding padding, read_padding(c.attrs()));
  const auto format = c.attrs().get_or<std::string>("data_format", "NHWC");
  const std::size_t rows = format == "NHWC" ? 1 : 2, depth = format == "NHWC" ? 3 : 1;
  Ints out = in;
  const bool over_depth = window[depth] > 1; // every pixel, whatever the steps from one to the next
  for (std::size_t a = 0; a < 2 && !over_depth; ++a) {
    TROUPE_ASSIGN(out[rows + a], infer_extent(padding, static_cast<int>(a), in[rows + a],
                                              window[rows + a], 1, stride[rows + a]));
  }
  if (window[depth] != 1) {
    TROUPE_ASSIGN(out[depth], infer_extent({}, 0, in[depth], window[depth], 1, stride[depth]));
  }
  return c.set_output(0, PartialShape(std::move(out)));
}

} // namespace

Status infer_pool(ShapeContext& c) {
  TROUPE_ASSIGN(const Ints window, c.attr<Ints>("ksize"));
  TROUPE_ASSIGN(const Ints stride, c.attr<Ints>("strides"));
  return infer_pool_with(c, window, stride);
}

Status infer_pool_by_inputs(ShapeContext& c, int at) {
  const auto window = c.input_as_ints(at), stride = c.input_as_ints(at + 1);
  if (window && stride)
    return infer_pool_with(c, *window, *stride);
  TROUPE_TRY(c.require_rank(0, 4));
  return c.set_output(0, {-1, -1, -1, -1});
}

} // namespace troupe::nn
