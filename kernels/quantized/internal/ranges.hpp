// Integers that stand for the floats of a range in equal steps, as TensorFlow 1's quantised graphs
// have them: the lowest integer is the range's least float, the highest its most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"
#include "graph/op/shape_context.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::quantized {

struct Range {
  float least = 0, most = 0;
};

template <class Q>
using Bits = decltype(Q::bits);
template <class Q>
inline constexpr std::int64_t lowest = std::numeric_limits<Bits<Q>>::min();
template <class Q>
inline constexpr std::int64_t highest = std::numeric_limits<Bits<Q>>::max();
/// From the lowest integer to the highest.
template <class Q>
inline constexpr double last_step = static_cast<double>(highest<Q>) -
                                    static_cast<double>(lowest<Q>);

/// As x86 converts: what is no int64 is the smallest.
inline std::int64_t to_int64(double x) {
  return std::abs(x) < 0x1p63 ? static_cast<std::int64_t>(x)
                              : std::numeric_limits<std::int64_t>::min();
}

// ---- one number

/// The integer that stands for `x`, also beyond those that Q has.
template <class Q>
std::int64_t place_of(float x, Range r) {
  if (r.least == r.most)
    return lowest<Q>;
  constexpr double adjust = (last_step<Q> + 1) / last_step<Q>;
  const double scale = (last_step<Q> + 1) / ((r.most - r.least) * adjust);
  std::int64_t place = to_int64(std::round(x * scale) - std::round(r.least * scale));
  if (__builtin_add_overflow(place, lowest<Q>, &place))
    return std::numeric_limits<std::int64_t>::min();
  return place;
}

/// The nearest one that Q has.
template <class Q>
Q quantized(float x, Range r) {
  return {static_cast<Bits<Q>>(std::clamp(place_of<Q>(x, r), lowest<Q>, highest<Q>))};
}

template <class Q>
float value_of(Q q, Range r) {
  if (r.least == r.most)
    return r.least;
  constexpr double adjust = (last_step<Q> + 1) / last_step<Q>;
  const double step = (r.most - r.least) * adjust / (last_step<Q> + 1);
  const auto narrow = static_cast<float>(step);
  const double least = std::round(r.least / narrow) * narrow;
  const double place = static_cast<float>(q.bits); // TensorFlow's integers become doubles so
  return static_cast<float>(least + (place - lowest<Q>)*step);
}

template <class To, class From>
To requantized(From q, Range from, Range to) {
  return quantized<To>(value_of(q, from), to);
}

// ---- many numbers, in float

template <class Q>
class ToFloats {
public:
  explicit ToFloats(Range r) : scale_(static_cast<float>((r.most - r.least) / last_step<Q>)) {
    const float least = r.least == r.most ? r.least : std::round(r.least / scale_) * scale_;
    offset_ = least - static_cast<float>(lowest<Q>) * scale_;
  }
  float operator()(Q q) const { return offset_ + static_cast<float>(q.bits) * scale_; }

private:
  float scale_, offset_;
};

template <class Q>
class FromFloats {
public:
  explicit FromFloats(Range r)
      : scale_(r.least == r.most ? 0.0F : static_cast<float>(last_step<Q> / (r.most - r.least))),
        offset_(std::round(r.least * scale_) - static_cast<float>(lowest<Q>)) {}
  Q operator()(float x) const {
    constexpr float most = sizeof(Q) == 4 ? 2147483520.0F : static_cast<float>(highest<Q>);
    const float place = std::round(x * scale_) - offset_;
    if (!(place > static_cast<float>(lowest<Q>)))
      return {static_cast<Bits<Q>>(lowest<Q>)};
    return {static_cast<Bits<Q>>(std::min(place, most))};
  }

private:
  float scale_, offset_;
};

// ---- ranges of results

template <class Q>
float step_of(Range r) {
  return (r.most - r.least) / static_cast<float>(highest<Q> - lowest<Q>);
}

/// That of products in qint32, of which one step is the product of the factors' steps.
template <class A, class B>
Range product_range(Range a, Range b) {
  const float step = step_of<A>(a) * step_of<B>(b);
  return {step * static_cast<float>(lowest<QInt32>), step * static_cast<float>(highest<QInt32>)};
}

/// That of sums in qint32: around zero, with room for so many terms.
inline Range sum_range(Range a, Range b, int terms) {
  const float most = std::max(a.most, std::max(-a.least, std::max(b.most, -b.least)));
  return {-most * static_cast<float>(terms), most * static_cast<float>(terms)};
}

// ---- inputs and outputs

/// The sentence on a bound named `name` of the wrong shape.
using BoundText = std::string (*)(std::string_view name, const Shape& shape);

inline std::string must_be_rank_0(std::string_view name, const Shape& shape) {
  return str_cat(name, " must be rank 0 but is rank ", shape.rank());
}
inline std::string quoted_must_be_rank_0(std::string_view name, const Shape& shape) {
  return str_cat("`", name, "` must be rank 0 but is rank ", shape.rank());
}

/// The scalar bound in input `at`.
inline Result<float> bound_of(KernelContext& c, int at, std::string_view name, BoundText text) {
  const Tensor& bound = c.input(at);
  if (!bound.shape().is_scalar())
    return invalid_argument(text(name, bound.shape()));
  return bound.value<float>();
}

/// The range of which inputs `at` and `at` + 1 are the bounds; `name` goes after "min_" and "max_".
inline Result<Range> range_of(KernelContext& c, int at, std::string_view name, BoundText text) {
  TROUPE_ASSIGN(const float least, bound_of(c, at, str_cat("min_", name), text));
  TROUPE_ASSIGN(const float most, bound_of(c, at + 1, str_cat("max_", name), text));
  return Range{least, most};
}

/// Makes outputs `at` and `at` + 1 the range's bounds.
inline Status set_range(KernelContext& c, int at, Range r) {
  TROUPE_TRY(c.set_output(at, Tensor::scalar<float>(r.least)));
  return c.set_output(at + 1, Tensor::scalar<float>(r.most));
}

/// Requires inputs [first, end) to be scalars, and says that outputs `out` and `out` + 1 are.
inline Status infer_ranges(ShapeContext& c, int first, int end, int out = 1) {
  for (int i = first; i < end; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  for (int i = out; i < out + 2; ++i)
    TROUPE_TRY(c.set_output(i, PartialShape(std::vector<std::int64_t>{})));
  return {};
}

/// What quantised ops say of their gradients.
inline constexpr auto no_gradient = "it computes with integers";

} // namespace troupe::quantized
