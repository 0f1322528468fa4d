// Random numbers, number for number those of kernels/arith/philox.cpp. A thread makes a group: what
// one block of the generator's words gives, four floats or two doubles.
#include "kernels/gpu/device.hpp"
#include "kernels/random/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

/// Philox4x32-10.
struct Generator {
  std::uint32_t counter[4];
  std::uint32_t key[2];

  TROUPE_DEVICE void skip(std::uint64_t blocks) {
    const std::uint64_t lower = (static_cast<std::uint64_t>(counter[1]) << 32) | counter[0];
    const std::uint64_t sum = lower + blocks;
    counter[0] = static_cast<std::uint32_t>(sum);
    counter[1] = static_cast<std::uint32_t>(sum >> 32);
    if (sum < lower && ++counter[2] == 0)
      ++counter[3];
  }

  TROUPE_DEVICE void next(std::uint32_t* words) {
    std::uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * c0, b = std::uint64_t{0xCD9E8D57} * c2;
      const auto high_a = static_cast<std::uint32_t>(a >> 32);
      c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(b);
      c2 = high_a ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(a);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
    skip(1);
  }
};

TROUPE_DEVICE float unit(std::uint32_t x) {
  return float_of_bits(0x3f800000U | (x & 0x7fffffU)) - 1.0F;
}
TROUPE_DEVICE double unit(std::uint32_t x0, std::uint32_t x1) {
  const std::uint64_t mantissa = (static_cast<std::uint64_t>(x0 & 0xfffffU) << 32) | x1;
  return double_of_bits((std::uint64_t{1023} << 52) | mantissa) - 1.0;
}

constexpr double two_pi = 6.283185307179586;

// How many values a block gives, and how: uniform ones have as many random bits as the dtype's
// mantissa.
template <class T>
inline constexpr int group = 4;
template <>
inline constexpr int group<double> = 2;

template <class T>
struct Draw {
  static TROUPE_DEVICE void uniform(const std::uint32_t* x, float* out) {
    constexpr unsigned shift = std::is_same_v<T, float> ? 0 : std::is_same_v<T, Half> ? 13 : 16;
    for (int i = 0; i < 4; ++i)
      out[i] = float_of_bits(0x3f800000U | ((x[i] << shift) & 0x7fffffU)) - 1.0F;
  }
  static TROUPE_DEVICE void pair(const std::uint32_t* x, float* out) {
    const float first = unit(x[0]), u = first > 1.0e-7F ? first : 1.0e-7F;
    const float angle = static_cast<float>(two_pi * unit(x[1]));
    const float radius = std::sqrt(-2.0F * std::log(u));
    out[0] = std::sin(angle) * radius;
    out[1] = std::cos(angle) * radius;
  }
  static constexpr int words_of_pair = 2;
};
template <>
struct Draw<double> {
  static TROUPE_DEVICE void uniform(const std::uint32_t* x, double* out) {
    out[0] = unit(x[0], x[1]);
    out[1] = unit(x[2], x[3]);
  }
  static TROUPE_DEVICE void pair(const std::uint32_t* x, double* out) {
    const double first = unit(x[0], x[1]), u = first > 1.0e-7 ? first : 1.0e-7;
    const double angle = two_pi * unit(x[2], x[3]);
    const double radius = std::sqrt(-2.0 * std::log(u));
    out[0] = std::sin(angle) * radius;
    out[1] = std::cos(angle) * radius;
  }
  static constexpr int words_of_pair = 4;
};

/// The values of group `number`.
template <class T>
TROUPE_DEVICE void draw(Distribution distribution, Generator generator, std::int64_t number,
                        WideOf<T>* out) {
  using W = WideOf<T>;
  std::uint32_t words[4];
  if (distribution != Distribution::truncated_normal) {
    generator.skip(static_cast<std::uint64_t>(number));
    generator.next(words);
    if (distribution == Distribution::uniform)
      return Draw<T>::uniform(words, out);
    for (int i = 0; i < group<T>; i += 2)
      Draw<T>::pair(words + i, out + i);
    return;
  }
  generator.skip(static_cast<std::uint64_t>(number) * group<T> * (256 / 4));
  for (int filled = 0; filled < group<T>;) {
    generator.next(words);
    for (int at = 0; at < 4; at += Draw<T>::words_of_pair) {
      W pair[2];
      Draw<T>::pair(words + at, pair);
      for (W value : pair)
        if (std::fabs(value) < W(2) && filled < group<T>)
          out[filled++] = value;
    }
  }
}

#define RANDOM (int distribution, PhiloxStart start, void* out, std::int64_t n)
TROUPE_GPU_KERNEL(random, RANDOM) {
  constexpr int values = group<T>;
  for (std::int64_t number = first(); number * values < n; number += stride()) {
    Generator generator{{start.counter[0], start.counter[1], start.counter[2], start.counter[3]},
                        {start.key[0], start.key[1]}};
    WideOf<T> drawn[values];
    draw<T>(static_cast<Distribution>(distribution), generator, number, drawn);
    for (int i = 0; i < values && number * values + i < n; ++i)
      elements<T>(out)[number * values + i] = narrow<T>(drawn[i]);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, random, RANDOM, (distribution, start, out, n))

} // namespace
} // namespace troupe::gpu
