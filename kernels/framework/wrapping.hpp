// Arithmetic of elements, which wraps, as TensorFlow's does.
#pragma once

#include <type_traits>

namespace troupe {

/// What integers of T wrap in: at least an unsigned int, as smaller ones would become signed.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T>
T add_wrapping(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  else
    return a + b;
}

template <class T>
T multiply_wrapping(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  else
    return a * b;
}

} // namespace troupe
