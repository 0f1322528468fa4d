// Normal numbers between bounds, one row after the other, as TensorFlow draws them (Robert, "Simulation of truncated
// normal variables", 1995).
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/arith/philox.hpp"

namespace troupe::random {

inline constexpr int most_tries = 1000;

/// One block of numbers after the other.
template <class T>
class Blocks {
public:
  static constexpr std::size_t size = sizeof(T) == 4 ? 4 : 2;
  explicit Blocks(const arith::Philox& generator) : generator_(generator) {}
  std::array<T, size> uniform() { return next(arith::fill_uniform); }
  std::array<T, size> normal() { return next(arith::fill_normal); }

private:
  template <class Fill>
  std::array<T, size> next(Fill fill) {
    std::array<T, size> out{};
    fill(sizeof(T) == 4 ? arith::Type::float32 : arith::Type::float64, generator_, out.data(), 0,
         static_cast<std::int64_t>(size));
    generator_.skip(1);
    return out;
  }
  arith::Philox generator_;
};

template <class T>
struct Bounds {
  T mean = 0, deviation = 1, low = 0, high = 0;
  /// Otherwise TensorFlow says "Invalid parameters".
  bool are_valid() const {
    return deviation > 0 && low < high && (std::isfinite(low) || std::isfinite(high));
  }
};

/// Fills `to` from the next blocks; false if a number was refused too often.
template <class T>
bool draw_row(Bounds<T> b, Blocks<T>& blocks, std::span<T> to) {
  if ((std::isinf(b.low) && b.low < 0) || b.high < b.mean) {
    std::swap(b.low, b.high);
    b.deviation = -b.deviation;
  }
  const T low = (b.low - b.mean) / b.deviation, high = (b.high - b.mean) / b.deviation;
  const T root = std::sqrt(low * low + T(4));
  const T cutoff = T(2) * std::exp(T(0.5) + (low * (low - root)) / T(4)) / (low + root);
  const T width = high - low, enough = T(1.3);
  std::size_t at = 0;
  int refused = 0;
  const auto accept = [&](bool accepted, T value) {
    if (accepted)
      to[at++] = value * b.deviation + b.mean;
    refused = accepted ? 0 : refused + 1;
    return refused < most_tries;
  };
  if ((low < -enough && high >= 0) || (high > enough && low <= 0)) {
    while (at < to.size())
      for (T x : blocks.normal())
        if (at < to.size() && !accept(x >= low && x <= high, x))
          return false;
  } else if (width < cutoff) {
    const T plus = low < 0 ? T(0) : low * low;
    while (at < to.size()) {
      const auto x = blocks.uniform(), u = blocks.uniform();
      for (std::size_t i = 0; i < x.size() && at < to.size(); ++i) {
        const T z = x[i] * width + low;
        if (!accept(u[i] <= std::exp((plus - z * z) / T(2)), z))
          return false;
      }
    }
  } else {
    const T alpha = (low + root) / T(2);
    while (at < to.size()) {
      const auto x = blocks.uniform();
      for (std::size_t i = 0; i + 1 < x.size() && at < to.size(); i += 2) {
        const T z = -std::log(x[i]) / alpha + low;
        const T off = low < alpha ? alpha - z : low - alpha;
        if (!accept(x[i + 1] <= std::exp(-off * off / T(2)) && z < high, z))
          return false;
      }
    }
  }
  return true;
}

} // namespace troupe::random
