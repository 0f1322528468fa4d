// Normal numbers between bounds, one row after the other, as TensorFlow draws them (Robert,
// "Simulation of truncated normal variables", 1995).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <span>
#include <utility>

#include "core/tensor/types.hpp"
#include "kernels/arith/philox.hpp"

namespace troupe::random {

inline constexpr int most_tries = 1000;

/// A half as TensorFlow's kernels compute with it: in float, rounded after every operation.
class RoundedHalf {
public:
  RoundedHalf() = default;
  RoundedHalf(double value) : value_(static_cast<float>(Half(static_cast<float>(value)))) {}
  RoundedHalf(Half half) : value_(static_cast<float>(half)) {}
  operator Half() const { return Half(value_); }

  friend RoundedHalf operator+(RoundedHalf a, RoundedHalf b) { return {a.value_ + b.value_}; }
  friend RoundedHalf operator-(RoundedHalf a, RoundedHalf b) { return {a.value_ - b.value_}; }
  friend RoundedHalf operator*(RoundedHalf a, RoundedHalf b) { return {a.value_ * b.value_}; }
  friend RoundedHalf operator/(RoundedHalf a, RoundedHalf b) { return {a.value_ / b.value_}; }
  friend RoundedHalf operator-(RoundedHalf a) { return {-a.value_}; }
  friend auto operator<=>(RoundedHalf, RoundedHalf) = default;
  friend RoundedHalf sqrt(RoundedHalf x) { return {std::sqrt(x.value_)}; }
  friend RoundedHalf exp(RoundedHalf x) { return {std::exp(x.value_)}; }
  friend RoundedHalf log(RoundedHalf x) { return {std::log(x.value_)}; }
  friend bool isinf(RoundedHalf x) { return std::isinf(x.value_); }
  friend bool isfinite(RoundedHalf x) { return std::isfinite(x.value_); }

private:
  float value_ = 0;
};

/// What elements of a tensor are computed as.
template <class T>
struct NumberOf {
  using type = T;
};
template <>
struct NumberOf<Half> {
  using type = RoundedHalf;
};
template <class T>
using Number = typename NumberOf<T>::type;

/// One block of numbers after the other. T is an element: float, double or Half.
template <class T>
class Blocks {
public:
  static constexpr std::size_t size = sizeof(T) == 8 ? 2 : 4;
  explicit Blocks(const arith::Philox& generator) : generator_(generator) {}
  std::array<Number<T>, size> uniform() { return next(arith::fill_uniform); }
  std::array<Number<T>, size> normal() { return next(arith::fill_normal); }

private:
  static constexpr arith::Type type = sizeof(T) == 8   ? arith::Type::float64
                                      : sizeof(T) == 4 ? arith::Type::float32
                                                       : arith::Type::float16;
  template <class Fill>
  std::array<Number<T>, size> next(Fill fill) {
    std::array<T, size> drawn{};
    fill(type, generator_, drawn.data(), 0, static_cast<std::int64_t>(size));
    generator_.skip(1);
    std::array<Number<T>, size> out{};
    std::copy(drawn.begin(), drawn.end(), out.begin());
    return out;
  }
  arith::Philox generator_;
};

template <class T>
struct Bounds {
  Number<T> mean = 0, deviation = 1, low = 0, high = 0;
  /// Otherwise TensorFlow says "Invalid parameters".
  bool are_valid() const {
    using std::isfinite;
    return deviation > 0 && low < high && (isfinite(low) || isfinite(high));
  }
};

/// Fills `to` from the next blocks; false if a number was refused too often.
template <class E>
bool draw_row(Bounds<E> b, Blocks<E>& blocks, std::span<E> to) {
  using T = Number<E>;
  using std::exp, std::log, std::sqrt, std::isinf;
  if ((isinf(b.low) && b.low < 0) || b.high < b.mean) {
    std::swap(b.low, b.high);
    b.deviation = -b.deviation;
  }
  const T low = (b.low - b.mean) / b.deviation, high = (b.high - b.mean) / b.deviation;
  const T root = sqrt(low * low + T(4));
  const T cutoff = T(2) * exp(T(0.5) + (low * (low - root)) / T(4)) / (low + root);
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
        if (!accept(u[i] <= exp((plus - z * z) / T(2)), z))
          return false;
      }
    }
  } else {
    const T alpha = (low + root) / T(2);
    while (at < to.size()) {
      const auto x = blocks.uniform();
      for (std::size_t i = 0; i + 1 < x.size() && at < to.size(); i += 2) {
        const T z = -log(x[i]) / alpha + low;
        const T off = low < alpha ? alpha - z : low - alpha;
        if (!accept(x[i + 1] <= exp(-off * off / T(2)) && z < high, z))
          return false;
      }
    }
  }
  return true;
}

} // namespace troupe::random
