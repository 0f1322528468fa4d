// AudioSpectrogram: which frequencies a sound has, window by window.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "core/base/strings.hpp"
#include "kernels/arith/fourier.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::audio_spectrogram {
namespace {

struct Settings {
  std::int64_t window = 0, stride = 0;
  std::int64_t transformed() const {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(window)));
  }
  std::int64_t frequencies() const { return 1 + transformed() / 2; }
  std::int64_t rows(std::int64_t samples) const {
    return samples < window ? 0 : 1 + (samples - window) / stride;
  }
};

Result<Settings> settings_of(const AttrMap& attrs) {
  Settings out;
  TROUPE_ASSIGN(out.window, attrs.get<std::int64_t>("window_size"));
  TROUPE_ASSIGN(out.stride, attrs.get<std::int64_t>("stride"));
  if (out.window <= 1)
    return invalid_argument(str_cat("window size must be > 1, got ", out.window));
  if (out.window > INT32_MAX / 2)
    return invalid_argument(str_cat("window size must be below 2^30, got ", out.window));
  if (out.stride <= 0)
    return invalid_argument(str_cat("stride must be strictly positive, got ", out.stride));
  return out;
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto dims, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const Settings s, settings_of(c.attrs()));
  const std::int64_t rows = dims[0] < 0 ? -1 : s.rows(dims[0]);
  return c.set_output(0, PartialShape{dims[1], rows, s.frequencies()});
}

Status compute(KernelContext& c) {
  const Tensor& input = c.input(0);
  if (input.shape().rank() != 2)
    return invalid_argument(str_cat("input must be 2-dimensional", input.shape()));
  TROUPE_ASSIGN(const Settings s, settings_of(c.attrs()));
  const bool squared = c.attrs().get_or("magnitude_squared", false);
  const std::int64_t channels = input.shape()[1], rows = s.rows(input.shape()[0]);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{channels, rows, s.frequencies()}));
  if (out.num_elements() == 0)
    return {};
  std::vector<double> hann; // the periodic one
  for (std::int64_t i = 0; i < s.window; ++i)
    hann.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                        static_cast<double>(s.window)));
  const arith::RealFourier<double> fourier(s.transformed());
  const auto from = input.data<float>();
  const auto to = out.mutable_data<float>();
  const double cost =
      5.0 * static_cast<double>(s.transformed()) * std::log2(static_cast<double>(s.transformed()));
  c.parallel_for(channels * rows, cost, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> values(static_cast<std::size_t>(s.transformed()));
    std::vector<std::complex<double>> found(static_cast<std::size_t>(s.frequencies()));
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t channel = at / rows, first = at % rows * s.stride;
      std::ranges::fill(values, 0);
      for (std::int64_t i = 0; i < s.window; ++i)
        values[static_cast<std::size_t>(i)] =
            static_cast<double>(from[static_cast<std::size_t>((first + i) * channels + channel)]) *
            hann[static_cast<std::size_t>(i)];
      fourier.forward(values.data(), found.data());
      for (std::int64_t k = 0; k < s.frequencies(); ++k) {
        const auto power = static_cast<float>(std::norm(found[static_cast<std::size_t>(k)]));
        to[static_cast<std::size_t>(at * s.frequencies() + k)] = squared ? power : std::sqrt(power);
      }
    }
  });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("AudioSpectrogram")
      .input("input: float")
      .output("spectrogram: float")
      .attr("window_size: int; stride: int; magnitude_squared: bool = false")
      .shape_fn(infer)
      .not_differentiable("TensorFlow has no gradient of it")
      .cpu_kernel(compute, options)
      .doc(
          "The magnitudes of the frequencies in each window of a sound [samples, channels], as "
          "[channels, windows, "
          "frequencies]. Windows are weighted by Hann's function and filled up to a power of two.");
}

} // namespace troupe::audio_spectrogram
