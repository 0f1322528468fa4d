// QuantizedResizeBilinear: quantised images of another size, each number from the four around where
// it lies; the range stays. Integers are interpolated in fixed point.
#include "kernels/image/internal/resize.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_resize_bilinear {
namespace {

using image::ResizeSizes;
using quantized::Range;

Status infer(ShapeContext& c) {
  TROUPE_TRY(image::infer_resize(c));
  return quantized::infer_ranges(c, 2, 4);
}

std::string must_be_a_scalar(std::string_view name, const Shape& /*shape*/) {
  return str_cat(name, " must be a scalar");
}

/// Corners may be aligned and half pixels counted together here, as in TensorFlow: what looks at
/// the sizes sees the first alone.
struct Attrs : image::ResizeAttrs {
  bool half_pixels = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  out.align_corners = c.attrs().get_or("align_corners", false);
  out.half_pixels = c.attrs().get_or("half_pixel_centers", false);
  return prepared(out);
}

/// Two neighbours and how far from the lower one a position is.
struct Between {
  std::int64_t lower = 0, upper = 0;
  float part = 0;
};

std::vector<Between> positions(const Attrs& attrs, std::int64_t to, float scale,
                               std::int64_t size) {
  std::vector<Between> out(static_cast<std::size_t>(to));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float at = image::resize_position(attrs.half_pixels, static_cast<std::int64_t>(i), scale);
    const float floor = std::floor(at);
    out[i] = {std::max<std::int64_t>(static_cast<std::int64_t>(floor), 0),
              std::min(static_cast<std::int64_t>(std::ceil(at)), size - 1), at - floor};
    out[i].lower = std::min(out[i].lower, size - 1);
  }
  return out;
}

/// `digits` binary digits after the point.
template <class Q, class Wide, int digits>
struct FixedPoint {
  static constexpr Wide one = Wide{1} << digits;
  using Part = Wide;
  static Part part(float x) { return static_cast<Wide>(x * static_cast<float>(one)); }
  /// TensorFlow's qint32 become int64 by way of float.
  static Wide value(Q q) {
    return sizeof(Q) == 4 ? static_cast<Wide>(static_cast<float>(q.bits))
                          : static_cast<Wide>(q.bits);
  }
  static Q between(Q top_left, Q top_right, Q bottom_left, Q bottom_right, Part x, Part y) {
    const Wide a = value(top_left), b = value(bottom_left);
    const Wide top = a * one + (value(top_right) - a) * x;
    const Wide bottom = b * one + (value(bottom_right) - b) * x;
    const Wide out = top + (bottom - top) / one * y;
    return {static_cast<quantized::Bits<Q>>((out + one / 2) / one)};
  }
};

struct InFloat {
  using Part = float;
  static float part(float x) { return x; }
  static float between(float top_left, float top_right, float bottom_left, float bottom_right,
                       float x, float y) {
    const float top = top_left + (top_right - top_left) * x;
    const float bottom = bottom_left + (bottom_right - bottom_left) * x;
    return top + (bottom - top) * y;
  }
};

template <class Q, class Arithmetic>
void resize(KernelContext& c, const ResizeSizes& s, const Tensor& images, Tensor& out) {
  const auto& attrs = c.prepared<Attrs>();
  if (out.num_elements() == 0)
    return; // its places may be any number
  const auto xs = positions(attrs, s.to_width, s.width_scale, s.from_width);
  const auto ys = positions(attrs, s.to_height, s.height_scale, s.from_height);
  const Q* from = images.data<Q>().data();
  Q* into = out.mutable_data<Q>().data();
  c.parallel_for(s.batch * s.to_height, 4.0 * static_cast<double>(s.to_row()),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const Between& y = ys[static_cast<std::size_t>(row % s.to_height)];
                     const Q* image = from + row / s.to_height * s.from_height * s.from_row();
                     const Q *top = image + y.lower * s.from_row(),
                             *bottom = image + y.upper * s.from_row();
                     const auto y_part = Arithmetic::part(y.part);
                     Q* to = into + row * s.to_row();
                     for (const Between& x : xs) {
                       const auto x_part = Arithmetic::part(x.part);
                       const std::int64_t left = x.lower * s.channels, right = x.upper * s.channels;
                       for (std::int64_t k = 0; k < s.channels; ++k)
                         *to++ =
                             Arithmetic::between(top[left + k], top[right + k], bottom[left + k],
                                                 bottom[right + k], x_part, y_part);
                     }
                   }
                 });
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const float least, quantized::bound_of(c, 2, "min", must_be_a_scalar));
  TROUPE_ASSIGN(const float most, quantized::bound_of(c, 3, "max", must_be_a_scalar));
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_sizes(c));
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_TRY(quantized::set_range(c, 1, {least, most}));
  if (shape == c.input(0).shape())
    return c.set_output(0, c.input(0));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.dtype() == DType::float32)
    resize<float, InFloat>(c, s, c.input(0), out);
  else if (out.dtype() == DType::quint8)
    resize<QUInt8, FixedPoint<QUInt8, std::int32_t, 7>>(c, s, c.input(0), out);
  else
    resize<QInt32, FixedPoint<QInt32, std::int64_t, 30>>(c, s, c.input(0), out);
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("QuantizedResizeBilinear")
      .input("images: T; size: int32; min: float; max: float")
      .output("resized_images: T; out_min: float; out_max: float")
      .attr("T: {quint8, qint32, float}")
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute,
                  image::resize_options({DType::quint8, DType::qint32, DType::float32}, prepare))
      .doc("Quantised images of another size, from the four numbers around; the range stays.");
}

} // namespace troupe::quantized_resize_bilinear
