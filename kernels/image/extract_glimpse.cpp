// ExtractGlimpse: a window of each image around a place; noise where it lies outside.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "kernels/arith/philox.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::image_extract_glimpse {
namespace {

enum class Noise : std::uint8_t { uniform, gaussian, zero };

struct Attrs {
  bool first = false, centered = true, normalized = true;
  Noise noise = Noise::uniform;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  out.first = c.schema().name == "ExtractGlimpse";
  TROUPE_ASSIGN(out.centered, c.attr<bool>("centered"));
  TROUPE_ASSIGN(out.normalized, c.attr<bool>("normalized"));
  TROUPE_ASSIGN(const auto uniform, c.attr<bool>("uniform_noise"));
  TROUPE_ASSIGN(const auto noise, c.attr<std::string>("noise"));
  if (uniform && !noise.empty() && noise != "uniform")
    return invalid_argument("The uniform_noise and noise could not be specified at the same time");
  if (noise == "zero")
    out.noise = Noise::zero;
  else if (noise == "gaussian" || (noise.empty() && !uniform))
    out.noise = Noise::gaussian;
  else if (!noise.empty() && noise != "uniform")
    return invalid_argument(
        str_cat("The noise could only be uniform, gaussian, or zero, got", noise));
  return prepared(out);
}

/// Where a window of `window` pixels begins in a dimension of `size`.
std::int64_t start(const Attrs& a, float at, std::int64_t size, std::int64_t window) {
  const auto length = static_cast<float>(size), half = static_cast<float>(window) / 2;
  if (a.first || a.normalized) {
    if (a.normalized)
      at *= length;
    if (a.centered)
      at = at / 2 + length / 2;
    if (a.first || a.centered)
      at -= half;
  } else if (a.centered) {
    at += length / 2;
  }
  constexpr float far = 4e9F;
  return std::isnan(at) ? 0 : static_cast<std::int64_t>(std::clamp(at, -far, far));
}

struct Sizes {
  std::int64_t height = 0, width = 0, channels = 0, out_height = 0, out_width = 0;
  std::int64_t image() const { return height * width * channels; }
  std::int64_t glimpse() const { return out_height * out_width * channels; }
};

/// Fills a glimpse with noise of the kind of the image's numbers.
void fill(const Sizes& s, Noise noise, const float* image, float* to) {
  std::fill_n(to, s.glimpse(), 0.0F);
  if (noise == Noise::zero)
    return;
  const auto generator = arith::Philox::from_seeds(random_id(), random_id());
  if (noise == Noise::uniform) {
    arith::fill_uniform(arith::Type::float32, generator, to, 0, s.glimpse());
    const auto [least, most] = std::minmax_element(image, image + s.image());
    for (std::int64_t i = 0; i < s.glimpse(); ++i)
      to[i] = *least + to[i] * (*most - *least);
    return;
  }
  arith::fill_normal(arith::Type::float32, generator, to, 0, s.glimpse());
  for (std::int64_t k = 0; k < s.channels; ++k) {
    double sum = 0, squares = 0;
    float least = image[k], most = image[k];
    const auto count = static_cast<double>(s.height * s.width);
    for (std::int64_t i = k; i < s.image(); i += s.channels) {
      sum += static_cast<double>(image[i]);
      least = std::min(least, image[i]);
      most = std::max(most, image[i]);
    }
    for (std::int64_t i = k; i < s.image(); i += s.channels)
      squares += std::pow(static_cast<double>(image[i]) - sum / count, 2);
    const auto mean = static_cast<float>(sum / count);
    const auto deviation = static_cast<float>(std::sqrt(squares / count));
    for (std::int64_t i = k; i < s.glimpse(); i += s.channels)
      to[i] = std::max(std::min(mean + to[i] * deviation, most), least);
  }
}

void copy_window(const Sizes& s, const Attrs& a, float y, float x, const float* image, float* to) {
  const std::int64_t top = start(a, y, s.height, s.out_height);
  const std::int64_t left = start(a, x, s.width, s.out_width);
  if (top < 0 || left < 0 || top + s.out_height > s.height || left + s.out_width > s.width)
    fill(s, a.noise, image, to);
  const std::int64_t first = std::max<std::int64_t>(left, 0);
  const std::int64_t last = std::min(left + s.out_width, s.width);
  for (std::int64_t i = std::max<std::int64_t>(top, 0);
       first < last && i < std::min(top + s.out_height, s.height); ++i)
    std::copy_n(image + (i * s.width + first) * s.channels, (last - first) * s.channels,
                to + ((i - top) * s.out_width + first - left) * s.channels);
}

Status compute(KernelContext& c) {
  const Shape &images = c.input(0).shape(), &window = c.input(1).shape();
  const Shape& offsets = c.input(2).shape();
  if (images.rank() != 4)
    return invalid_argument(
        str_cat("input must be 4-dimensional (batch_size, height, width, depth)", images));
  if (window != Shape{2})
    return invalid_argument(str_cat("input must be a vector of size 2 (height, width)", window));
  if (offsets.rank() != 2)
    return invalid_argument(str_cat("input must be a matrix", offsets));
  if (offsets[0] != images[0])
    return invalid_argument(str_cat("first dimension should be batch", offsets));
  if (offsets[1] != 2)
    return invalid_argument(str_cat("second dimension should be of size 2 (y,x)", offsets));
  const auto size = c.input(1).data<std::int32_t>();
  const Sizes s{images[1], images[2], images[3], size[0], size[1]};
  if (s.out_height < 0 || s.out_width < 0)
    return invalid_argument(
        str_cat("a glimpse of ", s.out_height, " by ", s.out_width, " has a negative size"));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{images[0], s.out_height, s.out_width, s.channels}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  if (s.image() == 0)
    return invalid_argument(str_cat("there is nothing to see in images of shape ", images));
  const float *from = c.input(0).data<float>().data(), *at = c.input(2).data<float>().data();
  float* to = out.mutable_data<float>().data();
  c.parallel_for(images[0], 3.0 * static_cast<double>(s.glimpse()),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t b = begin; b < end; ++b)
                     copy_window(s, c.prepared<Attrs>(), at[2 * b], at[2 * b + 1],
                                 from + b * s.image(), to + b * s.glimpse());
                 });
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(auto out, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, 1, 1));
  TROUPE_TRY(shape_rules::merge_dims(size[0], 2).status());
  TROUPE_ASSIGN(const auto offsets, shape_rules::dims_of_rank(c, 2, 2));
  TROUPE_ASSIGN(out[0], shape_rules::merge_dims(out[0], offsets[0]));
  TROUPE_TRY(shape_rules::merge_dims(offsets[1], 2).status());
  const auto to = c.input_as_ints(1);
  for (std::size_t i = 0; i < 2; ++i)
    out[i + 1] = to && (*to)[i] >= 0 ? (*to)[i] : shape_rules::unknown_dim;
  return c.set_output(0, PartialShape(std::move(out)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = prepare;
  options.expensive = true;
  for (const bool second : {false, true})
    library.op(second ? "ExtractGlimpseV2" : "ExtractGlimpse")
        .input("input: float; size: int32; offsets: float")
        .output("glimpse: float")
        .attr("centered: bool = true; normalized: bool = true; uniform_noise: bool = true; "
              "noise: string = 'uniform'")
        .shape_fn(infer)
        .not_differentiable("TensorFlow has no gradient of it")
        .cpu_kernel(compute, options)
        .doc(second ? "The same; offsets of pixels are not halved."
                    : "A window of each image around a place, with noise outside of the image.");
}

} // namespace troupe::image_extract_glimpse
