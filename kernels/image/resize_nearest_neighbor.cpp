// ResizeNearestNeighbor: each pixel is that of the input where it lies. Its gradient adds up what
// each pixel was taken for.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/image/internal/resize.hpp"

namespace troupe::image_resize_nearest_neighbor {
namespace {

using image::ResizeSizes;

std::int64_t nearest(const image::ResizeAttrs& attrs, std::int64_t i, float scale,
                     std::int64_t size) {
  const float at = (static_cast<float>(i) + (attrs.half_pixel_centers ? 0.5F : 0.0F)) * scale;
  return image::clamped(
      static_cast<std::int64_t>(attrs.align_corners ? std::round(at) : std::floor(at)), size);
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_sizes(c));
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (s.from_height >= most || s.from_width >= most)
    return invalid_argument("nearest neighbor requires max height & width of 2^24");
  if (out.num_elements() == 0)
    return {};
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const auto pixel = static_cast<std::size_t>(s.channels) * dtype_size(out.dtype());
  std::vector<std::size_t> xs(static_cast<std::size_t>(s.to_width));
  for (std::size_t x = 0; x < xs.size(); ++x)
    xs[x] = pixel * static_cast<std::size_t>(
                        nearest(attrs, static_cast<std::int64_t>(x), s.width_scale, s.from_width));
  const auto* from = static_cast<const std::byte*>(c.input(0).raw());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  c.parallel_for(s.batch * s.to_height, static_cast<double>(s.to_row()),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const std::int64_t y =
                         row / s.to_height * s.from_height +
                         nearest(attrs, row % s.to_height, s.height_scale, s.from_height);
                     const std::byte* line =
                         from + static_cast<std::size_t>(y * s.from_width) * pixel;
                     std::byte* at = to + static_cast<std::size_t>(row * s.to_width) * pixel;
                     for (const std::size_t x : xs) {
                       std::memcpy(at, line + x, pixel);
                       at += pixel;
                     }
                   }
                 });
  return {};
}

template <class T>
using Key = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

Status compute_grad(KernelContext& c) {
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const Shape &grads = c.input(0).shape(), &size = c.input(1).shape();
  if (grads.rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", grads));
  if (size.rank() != 1)
    return invalid_argument(str_cat("shape_t must be 1-dimensional", size));
  if (size[0] != 2)
    return invalid_argument(str_cat("shape_t must have two elements", size));
  const std::int64_t height = c.input(1).data<std::int32_t>()[0];
  const std::int64_t width = c.input(1).data<std::int32_t>()[1];
  if (height <= 0 || width <= 0)
    return invalid_argument("shape_t's elements must be positive");
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{grads[0], height, width, grads[3]}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const float y_scale = image::resize_scale(height, grads[1], attrs.align_corners);
  const float x_scale = image::resize_scale(width, grads[2], attrs.align_corners);
  return dispatch(image::Reals{}, out.dtype(), [&]<class T>() -> Status {
    std::ranges::fill(out.mutable_data<T>(), T{});
    if (out.num_elements() == 0 || c.input(0).num_elements() == 0)
      return {};
    const T* from = c.input(0).data<T>().data();
    T* to = out.mutable_data<T>().data();
    c.serial_for(grads[0] * grads[1], 3.0 * static_cast<double>(grads[2] * grads[3]),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const std::int64_t y =
                         row / grads[1] * height + nearest(attrs, row % grads[1], y_scale, height);
                     for (std::int64_t x = 0; x < grads[2]; ++x) {
                       T* at = to + (y * width + nearest(attrs, x, x_scale, width)) * grads[3];
                       const T* grad = from + (row * grads[2] + x) * grads[3];
                       for (std::int64_t k = 0; k < grads[3]; ++k)
                         at[k] = T(Key<T>(at[k]) + Key<T>(grad[k]));
                     }
                   }
                 });
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ResizeNearestNeighbor")
      .input("images: T; size: int32")
      .output("resized_images: T")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(image::infer_resize)
      .not_differentiable("ResizeNearestNeighborGrad is its gradient; clients build it")
      .cpu_kernel(compute, image::resize_options(image::real_dtypes()))
      .doc("Images of another size, each pixel that of the input where it lies.");
  library.op("ResizeNearestNeighborGrad")
      .input("grads: T; size: int32")
      .output("output: T")
      .attr("T: {uint8, int8, int32, half, float, double, bfloat16}")
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(image::infer_resize)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, image::resize_options(image::real_dtypes()))
      .doc("The gradient of ResizeNearestNeighbor, for images of `size`.");
}

} // namespace troupe::image_resize_nearest_neighbor
