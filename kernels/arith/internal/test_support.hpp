// For this folder's tests: runs a body on every instruction set (and with and without oneDNN), and
// makes reproducible values.
#pragma once
#include "kernels/arith/types.hpp"
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace troupe::arith {

/// Calls body() once for each instruction set of this machine, and puts the old one back.
template <class Body>
void on_each_isa(Body body) {
  const Isa before = isa();
  for (Isa each : {Isa::base, Isa::avx2, Isa::avx512}) {
    if (!use_isa(each))
      continue;
    const std::string isa_name = name_of(each);
    CAPTURE(isa_name);
    body();
  }
  use_isa(before);
}

/// The same, and for each once with oneDNN (where it is there) and once without.
template <class Body>
void on_each_isa_and_library(Body body) {
  const bool before = onednn_in_use();
  on_each_isa([&] {
    for (bool on : {false, true}) {
      use_onednn(on);
      CAPTURE(on);
      body();
    }
  });
  use_onednn(before);
}

template <class T>
constexpr Type type_of() {
  constexpr bool real = std::is_floating_point_v<T>;
  if constexpr (real)
    return sizeof(T) == 4 ? Type::f32 : Type::f64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? Type::i8
           : sizeof(T) == 2 ? Type::i16
           : sizeof(T) == 4 ? Type::i32
                            : Type::i64;
  else
    return sizeof(T) == 1   ? Type::u8
           : sizeof(T) == 2 ? Type::u16
           : sizeof(T) == 4 ? Type::u32
                            : Type::u64;
}

/// Values between low and high: reals uniform, integers too.
template <class T>
std::vector<T> random_values(int64_t n, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> values(low, high);
  std::vector<T> result(static_cast<size_t>(n));
  for (T& x : result)
    x = static_cast<T>(values(generator));
  return result;
}

/// Distance in units in the last place of T; 0 for two NaNs, huge where only one is NaN or
/// infinite.
template <class T>
double ulp_distance(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(got) || std::isnan(rounded))
    return std::isnan(got) == std::isnan(rounded) ? 0 : 1e30;
  if (got == rounded)
    return 0;
  if (std::isinf(got) || std::isinf(rounded))
    return 1e29;
  const T magnitude = std::fabs(rounded);
  const T unit = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(
      std::fabs((static_cast<long double>(got) - want) / static_cast<long double>(unit)));
}

} // namespace troupe::arith
