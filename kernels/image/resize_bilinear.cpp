// ResizeBilinear: each pixel from the four around where it lies in the input.
#include <algorithm>
#include <cmath>

#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/image/internal/resize.hpp"

namespace troupe::image_resize_bilinear {
namespace {

using image::ResizeSizes;

/// Two neighbours and how far from the lower one a position is.
struct Between {
  std::int64_t lower = 0, upper = 0;
  float part = 0;
};

Between between(const image::ResizeAttrs& attrs, std::int64_t i, float scale, std::int64_t size) {
  const float at = image::resize_position(attrs.half_pixel_centers, i, scale);
  const float floor = std::floor(at);
  return {image::clamped(static_cast<std::int64_t>(floor), size),
          std::min(static_cast<std::int64_t>(std::ceil(at)), size - 1), at - floor};
}

/// Both neighbours of each pixel of a row, the lower one first.
image::Columns columns(const image::ResizeAttrs& attrs, const ResizeSizes& s) {
  image::Columns out(s);
  for (std::int64_t x = 0; x < s.to_width; ++x) {
    const Between at = between(attrs, x, s.width_scale, s.from_width);
    out.add(at.lower, 1.0F - at.part);
    out.add(at.upper, at.part);
    out.end_pixel();
  }
  return out;
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_sizes(c));
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_ASSIGN(const Tensor images, widened(c, c.input(0), DType::float32));
  if (s.from_height == s.to_height && s.from_width == s.to_width)
    return c.set_output(0, images); // infinities too, which weights of 0 would make NaN
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const image::Columns xs = columns(attrs, s);
  const float* from = images.data<float>().data();
  float* to = out.mutable_data<float>().data();
  c.parallel_for(
      s.batch * s.to_height, 0.5 * static_cast<double>(s.to_row()),
      [&](std::int64_t begin, std::int64_t end) {
        image::WideRows rows(arith::blend_columns, xs.view(), from, s.from_row(), 2);
        for (std::int64_t row = begin; row < end; ++row) {
          const Between y = between(attrs, row % s.to_height, s.height_scale, s.from_height);
          const std::int64_t first = row / s.to_height * s.from_height;
          const float* top = rows[first + y.lower];
          arith::blend_rows(top, rows[first + y.upper], y.part, s.to_row(), to + row * s.to_row());
        }
      });
  return {};
}

/// Adds weights of xs times `factor` times a row of gradients to a row.
void spread_row(const arith::ResizeColumns& xs, const float* grads, float factor, float* to) {
  arith::spread_columns(xs, grads, factor, to);
}
void spread_row(const arith::ResizeColumns& xs, const float* grads, float factor, double* to) {
  for (std::int64_t x = 0; x < xs.width; ++x, grads += xs.channels)
    for (std::int64_t k = xs.starts[x]; k < xs.starts[x + 1]; ++k)
      for (std::int64_t i = 0; i < xs.channels; ++i)
        to[xs.at[k] + i] += static_cast<double>(grads[i] * factor * xs.weights[k]);
}

template <class T>
void spread(KernelContext& c, const ResizeSizes& s, Tensor& out) {
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const image::Columns xs = columns(attrs, s);
  const float* grads = c.input(0).data<float>().data();
  std::ranges::fill(out.mutable_data<T>(), T{});
  T* to = out.mutable_data<T>().data();
  c.parallel_for(s.batch, static_cast<double>(s.to_height * s.to_row()),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin * s.to_height; row < end * s.to_height; ++row) {
                     const Between y =
                         between(attrs, row % s.to_height, s.height_scale, s.from_height);
                     T* image = to + row / s.to_height * s.from_height * s.from_row();
                     const float* from = grads + row * s.to_row();
                     spread_row(xs.view(), from, 1.0F - y.part, image + y.lower * s.from_row());
                     spread_row(xs.view(), from, y.part, image + y.upper * s.from_row());
                   }
                 });
}

/// Half and bfloat16 are summed in float.
Status compute_grad(KernelContext& c) {
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_grad_sizes(c));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{s.batch, s.from_height, s.from_width, s.channels}));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, shape));
  if (out.dtype() == DType::float64)
    spread<double>(c, s, out);
  else
    spread<float>(c, s, out);
  return narrow(c, 0, out);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ResizeBilinear")
      .input("images: T; size: int32")
      .output("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, "
            "bfloat16}")
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(image::infer_resize)
      .not_differentiable("ResizeBilinearGrad is its gradient; clients build it")
      .cpu_kernel(compute, image::resize_options(image::real_dtypes()))
      .doc("Images of another size, each pixel from the four around where it lies.");
  library.op("ResizeBilinearGrad")
      .input("grads: float; original_image: T")
      .output("output: T")
      .attr("T: {float, bfloat16, half, double}")
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(image::infer_resize_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, image::resize_options({DType::float32, DType::float64,
                                                       DType::float16, DType::bfloat16}))
      .doc("The gradient of ResizeBilinear.");
}

} // namespace troupe::image_resize_bilinear
