// For this folder's tests: runs a body on every instruction set (and with and without oneDNN), and
// makes reproducible values.
#pragma once
#include "kernels/arith/internal/isa_table.hpp"
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
    return sizeof(T) == 4 ? Type::float32 : Type::float64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? Type::int8
           : sizeof(T) == 2 ? Type::int16
           : sizeof(T) == 4 ? Type::int32
                            : Type::int64;
  else
    return sizeof(T) == 1   ? Type::uint8
           : sizeof(T) == 2 ? Type::uint16
           : sizeof(T) == 4 ? Type::uint32
                            : Type::uint64;
}

// What the instruction set in use has, or null.
inline UnaryFn unary(UnaryOp op, Type type) {
  return isa_table().unary(op, type);
}
inline GradFn unary_grad(GradOp op, Type type) {
  return isa_table().unary_grad(op, type);
}
inline BinaryKernel binary(BinaryOp op, Type type) {
  return binary_kernel(op, type);
}
inline CastFn cast(Type from, Type to) {
  return isa_table().cast(from, to);
}
inline AddNFn add_n(Type type) {
  return isa_table().add_n(type);
}
inline ReduceKernel reduce(ReduceOp op, Type type) {
  return isa_table().reduce(op, type);
}
inline ArgReduceFn arg_reduce(bool want_max, Type type, Type index_type) {
  return isa_table().arg_reduce(want_max, type, index_type);
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
