// Batch normalisation: two sums for each channel, in parts that a second kernel joins, and then
// what is done to each element.
#include "kernels/gpu/device.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

#define TROUPE_GPU_SMALL_FLOATS(MAKE, name, parameters, arguments)                                 \
  MAKE(name, f32, float, parameters, arguments)                                                    \
  MAKE(name, f16, Half, parameters, arguments)                                                     \
  MAKE(name, bf16, BFloat16, parameters, arguments)

constexpr unsigned block = 256;

struct TwoSums {
  float first = 0, second = 0;
  /// Of x less a number near the mean, so that the squares keep their digits.
  TROUPE_DEVICE void add(float x, float shift) {
    const float centred = x - shift;
    first += centred;
    second += centred * centred;
  }
  TROUPE_DEVICE void add(float dy, float x, float mean) {
    first += dy;
    second += dy * (x - mean);
  }
};

/// What is summed: x alone, or dy and x.
template <class T>
struct Sources {
  const T *dy, *x;
  const float* mean;
};

template <class T, int run>
struct alignas(sizeof(T) * run) Run {
  T at[run];
};

/// Sums of `run` neighbouring channels from `channel` on, over the rows that are this thread's.
template <class T, int run>
TROUPE_DEVICE void sum_rows_of(const Sources<T>& from, std::int64_t channel, std::int64_t channels,
                               std::int64_t begin, std::int64_t end, unsigned step,
                               TwoSums (&sums)[run]) {
  float middle[run];
  for (int k = 0; k < run; ++k)
    middle[k] = from.dy ? from.mean[channel + k] : widen(from.x[channel + k]);
  const auto load = [&](const T* images, std::int64_t row) {
    return *reinterpret_cast<const Run<T, run>*>(images + row * channels + channel);
  };
  constexpr int at_once = 4; // loads on their way
  std::int64_t row = begin;
  for (; row + (at_once - 1) * std::int64_t{step} < end; row += at_once * std::int64_t{step}) {
    Run<T, run> x[at_once], dy[at_once] = {};
    for (int j = 0; j < at_once; ++j) {
      x[j] = load(from.x, row + j * std::int64_t{step});
      if (from.dy)
        dy[j] = load(from.dy, row + j * std::int64_t{step});
    }
    for (int j = 0; j < at_once; ++j)
      for (int k = 0; k < run; ++k)
        if (from.dy)
          sums[k].add(widen(dy[j].at[k]), widen(x[j].at[k]), middle[k]);
        else
          sums[k].add(widen(x[j].at[k]), middle[k]);
  }
  for (; row < end; row += step) {
    const Run<T, run> x = load(from.x, row);
    if (from.dy) {
      const Run<T, run> dy = load(from.dy, row);
      for (int k = 0; k < run; ++k)
        sums[k].add(widen(dy.at[k]), widen(x.at[k]), middle[k]);
    } else {
      for (int k = 0; k < run; ++k)
        sums[k].add(widen(x.at[k]), middle[k]);
    }
  }
}

/// Those of a block: `columns` runs of channels side by side, the other threads further rows.
template <class T, int run>
TROUPE_DEVICE void sum_block(const Sources<T>& from, float* sums, std::int64_t rows,
                             std::int64_t channels, std::int64_t share, unsigned columns) {
  TROUPE_SHARED(TwoSums, of_threads, block);
  const unsigned column = thread_index() % columns, lane = thread_index() / columns,
                 lanes = block_threads() / columns;
  const std::int64_t begin = row_of_blocks() * share;
  const std::int64_t end = begin + share < rows ? begin + share : rows;
  const std::int64_t runs = channels / run;
  for (std::int64_t first_run = std::int64_t{block_index()} * columns; first_run < runs;
       first_run += std::int64_t{blocks()} * columns) {
    const std::int64_t channel = (first_run + column) * run;
    const bool is_there = first_run + column < runs;
    TwoSums own[run];
    if (is_there)
      sum_rows_of<T, run>(from, channel, channels, begin + lane, end, lanes, own);
    for (int k = 0; k < run; ++k) {
      barrier(); // those before were read
      of_threads[thread_index()] = own[k];
      barrier();
      if (lane > 0 || !is_there)
        continue;
      TwoSums all = own[k];
      for (unsigned other = 1; other < lanes; ++other) {
        all.first += of_threads[other * columns + column].first;
        all.second += of_threads[other * columns + column].second;
      }
      float* to = sums + row_of_blocks() * 2 * channels + channel + k;
      to[0] = all.first;
      to[channels] = all.second;
    }
  }
}

#define CHANNEL_SUMS                                                                               \
  (const void* dy, const void* x, const void* mean, void* sums, std::int64_t rows,                 \
   std::int64_t channels, std::int64_t share, int columns, bool in_runs)
TROUPE_GPU_KERNEL(channel_sums, CHANNEL_SUMS) {
  const Sources<T> from{elements<T>(dy), elements<T>(x), elements<float>(mean)};
  if (in_runs)
    sum_block<T, 4>(from, elements<float>(sums), rows, channels, share, columns);
  else
    sum_block<T, 1>(from, elements<float>(sums), rows, channels, share, columns);
}
TROUPE_GPU_SMALL_FLOATS(TROUPE_GPU_COOPERATIVE, channel_sums, CHANNEL_SUMS,
                        (dy, x, mean, sums, rows, channels, share, columns, in_runs))

struct Plus {
  TROUPE_DEVICE float operator()(float a, float b) const { return a + b; }
};

#define PLANE_SUMS                                                                                 \
  (const void* dy, const void* x, const void* mean, void* sums, std::int64_t count,                \
   std::int64_t channels, Divider inner, std::int64_t share)
TROUPE_GPU_KERNEL(plane_sums, PLANE_SUMS) {
  const std::int64_t begin = row_of_blocks() * share;
  const std::int64_t end = begin + share < count ? begin + share : count;
  for (std::int64_t channel = block_index(); channel < channels; channel += blocks()) {
    const float middle =
        dy ? elements<float>(mean)[channel] : widen(elements<T>(x)[channel * inner.divisor]);
    TwoSums own;
    for (std::int64_t i = begin + thread_index(); i < end; i += block_threads()) {
      std::int64_t image = i;
      const std::int64_t within = split(image, inner);
      const std::int64_t at = (image * channels + channel) * inner.divisor + within;
      if (dy)
        own.add(widen(elements<T>(dy)[at]), widen(elements<T>(x)[at]), middle);
      else
        own.add(widen(elements<T>(x)[at]), middle);
    }
    const float total = over_block(own.first, 0.F, Plus()),
                second = over_block(own.second, 0.F, Plus());
    if (thread_index() == 0) {
      float* to = elements<float>(sums) + row_of_blocks() * 2 * channels + channel;
      to[0] = total;
      to[channels] = second;
    }
  }
}
TROUPE_GPU_SMALL_FLOATS(TROUPE_GPU_COOPERATIVE, plane_sums, PLANE_SUMS,
                        (dy, x, mean, sums, count, channels, inner, share))

/// Both sums of a channel, joined by a warp; with its first thread.
TROUPE_DEVICE TwoSums joined_parts(const float* sums, std::int64_t parts, std::int64_t channels,
                                   std::int64_t channel) {
  TwoSums own;
  constexpr int at_once = 4; // pairs of loads on their way
  const float* of_channel = sums + channel;
  std::int64_t part = thread_index() % 32;
  for (; part + (at_once - 1) * 32 < parts; part += at_once * 32) {
    float first[at_once], second[at_once];
    TROUPE_UNROLL
    for (int j = 0; j < at_once; ++j) {
      first[j] = of_channel[(part + j * 32) * 2 * channels];
      second[j] = of_channel[((part + j * 32) * 2 + 1) * channels];
    }
    TROUPE_UNROLL
    for (int j = 0; j < at_once; ++j) {
      own.first += first[j];
      own.second += second[j];
    }
  }
  for (; part < parts; part += 32) {
    own.first += of_channel[part * 2 * channels];
    own.second += of_channel[(part * 2 + 1) * channels];
  }
  return {over_warp(own.first, Plus()), over_warp(own.second, Plus())};
}

#define FINISH_MOMENTS                                                                             \
  (const void* sums, std::int64_t parts, const void* x, std::int64_t inner, std::int64_t count,    \
   const void* old_mean, const void* old_variance, const void* scale, float factor, float epsilon, \
   void* mean, void* variance, void* new_mean, void* new_variance, void* factors,                  \
   std::int64_t channels)
TROUPE_GPU_KERNEL(finish_moments, FINISH_MOMENTS) {
  for (std::int64_t c = first() / 32; c < channels; c += stride() / 32) {
    float centre = 0, spread = 0, running_centre = 0, running_spread = 0;
    if (parts > 0) {
      const TwoSums all = joined_parts(elements<float>(sums), parts, channels, c);
      const auto n = static_cast<float>(count);
      const float shifted = all.first / n;
      centre = widen(elements<T>(x)[c * inner]) + shifted;
      spread = all.second / n - shifted * shifted;
      spread = spread < 0 ? 0 : spread;
      running_centre = centre;
      running_spread = spread * (n / (count > 1 ? n - 1 : 1)); // without bias
      if (factor != 1) {
        running_centre = (1 - factor) * elements<float>(old_mean)[c] + factor * running_centre;
        running_spread = (1 - factor) * elements<float>(old_variance)[c] + factor * running_spread;
      }
    } else {
      centre = running_centre = elements<float>(old_mean)[c];
      spread = running_spread = elements<float>(old_variance)[c];
    }
    if (thread_index() % 32 != 0)
      continue;
    elements<float>(mean)[c] = centre;
    elements<float>(variance)[c] = spread;
    elements<float>(new_mean)[c] = running_centre;
    elements<float>(new_variance)[c] = running_spread;
    elements<float>(factors)[c] = elements<float>(scale)[c] / std::sqrt(spread + epsilon);
  }
}
TROUPE_GPU_SMALL_FLOATS(TROUPE_GPU_COOPERATIVE, finish_moments, FINISH_MOMENTS,
                        (sums, parts, x, inner, count, old_mean, old_variance, scale, factor,
                         epsilon, mean, variance, new_mean, new_variance, factors, channels))

#define FINISH_SUMS                                                                                \
  (const void* sums, std::int64_t parts, std::int64_t count, const void* variance,                 \
   const void* scale, float epsilon, void* dscale, void* doffset, void* factors,                   \
   std::int64_t channels)
TROUPE_GPU_KERNEL(finish_sums, FINISH_SUMS) {
  for (std::int64_t c = first() / 32; c < channels; c += stride() / 32) {
    const TwoSums all = joined_parts(elements<float>(sums), parts, channels, c);
    if (thread_index() % 32 != 0)
      continue;
    const float inverse = 1 / std::sqrt(elements<float>(variance)[c] + epsilon);
    const float of_dy = elements<float>(scale)[c] * inverse;
    elements<float>(dscale)[c] = all.second * inverse;
    elements<float>(doffset)[c] = all.first;
    elements<float>(factors)[c] = of_dy;
    const auto n = static_cast<float>(count);
    elements<float>(factors)[channels + c] =
        count > 0 ? -of_dy * inverse * inverse * all.second / n : 0;
    elements<float>(factors)[2 * channels + c] = count > 0 ? -of_dy * all.first / n : 0;
  }
}
TROUPE_GPU_COOPERATIVE(finish_sums, f32, float, FINISH_SUMS,
                       (sums, parts, count, variance, scale, epsilon, dscale, doffset, factors,
                        channels))

/// Calls body(element, its channel, whether a pack begins there) for all n elements: for packs
/// alone where they have one channel each or successive ones.
template <class T, class Body>
TROUPE_DEVICE void for_channels(std::int64_t n, const Divider& inner, const Divider& channels,
                                bool in_packs, Body body) {
  const std::int64_t size = in_packs ? Pack<T>::size : 1;
  for (std::int64_t i = first(); i < n / size; i += stride()) {
    std::int64_t rest = divided(i * size, inner);
    const std::int64_t channel = split(rest, channels);
    body(i, channel);
  }
}
template <class T>
TROUPE_DEVICE bool fits_packs(const Divider& inner, const Divider& channels) {
  constexpr int size = Pack<T>::size;
  return inner.divisor == 1 ? channels.divisor % size == 0 : inner.divisor % size == 0;
}

#define NORMALISE                                                                                  \
  (const void* x, const void* mean, const void* factors, const void* offset, void* y,              \
   Divider inner, Divider channels, std::int64_t n)
TROUPE_GPU_KERNEL(normalise_images, NORMALISE) {
  const auto* middle = elements<float>(mean);
  const auto* factor = elements<float>(factors);
  const auto* added = elements<float>(offset);
  const auto of = [&](T value, std::int64_t c) {
    return narrow<T>((widen(value) - middle[c]) * factor[c] + added[c]);
  };
  const std::int64_t step = inner.divisor == 1 ? 1 : 0;
  if (fits_packs<T>(inner, channels) && holds_packs(x) && holds_packs(y))
    for_channels<T>(n, inner, channels, true, [&](std::int64_t i, std::int64_t c) {
      Pack<T> values = elements<Pack<T>>(x)[i];
      for (int k = 0; k < Pack<T>::size; ++k)
        values.at[k] = of(values.at[k], c + k * step);
      elements<Pack<T>>(y)[i] = values;
    });
  else
    for_channels<T>(n, inner, channels, false, [&](std::int64_t i, std::int64_t c) {
      elements<T>(y)[i] = of(elements<T>(x)[i], c);
    });
}
TROUPE_GPU_SMALL_FLOATS(TROUPE_GPU_INSTANCE, normalise_images, NORMALISE,
                        (x, mean, factors, offset, y, inner, channels, n))

#define NORMALISE_GRAD                                                                             \
  (const void* dy, const void* x, const void* mean, const void* factors, void* dx, Divider inner,  \
   Divider channels, std::int64_t n)
TROUPE_GPU_KERNEL(normalise_grad, NORMALISE_GRAD) {
  const auto* middle = elements<float>(mean);
  const auto* of_dy = elements<float>(factors);
  const float *of_x = of_dy + channels.divisor, *constant = of_x + channels.divisor;
  const auto of = [&](T gradient, T value, std::int64_t c) {
    return narrow<T>(widen(gradient) * of_dy[c] + (widen(value) - middle[c]) * of_x[c] +
                     constant[c]);
  };
  const std::int64_t step = inner.divisor == 1 ? 1 : 0;
  if (fits_packs<T>(inner, channels) && holds_packs(dy) && holds_packs(x) && holds_packs(dx))
    for_channels<T>(n, inner, channels, true, [&](std::int64_t i, std::int64_t c) {
      Pack<T> values = elements<Pack<T>>(dy)[i];
      const Pack<T> others = elements<Pack<T>>(x)[i];
      for (int k = 0; k < Pack<T>::size; ++k)
        values.at[k] = of(values.at[k], others.at[k], c + k * step);
      elements<Pack<T>>(dx)[i] = values;
    });
  else
    for_channels<T>(n, inner, channels, false, [&](std::int64_t i, std::int64_t c) {
      elements<T>(dx)[i] = of(elements<T>(dy)[i], elements<T>(x)[i], c);
    });
}
TROUPE_GPU_SMALL_FLOATS(TROUPE_GPU_INSTANCE, normalise_grad, NORMALISE_GRAD,
                        (dy, x, mean, factors, dx, inner, channels, n))

} // namespace
} // namespace troupe::gpu
