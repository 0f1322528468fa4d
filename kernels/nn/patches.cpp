// ExtractImagePatches and ExtractVolumePatches: each window's elements, one after the other, as the
// channels of one position; zeros where it lies outside.
#include <array>
#include <cstring>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/volume.hpp"

namespace troupe::nn_patches {
namespace {

using Ints = std::vector<std::int64_t>;

/// The spatial sizes of an attribute, before them ones so that there are three.
template <std::size_t rank>
Result<nn::Three> spatial(std::string_view op, const AttrMap& attrs, std::string_view name) {
  TROUPE_ASSIGN(const Ints sizes, attrs.get<Ints>(name));
  if (sizes.size() != rank)
    return invalid_argument(str_cat(op, " requires the ", name, " attribute to contain ", rank,
                                    " values, but got: ", sizes.size()));
  if (sizes[0] != 1 || sizes[rank - 1] != 1)
    return unimplemented(str_cat("Only support ", name, " across space."));
  nn::Three out = {1, 1, 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) {
    if (sizes[i] < 1)
      return out_of_range(str_cat(name, " is out of range."));
    out[i + 4 - rank] = sizes[i];
  }
  TROUPE_TRY(nn::require_moderate(name, sizes));
  return out;
}

template <std::size_t rank>
Result<nn::VolumeAttrs> read_attrs(std::string_view op, const AttrMap& attrs) {
  nn::VolumeAttrs out;
  TROUPE_ASSIGN(out.window, spatial<rank>(op, attrs, "ksizes"));
  TROUPE_ASSIGN(out.stride, spatial<rank>(op, attrs, "strides"));
  if (rank == 4) {
    TROUPE_ASSIGN(out.dilation, spatial<rank>(op, attrs, "rates"));
  }
  TROUPE_ASSIGN(out.padding, nn::read_padding(attrs));
  return out;
}

template <std::size_t rank>
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(nn::VolumeAttrs attrs, read_attrs<rank>(c.schema().name, c.attrs()));
  return prepared(attrs);
}

Result<std::int64_t> patch_depth(const nn::VolumeAttrs& attrs, std::int64_t channels) {
  std::int64_t depth = channels;
  for (const std::int64_t k : attrs.window) {
    TROUPE_ASSIGN(depth, shape_rules::multiply_dims(depth, k));
  }
  return depth;
}

template <std::size_t rank>
Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.shape().rank() != static_cast<int>(rank))
    return invalid_argument(str_cat("input must be ", rank, "-dimensional", x.shape()));
  const auto& attrs = c.prepared<nn::VolumeAttrs>();
  nn::Volume v;
  v.batch = x.shape()[0];
  v.channels = x.shape()[static_cast<int>(rank) - 1];
  v.window = attrs.window;
  v.stride = attrs.stride;
  v.dilation = attrs.dilation;
  v.in = v.out = {1, 1, 1};
  Ints dims = {v.batch};
  for (std::size_t i = 5 - rank; i < 3; ++i) {
    v.in[i] = x.shape()[static_cast<int>(i + rank - 4)];
    TROUPE_ASSIGN(const nn::Extent extent, nn::window_extent(attrs.padding, 0, v.in[i], v.window[i],
                                                             v.dilation[i], v.stride[i]));
    v.out[i] = extent.output;
    v.before[i] = extent.pad_before;
    dims.push_back(extent.output);
  }
  TROUPE_ASSIGN(const std::int64_t depth, patch_depth(attrs, v.channels));
  dims.push_back(depth);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  const std::size_t element = dtype_size(x.dtype());
  const std::size_t pixel = element * static_cast<std::size_t>(v.channels);
  const std::size_t patch = element * static_cast<std::size_t>(depth);
  const auto* from = static_cast<const std::byte*>(x.raw());
  auto* to = static_cast<std::byte*>(y.mutable_raw());
  c.parallel_for(
      v.batch * v.out_positions(), 10 + 0.3 * static_cast<double>(patch),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o) {
          std::byte* at = to + static_cast<std::size_t>(o) * patch;
          const std::byte* image =
              from + static_cast<std::size_t>(o / v.out_positions() * v.in_positions()) * pixel;
          std::memset(at, 0, patch);
          nn::for_each_in_window(v, o % v.out_positions(), [&](std::int64_t in, std::int64_t k) {
            std::memcpy(at + static_cast<std::size_t>(k) * pixel,
                        image + static_cast<std::size_t>(in) * pixel, pixel);
          });
        }
      });
  return {};
}

template <std::size_t rank>
Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto in, shape_rules::dims_of_rank(c, 0, static_cast<int>(rank)));
  TROUPE_ASSIGN(const nn::VolumeAttrs attrs, read_attrs<rank>(c.schema().name, c.attrs()));
  Ints out = in;
  for (std::size_t i = 1; i + 1 < rank; ++i) {
    const std::size_t at = i + 4 - rank;
    TROUPE_ASSIGN(out[i], nn::infer_extent(attrs.padding, 0, in[i], attrs.window[at],
                                           attrs.dilation[at], attrs.stride[at]));
  }
  TROUPE_ASSIGN(out[rank - 1], patch_depth(attrs, in[rank - 1]));
  return c.set_output(0, PartialShape(std::move(out)));
}

KernelOptions options(PrepareFn prepare, bool all) {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::int32, DType::uint8, DType::int16,
                 DType::int8, DType::int64, DType::bfloat16, DType::uint16, DType::float16,
                 DType::uint32, DType::uint64}}};
  if (all)
    for (DType more : {DType::complex64, DType::complex128})
      out.types[0].dtypes.push_back(more);
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ExtractImagePatches")
      .input("images: T")
      .output("patches: T")
      .attr("ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
            "uint64, complex64, complex128, bool}")
      .attr("padding: {'SAME', 'VALID'}")
      .shape_fn(infer<4>)
      .not_differentiable("clients build its gradient of a sparse product")
      .cpu_kernel(compute<4>, options(prepare<4>, true))
      .doc(
          "The elements of each window that slides over the images, in the channels of one pixel.");
  library.op("ExtractVolumePatches")
      .input("input: T")
      .output("patches: T")
      .attr("ksizes: list(int) >= 5; strides: list(int) >= 5")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64}")
      .attr("padding: {'SAME', 'VALID'}")
      .shape_fn(infer<5>)
      .not_differentiable("clients build its gradient of a sparse product")
      .cpu_kernel(compute<5>, options(prepare<5>, false))
      .doc("The same over volumes [batch, planes, rows, columns, channels].");
}

} // namespace troupe::nn_patches
