// Mfcc: mel-frequency cepstral coefficients of spectrograms. Frequencies are summed into bands that
// overlap as triangles and are equally wide on the mel scale; of the logarithms of the bands the
// first terms of a cosine transform are kept.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::audio_mfcc {
namespace {

double mel(double hertz) {
  return 1127.0 * std::log1p(hertz / 700.0);
}

/// What one frequency gives: `share` of it to band `band`, the rest to the next; bands -1 and
/// `count` are none.
struct Bin {
  std::int64_t band = -1;
  double share = 0;
};

struct Bands {
  std::int64_t count = 0;
  bool are_reached = true; ///< by the spectrogram; if not, TensorFlow leaves all of them empty
  std::int64_t first = 0;  ///< the frequency that `bins` begins with
  std::vector<Bin> bins;
};

struct Limits {
  double lower = 20, upper = 4000;
  std::int64_t bands = 40, coefficients = 13;
};

Limits limits_of(const AttrMap& attrs) {
  return {static_cast<double>(attrs.get_or("lower_frequency_limit", 20.0F)),
          static_cast<double>(attrs.get_or("upper_frequency_limit", 4000.0F)),
          attrs.get_or<std::int64_t>("filterbank_channel_count", 40),
          attrs.get_or<std::int64_t>("dct_coefficient_count", 13)};
}

constexpr std::int64_t most_bands = 1 << 16, most_cosines = 1 << 24;

bool makes_sense(const Limits& l, std::int64_t frequencies, std::int32_t rate) {
  return l.bands >= 1 && l.bands <= most_bands && rate > 0 && frequencies >= 2 && l.lower >= 0 &&
         l.upper > l.lower && l.coefficients >= 1 && l.coefficients <= l.bands &&
         l.coefficients * l.bands <= most_cosines;
}

Bands bands_of(const Limits& l, std::int64_t frequencies, std::int32_t rate) {
  const double low = mel(l.lower), width = (mel(l.upper) - low) / static_cast<double>(l.bands + 1);
  const auto center = [&](std::int64_t band) {
    return low + width * static_cast<double>(band + 1);
  };
  const double step = 0.5 * rate / static_cast<double>(frequencies - 1);
  Bands out;
  out.count = l.bands;
  out.first =
      static_cast<std::int64_t>(std::min(1.5 + l.lower / step, 1e15)); // never the constant part
  const auto last = static_cast<std::int64_t>(std::min(l.upper / step, 1e15));
  out.are_reached = last < frequencies;
  if (!out.are_reached)
    return out;
  std::int64_t above = 0; // the first band whose center is not below
  for (std::int64_t i = out.first; i <= last; ++i) {
    const double here = mel(static_cast<double>(i) * step);
    while (above < l.bands && center(above) < here)
      ++above;
    out.bins.push_back({above - 1, (center(above) - here) /
                                       (center(above) - (above > 0 ? center(above - 1) : low))});
  }
  return out;
}

void sum_bands(const Bands& bands, std::span<const float> powers, std::vector<double>& out) {
  std::ranges::fill(out, 0.0);
  for (std::size_t i = 0; i < bands.bins.size(); ++i) {
    const Bin& bin = bands.bins[i];
    const double magnitude =
        std::sqrt(static_cast<double>(powers[static_cast<std::size_t>(bands.first) + i]));
    const double share = magnitude * bin.share;
    if (bin.band >= 0)
      out[static_cast<std::size_t>(bin.band)] += share;
    if (bin.band + 1 < bands.count)
      out[static_cast<std::size_t>(bin.band + 1)] += magnitude - share;
  }
}

/// cosines[i * bands + j] of band j in coefficient i.
std::vector<double> cosines_of(const Limits& l) {
  const auto n = static_cast<double>(l.bands);
  std::vector<double> out;
  for (std::int64_t i = 0; i < l.coefficients; ++i)
    for (std::int64_t j = 0; j < l.bands; ++j)
      out.push_back(std::sqrt(2 / n) * std::cos(static_cast<double>(i) * std::numbers::pi / n *
                                                (static_cast<double>(j) + 0.5)));
  return out;
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto dims, shape_rules::dims_of_rank(c, 0, 3));
  TROUPE_TRY(c.require_rank(1, 0));
  const std::int64_t count = limits_of(c.attrs()).coefficients;
  if (count < 0)
    return invalid_argument(str_cat("dct_coefficient_count must be positive, got ", count));
  return c.set_output(0, PartialShape{dims[0], dims[1], count});
}

Status compute(KernelContext& c) {
  const Tensor &spectrogram = c.input(0), &rate = c.input(1);
  if (spectrogram.shape().rank() != 3)
    return invalid_argument(str_cat("spectrogram must be 3-dimensional", spectrogram.shape()));
  if (!rate.shape().is_scalar())
    return invalid_argument(
        str_cat("Input sample_rate should be a scalar tensor, got ", rate.shape(), " instead."));
  const Limits limits = limits_of(c.attrs());
  const std::int64_t frequencies = spectrogram.shape()[2];
  const auto hertz = rate.value<std::int32_t>();
  if (!makes_sense(limits, frequencies, hertz))
    return invalid_argument(str_cat("Mfcc initialization failed for channel count ", frequencies,
                                    ", sample rate ", hertz, " and filterbank_channel_count ",
                                    limits.bands));
  const std::int64_t rows = spectrogram.shape()[0] * spectrogram.shape()[1];
  TROUPE_ASSIGN(Tensor out,
                c.allocate_output(
                    0, Shape{spectrogram.shape()[0], spectrogram.shape()[1], limits.coefficients}));
  const Bands bands = bands_of(limits, frequencies, hertz);
  const std::vector<double> cosines = cosines_of(limits);
  const auto from = spectrogram.data<float>();
  const auto to = out.mutable_data<float>();
  const double cost =
      20.0 * static_cast<double>(limits.bands) + static_cast<double>(cosines.size());
  c.parallel_for(rows, cost, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> logarithms(static_cast<std::size_t>(limits.bands));
    for (std::int64_t row = begin; row < end; ++row) {
      if (bands.are_reached) {
        sum_bands(bands,
                  from.subspan(static_cast<std::size_t>(row * frequencies),
                               static_cast<std::size_t>(frequencies)),
                  logarithms);
        for (double& value : logarithms)
          value = std::log(std::max(value, 1e-12));
      }
      for (std::int64_t i = 0; i < limits.coefficients; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < logarithms.size(); ++j)
          sum += cosines[static_cast<std::size_t>(i * limits.bands) + j] * logarithms[j];
        to[static_cast<std::size_t>(row * limits.coefficients + i)] = static_cast<float>(sum);
      }
    }
  });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("Mfcc")
      .input("spectrogram: float; sample_rate: int32")
      .output("output: float")
      .attr("upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; "
            "filterbank_channel_count: int = "
            "40; dct_coefficient_count: int = 13")
      .shape_fn(infer)
      .not_differentiable("TensorFlow has no gradient of it")
      .cpu_kernel(compute, options)
      .doc("Mel-frequency cepstral coefficients of spectrograms [channels, windows, frequencies] "
           "of squared magnitudes, "
           "as speech recognisers read them.");
}

} // namespace troupe::audio_mfcc
