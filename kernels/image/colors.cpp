// RGBToHSV and HSVToRGB; AdjustHue and AdjustSaturation, which go there and back for each pixel.
#include <algorithm>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::image_colors {
namespace {

template <class T>
void rgb_to_hsv(const T* rgb, T* hsv) {
  const T r = rgb[0], g = rgb[1], b = rgb[2];
  const T value = std::max(r, std::max(g, b)), range = value - std::min(r, std::min(g, b));
  const T norm = T(1) / range * (T(1) / T(6));
  T hue = 0;
  if (range > 0) {
    if (r == value)
      hue = norm * (g - b);
    else if (g == value)
      hue = norm * (b - r) + T(2) / T(6);
    else
      hue = norm * (r - g) + T(4) / T(6);
  }
  hsv[0] = hue < 0 ? hue + 1 : hue;
  hsv[1] = value > 0 ? range / value : T(0);
  hsv[2] = value;
}

template <class T>
void hsv_to_rgb(const T* hsv, T* rgb) {
  const T hue = hsv[0] * 6, saturation = hsv[1], value = hsv[2];
  const auto unit = [](T x) { return std::min(std::max(x, T(0)), T(1)); };
  const T parts[] = {unit(std::abs(hue - 3) - 1), unit(2 - std::abs(hue - 2)),
                     unit(2 - std::abs(hue - 4))};
  for (int i = 0; i < 3; ++i)
    rgb[i] = (1 - saturation + saturation * parts[i]) * value;
}

/// The pixel with its hue turned by `turns`: the largest and the least part stay, and which of the
/// colors they are changes.
void turn_hue(const float* from, float turns, float* to) {
  const float low = std::min(from[0], std::min(from[1], from[2]));
  const float high = std::max(from[0], std::max(from[1], from[2]));
  float hsv[3];
  rgb_to_hsv(from, hsv);
  float hue = std::fmod(high == low ? turns * 6 : (hsv[0] + turns) * 6, 6.0F);
  if (hue < 0)
    hue += 6;
  const int sector = hue >= 0 && hue < 6 ? static_cast<int>(hue) : 0;
  const float part = hue - static_cast<float>(sector);
  const float middle = low + (sector % 2 == 0 ? part : 1 - part) * (high - low);
  // Which color is the largest and which the least in each sector; the third is between.
  constexpr int largest[] = {0, 1, 1, 2, 2, 0}, least[] = {2, 2, 0, 0, 1, 1};
  to[0] = to[1] = to[2] = middle;
  to[largest[sector]] = high;
  to[least[sector]] = low;
}

void scale_saturation(const float* from, float scale, float* to) {
  float hsv[3];
  rgb_to_hsv(from, hsv);
  hsv[1] = std::min(1.0F, std::max(0.0F, hsv[1] * scale));
  hsv_to_rgb(hsv, to);
}

/// Calls convert(from, to) for each pixel of input 0.
template <class T, class Convert>
Status convert_pixels(KernelContext& c, Convert convert) {
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const T* from = c.input(0).data<T>().data();
  T* to = out.mutable_data<T>().data();
  c.parallel_for(out.num_elements() / 3, 12, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      convert(from + 3 * i, to + 3 * i);
  });
  return {};
}

template <bool to_hsv>
Status compute(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() < 1)
    return invalid_argument(str_cat("input must be at least 1D", shape));
  if (shape[shape.rank() - 1] != 3)
    return failed_precondition(str_cat("input must have 3 channels but input only has ",
                                       shape[shape.rank() - 1], " channels."));
  return dispatch(Types<float, double>{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return convert_pixels<T>(c, to_hsv ? rgb_to_hsv<T> : hsv_to_rgb<T>);
  });
}

Status check_adjustment(KernelContext& c, std::string_view name) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() < 3)
    return invalid_argument(str_cat("input must be at least 3-D, got shape", shape));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat(name, " must be scalar: ", c.input(1).shape()));
  if (shape[shape.rank() - 1] != 3)
    return invalid_argument(str_cat("input must have 3 channels but instead has ",
                                    shape[shape.rank() - 1], " channels."));
  return {};
}

Status compute_hue(KernelContext& c) {
  TROUPE_TRY(check_adjustment(c, "delta"));
  const float turns = c.input(1).value<float>();
  return convert_pixels<float>(
      c, [turns](const float* from, float* to) { turn_hue(from, turns, to); });
}

Status compute_saturation(KernelContext& c) {
  TROUPE_TRY(check_adjustment(c, "scale"));
  const float scale = c.input(1).value<float>();
  return convert_pixels<float>(
      c, [scale](const float* from, float* to) { scale_saturation(from, scale, to); });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  const PartialShape& in = c.input(0);
  if (!in.has_rank())
    return c.output_like(0, 0);
  auto dims = in.dims();
  TROUPE_ASSIGN(dims.back(), shape_rules::merge_dims(dims.back(), 3));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_adjustment(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 3));
  return c.output_like(0, 0);
}

KernelOptions options(std::vector<DType> types) {
  KernelOptions out;
  out.types = {{"T", std::move(types)}};
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  auto conversion = [&](const char* name, KernelFn compute, KernelFn compute_small,
                        const char* doc) {
    library.op(name)
        .input("images: T")
        .output("output: T")
        .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
        .shape_fn(infer)
        .not_differentiable(
            "TensorFlow builds a gradient of RGBToHSV of other ops, of HSVToRGB none")
        .cpu_kernel(compute, options({DType::float32, DType::float64}))
        .cpu_kernel(compute_small, options({DType::float16, DType::bfloat16}))
        .doc(doc);
  };
  conversion("RGBToHSV", compute<true>, in_wider<compute<true>>,
             "Hue, saturation and value of pixels of red, green and blue; all from 0 to 1.");
  conversion("HSVToRGB", compute<false>, in_wider<compute<false>>,
             "Red, green and blue of pixels of hue, saturation and value; all from 0 to 1.");
  auto adjustment = [&](const char* name, const char* inputs, KernelFn compute, const char* doc) {
    library.op(name)
        .input(inputs)
        .output("output: T")
        .attr("T: {half, float} = DT_FLOAT")
        .shape_fn(infer_adjustment)
        .not_differentiable("TensorFlow has no gradient of it")
        .cpu_kernel(compute, options({DType::float32}))
        .doc(doc);
  };
  adjustment("AdjustHue", "images: T; delta: float", compute_hue,
             "Pixels whose hue is turned by `delta` of a full turn.");
  adjustment("AdjustSaturation", "images: T; scale: float", compute_saturation,
             "Pixels whose saturation is multiplied with `scale`, and kept from 0 to 1.");
}

} // namespace troupe::image_colors
