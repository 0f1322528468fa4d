#include "kernels/image/internal/resize.hpp"

#include <array>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::image {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

Status check_attrs(const ResizeAttrs& attrs) {
  if (attrs.half_pixel_centers && attrs.align_corners)
    return invalid_argument("If half_pixel_centers is True, align_corners must be False.");
  return {};
}

} // namespace

std::vector<DType> real_dtypes() {
  return {DType::float32, DType::float64, DType::int32,  DType::uint8,
          DType::int16,   DType::int8,    DType::int64,  DType::bfloat16,
          DType::uint16,  DType::float16, DType::uint32, DType::uint64};
}

Result<std::shared_ptr<const void>> prepare_resize(PrepareContext& c) {
  return prepared(ResizeAttrs{c.attrs().get_or("align_corners", false),
                              c.attrs().get_or("half_pixel_centers", false)});
}

float resize_scale(std::int64_t in, std::int64_t out, bool align_corners) {
  return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                  : static_cast<float>(in) / static_cast<float>(out);
}

Result<ResizeSizes> resize_sizes(KernelContext& c) {
  const auto& attrs = c.prepared<ResizeAttrs>();
  TROUPE_TRY(check_attrs(attrs));
  const Shape &in = c.input(0).shape(), &size = c.input(1).shape();
  if (in.rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", in));
  if (in[3] <= 0)
    return invalid_argument("image must have at least one channel");
  if (in[1] <= 0 || in[2] <= 0)
    return invalid_argument("input image must be of non-zero size");
  if (in[1] >= most || in[2] >= most)
    return invalid_argument("input sizes must be between 0 and max int32");
  if (size.rank() != 1)
    return invalid_argument(str_cat("shape_t must be 1-dimensional", size));
  if (size[0] != 2)
    return invalid_argument(str_cat("shape_t must have two elements", size));
  const auto to = c.input(1).data<std::int32_t>();
  if (to[0] <= 0 || to[1] <= 0)
    return invalid_argument("output dimensions must be positive");
  ResizeSizes s{in[0], in[3], in[1], in[2], to[0], to[1], 0, 0};
  s.height_scale = resize_scale(s.from_height, s.to_height, attrs.align_corners);
  s.width_scale = resize_scale(s.from_width, s.to_width, attrs.align_corners);
  return s;
}

Result<ResizeSizes> resize_grad_sizes(KernelContext& c) {
  const auto& attrs = c.prepared<ResizeAttrs>();
  TROUPE_TRY(check_attrs(attrs));
  const Shape &grads = c.input(0).shape(), &images = c.input(1).shape();
  if (grads.rank() != 4)
    return invalid_argument(str_cat("input_grad must be 4-dimensional", grads));
  if (grads[1] <= 0 || grads[2] <= 0)
    return invalid_argument("resized dimensions must be positive");
  if (images.rank() != 4)
    return invalid_argument(str_cat("original_image must be 4-dimensional", images));
  if (images[1] <= 0 || images[2] <= 0)
    return invalid_argument("original dimensions must be positive");
  if (images[1] >= most || images[2] >= most)
    return invalid_argument("original sizes must be between 0 and max int32");
  if (grads[1] >= most || grads[2] >= most)
    return invalid_argument("resized sizes must be between 0 and max int32");
  ResizeSizes s{grads[0], grads[3], images[1], images[2], grads[1], grads[2], 0, 0};
  s.height_scale = resize_scale(s.from_height, s.to_height, attrs.align_corners);
  s.width_scale = resize_scale(s.from_width, s.to_width, attrs.align_corners);
  return s;
}

Result<Shape> resized_shape(const ResizeSizes& s) {
  return Shape::make(std::array{s.batch, s.to_height, s.to_width, s.channels});
}

Status infer_resize(ShapeContext& c) {
  TROUPE_ASSIGN(auto out, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, 1, 1));
  TROUPE_TRY(shape_rules::merge_dims(size[0], 2).status());
  const auto to = c.input_as_ints(1);
  for (std::size_t i = 0; i < 2; ++i)
    out[i + 1] = to && (*to)[i] >= 0 ? (*to)[i] : shape_rules::unknown_dim;
  return c.set_output(0, PartialShape(std::move(out)));
}

Status infer_resize_grad(ShapeContext& c) {
  TROUPE_ASSIGN(auto grads, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(auto out, shape_rules::dims_of_rank(c, 1, 4));
  // Batch and channels are those of the gradients, which say what is computed.
  out[0] = grads[0];
  out[3] = grads[3];
  return c.set_output(0, PartialShape(std::move(out)));
}

KernelOptions resize_options(std::vector<DType> types, PrepareFn prepare) {
  KernelOptions out;
  out.types = {{"T", std::move(types)}};
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

} // namespace troupe::image
