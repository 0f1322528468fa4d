// Numbers drawn one after the other from a Philox generator, as TensorFlow's CPU kernels draw them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/arith/philox.hpp"

namespace troupe::random {

/// In [0, 1), from two words.
inline double unit(std::uint32_t x0, std::uint32_t x1) {
  const std::uint64_t mantissa = (std::uint64_t{x0 & 0xfffffU} << 32) | x1;
  return std::bit_cast<double>((std::uint64_t{1023} << 52) | mantissa) - 1.0;
}

/// Words of a generator, one after the other.
class Words {
public:
  explicit Words(const arith::Philox& generator) : generator_(generator) {}
  /// As if `words` of them had been drawn; to be called before any is.
  void skip(std::uint64_t words) {
    generator_.skip(words / 4);
    for (std::uint64_t k = 0; k < words % 4; ++k)
      next();
  }
  std::uint32_t next() {
    if (used_ == 4) {
      block_ = generator_.next();
      used_ = 0;
    }
    return block_[used_++];
  }
  /// The lower word first.
  std::uint64_t next_pair() {
    const std::uint64_t low = next();
    return low | std::uint64_t{next()} << 32;
  }
  float next_float() { return std::bit_cast<float>(0x3f800000U | (next() & 0x7fffffU)) - 1.0F; }
  double next_unit() {
    const std::uint32_t x0 = next(), x1 = next();
    return unit(x0, x1);
  }

  /// Uniform in [0, n), by numbers drawn again until none is more likely than another; n > 0.
  std::uint32_t below(std::uint32_t n) {
    return exact_below(n, [this] { return next(); });
  }
  std::uint64_t below_long(std::uint64_t n) {
    return exact_below(n, [this] { return next_pair(); });
  }

private:
  template <class U, class Draw>
  static U exact_below(U n, Draw draw) {
    if ((n & (n - 1)) == 0)
      return draw() & (n - 1);
    const U left_out = static_cast<U>(~U{0}) % n + 1;
    U out = 0;
    do
      out = draw();
    while (out < left_out);
    return out % n;
  }

  arith::Philox generator_;
  arith::Philox::Block block_ = {};
  std::size_t used_ = 4;
};

/// Pairs of doubles, the last of a pair first.
class Pairs {
public:
  explicit Pairs(const arith::Philox& generator) : generator_(generator) {}
  double uniform() {
    if (uniforms_ == 0) {
      const auto x = generator_.next();
      uniform_[0] = unit(x[0], x[1]);
      uniform_[1] = unit(x[2], x[3]);
      uniforms_ = 2;
    }
    return uniform_[--uniforms_];
  }
  double normal() {
    if (normals_ == 0) {
      const auto x = generator_.next();
      const double u = std::max(unit(x[0], x[1]), 1.0e-7);
      const double angle = 2 * std::numbers::pi * unit(x[2], x[3]);
      const double radius = std::sqrt(-2.0 * std::log(u));
      normal_[0] = std::sin(angle) * radius;
      normal_[1] = std::cos(angle) * radius;
      normals_ = 2;
    }
    return normal_[--normals_];
  }

private:
  arith::Philox generator_;
  double uniform_[2] = {}, normal_[2] = {};
  std::size_t uniforms_ = 0, normals_ = 0;
};

/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). A smaller alpha
/// than 1 is drawn as alpha + 1 and scaled.
inline double draw_gamma(double alpha, Pairs& pairs) {
  if (alpha == 1)
    return -std::log1p(-pairs.uniform());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), scale = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = pairs.normal();
    double v = 1 + scale * x;
    if (v <= 0)
      continue;
    v = v * v * v;
    const double u = pairs.uniform();
    if (std::isnan(v))
      return v;
    if (u >= 1 - 0.0331 * (x * x) * (x * x) &&
        std::log(u) >= 0.5 * x * x + d * (1 - v + std::log(v)))
      continue;
    return small ? d * v * std::pow(pairs.uniform(), 1 / alpha) : d * v;
  }
}

} // namespace troupe::random
