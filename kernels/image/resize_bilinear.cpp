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

std::vector<Between> columns(const image::ResizeAttrs& attrs, const ResizeSizes& s) {
  std::vector<Between> out(static_cast<std::size_t>(s.to_width));
  for (std::size_t x = 0; x < out.size(); ++x) {
    out[x] = between(attrs, static_cast<std::int64_t>(x), s.width_scale, s.from_width);
    out[x].lower *= s.channels;
    out[x].upper *= s.channels;
  }
  return out;
}

template <class T>
void resize_row(const T* top, const T* bottom, const std::vector<Between>& xs, float y_part,
                std::int64_t channels, float* to) {
  const auto value = [](T x) { return static_cast<float>(x); };
  for (const Between& x : xs)
    for (std::int64_t c = 0; c < channels; ++c) {
      const float left = value(top[x.lower + c]), below = value(bottom[x.lower + c]);
      const float upper = left + (value(top[x.upper + c]) - left) * x.part;
      const float lower = below + (value(bottom[x.upper + c]) - below) * x.part;
      *to++ = upper + (lower - upper) * y_part;
    }
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_sizes(c));
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const std::vector<Between> xs = columns(attrs, s);
  float* to = out.mutable_data<float>().data();
  return dispatch(image::Reals{}, c.input(0).dtype(), [&]<class T>() -> Status {
    const T* from = c.input(0).data<T>().data();
    c.parallel_for(s.batch * s.to_height, 3.0 * static_cast<double>(s.to_row()),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const Between y =
                           between(attrs, row % s.to_height, s.height_scale, s.from_height);
                       const T* image = from + row / s.to_height * s.from_height * s.from_row();
                       resize_row(image + y.lower * s.from_row(), image + y.upper * s.from_row(),
                                  xs, y.part, s.channels, to + row * s.to_row());
                     }
                   });
    return {};
  });
}

template <class T>
void spread(KernelContext& c, const ResizeSizes& s, Tensor& out) {
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const std::vector<Between> xs = columns(attrs, s);
  const float* grads = c.input(0).data<float>().data();
  std::ranges::fill(out.mutable_data<T>(), T{});
  T* to = out.mutable_data<T>().data();
  c.serial_for(s.batch * s.to_height, 4.0 * static_cast<double>(s.to_row()),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const Between y =
                       between(attrs, row % s.to_height, s.height_scale, s.from_height);
                   T* image = to + row / s.to_height * s.from_height * s.from_row();
                   T *top = image + y.lower * s.from_row(),
                     *bottom = image + y.upper * s.from_row();
                   const float* from = grads + row * s.to_row();
                   for (const Between& x : xs)
                     for (std::int64_t k = 0; k < s.channels; ++k) {
                       const float grad = *from++;
                       top[x.lower + k] += static_cast<T>(grad * (1.0F - y.part) * (1.0F - x.part));
                       top[x.upper + k] += static_cast<T>(grad * (1.0F - y.part) * x.part);
                       bottom[x.lower + k] += static_cast<T>(grad * y.part * (1.0F - x.part));
                       bottom[x.upper + k] += static_cast<T>(grad * y.part * x.part);
                     }
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
