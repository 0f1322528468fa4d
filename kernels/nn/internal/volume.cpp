#include "kernels/nn/internal/volume.hpp"

#include "kernels/framework/shape_rules.hpp"

namespace troupe::nn {
namespace {

using Ints = std::vector<std::int64_t>;

/// The three spatial numbers of five; those of batch and depth must be 1.
Result<Three> spatial(std::string_view op, std::string_view what, const Ints& five) {
  if (five.size() != 5)
    return invalid_argument(str_cat(what, " field must specify 5 dimensions"));
  TROUPE_TRY(require_moderate(what, five));
  if (five[0] != 1 || five[4] != 1) {
    if (op.find("Pool") != std::string_view::npos)
      return unimplemented(str_cat("Pooling is not yet supported on the ",
                                   five[0] != 1 ? "batch" : "depth", " dimension."));
    return invalid_argument(str_cat("Current implementation does not yet support ", what,
                                    " in the batch and depth dimensions."));
  }
  for (std::int64_t n : five)
    if (n <= 0)
      return invalid_argument(str_cat(what, " must be positive, but are ", str_join(five, ",")));
  return Three{five[1], five[2], five[3]};
}

struct Layout {
  std::size_t depth = 4, first = 1;
};
Layout layout_of(const AttrMap& attrs) {
  if (attrs.get_or<std::string>("data_format", "NDHWC") == "NCDHW")
    return {.depth = 1, .first = 2};
  return {};
}

Status require_five(std::string_view what, const Ints& values) {
  if (values.size() != 5)
    return invalid_argument(
        str_cat(what, " attribute must contain 5 values, but got: ", values.size()));
  return {};
}

} // namespace

Result<VolumeAttrs> read_volume_attrs(std::string_view op, const AttrMap& attrs) {
  VolumeAttrs out;
  const auto format = attrs.get_or<std::string>("data_format", "NDHWC");
  if (format != "NDHWC")
    return unimplemented(str_cat("The ", op,
                                 " op currently only supports the NDHWC tensor format "
                                 "on the CPU. The op was given the format: ",
                                 format, ". Transpose its input to NDHWC first"));
  TROUPE_ASSIGN(const Ints strides, attrs.get<Ints>("strides"));
  TROUPE_ASSIGN(out.stride, spatial(op, "strides", strides));
  if (attrs.find("ksize")) {
    TROUPE_ASSIGN(const Ints ksize, attrs.get<Ints>("ksize"));
    TROUPE_ASSIGN(out.window, spatial(op, "ksize", ksize));
  }
  if (attrs.find("dilations")) {
    TROUPE_ASSIGN(const Ints dilations, attrs.get<Ints>("dilations"));
    TROUPE_ASSIGN(out.dilation, spatial(op, "dilations", dilations));
  }
  TROUPE_ASSIGN(out.padding, read_padding(attrs));
  return out;
}

Result<Volume> volume_sizes(const VolumeAttrs& attrs, const Shape& in, const Three& window) {
  Volume v;
  v.batch = in[0];
  v.channels = in[4];
  v.window = window;
  v.stride = attrs.stride;
  v.dilation = attrs.dilation;
  for (std::size_t i = 0; i < 3; ++i) {
    v.in[i] = in[static_cast<int>(i) + 1];
    TROUPE_ASSIGN(const Extent extent, window_extent(attrs.padding, 0, v.in[i], window[i],
                                                     attrs.dilation[i], attrs.stride[i]));
    v.out[i] = extent.output;
    v.before[i] = extent.pad_before;
  }
  return v;
}

Result<std::shared_ptr<const void>> prepare_volume(PrepareContext& c) {
  TROUPE_ASSIGN(VolumeAttrs attrs, read_volume_attrs(c.schema().name, c.attrs()));
  return prepared(attrs);
}

Result<Shape> volume_shape(std::int64_t batch, const Three& spatial, std::int64_t channels) {
  return Shape::make(std::array{batch, spatial[0], spatial[1], spatial[2], channels});
}

Status infer_volume_pool(ShapeContext& c) {
  TROUPE_ASSIGN(Ints dims, shape_rules::dims_of_rank(c, 0, 5));
  TROUPE_ASSIGN(const Ints window, c.attr<Ints>("ksize"));
  TROUPE_ASSIGN(const Ints stride, c.attr<Ints>("strides"));
  TROUPE_TRY(require_five("ksize", window));
  TROUPE_TRY(require_five("strides", stride));
  TROUPE_ASSIGN(const WindowPadding padding, read_padding(c.attrs()));
  const Layout layout = layout_of(c.attrs());
  for (std::size_t i = layout.first; i < layout.first + 3; ++i) {
    TROUPE_ASSIGN(dims[i], infer_extent(padding, 0, dims[i], window[i], 1, stride[i]));
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_volume_conv(ShapeContext& c) {
  TROUPE_ASSIGN(Ints dims, shape_rules::dims_of_rank(c, 0, 5));
  TROUPE_ASSIGN(const Ints filter, shape_rules::dims_of_rank(c, 1, 5));
  TROUPE_ASSIGN(const Ints stride, c.attr<Ints>("strides"));
  TROUPE_ASSIGN(const Ints dilation, c.attr<Ints>("dilations"));
  TROUPE_TRY(require_five("strides", stride));
  TROUPE_TRY(require_five("dilations", dilation));
  TROUPE_ASSIGN(const WindowPadding padding, read_padding(c.attrs()));
  const Layout layout = layout_of(c.attrs());
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t at = layout.first + i;
    TROUPE_ASSIGN(dims[at],
                  infer_extent(padding, 0, dims[at], filter[i], dilation[at], stride[at]));
  }
  if (dims[layout.depth] >= 0 && filter[3] > 0 && dims[layout.depth] % filter[3] != 0)
    return invalid_argument(
        str_cat("Dimensions must be equal, but are ", dims[layout.depth], " and ", filter[3]));
  dims[layout.depth] = filter[4];
  return c.set_output(0, PartialShape(std::move(dims)));
}

} // namespace troupe::nn
