// Probabilities as logarithms, for connectionist temporal classification.
#pragma once

#include <cmath>
#include <limits>

namespace troupe::ctc {

/// The logarithm of zero.
template <class T>
inline constexpr T nothing = -std::numeric_limits<T>::infinity();

/// log(exp(a) + exp(b)); the smaller part in single precision, as TensorFlow's.
template <class T>
T log_sum(T a, T b) {
  if (a == nothing<T>)
    return b;
  if (b == nothing<T>)
    return a;
  const float apart = static_cast<float>(a > b ? b - a : a - b);
  return (a > b ? a : b) + static_cast<T>(std::log1p(std::exp(apart)));
}

} // namespace troupe::ctc
