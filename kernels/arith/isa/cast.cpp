// Casts between all element types, and choice between two rows. Integers are converted as
// static_cast does it.
#include "kernels/arith/internal/half_bits.hpp"
#include "kernels/arith/isa/functions.hpp"
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace troupe::arith::TROUPE_ISA {
namespace {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

template <class T>
TROUPE_INLINE T load(T x) {
  return x;
}
TROUPE_INLINE float load(Half x) {
  return half_bits_to_float(x.bits);
}
TROUPE_INLINE float load(BFloat x) {
  return bfloat_bits_to_float(x.bits);
}

template <class To>
struct Store {
  template <class V>
  TROUPE_INLINE To of(V v) {
    return static_cast<To>(v);
  }
};
template <>
struct Store<Half> {
  template <class V>
  TROUPE_INLINE Half of(V v) {
    return {float_to_half_bits(static_cast<float>(v))};
  }
};
template <>
struct Store<BFloat> {
  template <class V>
  TROUPE_INLINE BFloat of(V v) {
    return {float_to_bfloat_bits(static_cast<float>(v))};
  }
};
template <>
struct Store<Bool> {
  template <class V>
  TROUPE_INLINE Bool of(V v) {
    return {static_cast<uint8_t>(v != 0)};
  }
};

template <class From, class To>
void convert(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const From*>(x);
  auto out = static_cast<To*>(y);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    out[i] = Store<To>::of(load(in[i]));
}

#if defined(__F16C__)
/// To f16 the processor has an instruction, which rounds and keeps NaN as float_to_half_bits does.
void floats_to_halves(const void* x, void* y, int64_t begin, int64_t end) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  auto in = static_cast<const float*>(x);
  auto out = static_cast<Half*>(y);
  int64_t i = begin;
  for (; i + 8 <= end; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), nearest));
  for (; i < end; ++i)
    out[i] = Store<Half>::of(in[i]);
}

/// From f16 too; NaN becomes quiet.
void halves_to_floats(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const Half*>(x);
  auto out = static_cast<float*>(y);
  int64_t i = begin;
  for (; i + 8 <= end; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  for (; i < end; ++i)
    out[i] = load(in[i]);
}
#else
constexpr CastFn floats_to_halves = convert<float, Half>, halves_to_floats = convert<Half, float>;
#endif

template <class From, class To>
constexpr CastFn conversion = convert<From, To>;
template <>
constexpr CastFn conversion<float, Half> = floats_to_halves;
template <>
constexpr CastFn conversion<Half, float> = halves_to_floats;

template <class From>
CastFn cast_from(Type to) {
  switch (to) {
  case Type::float32:
    return conversion<From, float>;
  case Type::float64:
    return convert<From, double>;
  case Type::int32:
    return convert<From, int32_t>;
  case Type::int64:
    return convert<From, int64_t>;
  case Type::uint8:
    return convert<From, uint8_t>;
  case Type::int8:
    return convert<From, int8_t>;
  case Type::int16:
    return convert<From, int16_t>;
  case Type::uint16:
    return convert<From, uint16_t>;
  case Type::uint32:
    return convert<From, uint32_t>;
  case Type::uint64:
    return convert<From, uint64_t>;
  case Type::bool_:
    return convert<From, Bool>;
  case Type::float16:
    return conversion<From, Half>;
  case Type::bfloat16:
    return convert<From, BFloat>;
  default:
    return nullptr;
  }
}

template <class T, int a_step, int b_step>
TROUPE_INLINE void choose_row(const uint8_t* choose, const T* a, const T* b, T* out, int64_t n) {
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T x = a[i * a_step], y = b[i * b_step];
    out[i] = choose[i] != 0 ? x : y;
  }
}

template <class T>
void select_row(const void* cond, int cond_step, const void* a, int a_step, const void* b,
                int b_step, void* out, int64_t n) {
  auto choose = static_cast<const uint8_t*>(cond);
  auto left = static_cast<const T*>(a);
  auto right = static_cast<const T*>(b);
  auto result = static_cast<T*>(out);
  if (cond_step == 1 && a_step == 1)
    return b_step == 1 ? choose_row<T, 1, 1>(choose, left, right, result, n)
                       : choose_row<T, 1, 0>(choose, left, right, result, n);
  if (cond_step == 1)
    return b_step == 1 ? choose_row<T, 0, 1>(choose, left, right, result, n)
                       : choose_row<T, 0, 0>(choose, left, right, result, n);
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T x = left[i * a_step], y = right[i * b_step];
    result[i] = *choose != 0 ? x : y;
  }
}

struct Wide {
  uint64_t low, high;
};

} // namespace

CastFn cast(Type from, Type to) {
  switch (from) {
  case Type::float32:
    return cast_from<float>(to);
  case Type::float64:
    return cast_from<double>(to);
  case Type::int32:
    return cast_from<int32_t>(to);
  case Type::int64:
    return cast_from<int64_t>(to);
  case Type::uint8:
    return cast_from<uint8_t>(to);
  case Type::int8:
    return cast_from<int8_t>(to);
  case Type::int16:
    return cast_from<int16_t>(to);
  case Type::uint16:
    return cast_from<uint16_t>(to);
  case Type::uint32:
    return cast_from<uint32_t>(to);
  case Type::uint64:
    return cast_from<uint64_t>(to);
  case Type::bool_:
    return cast_from<uint8_t>(to); // 0 or 1 already
  case Type::float16:
    return cast_from<Half>(to);
  case Type::bfloat16:
    return cast_from<BFloat>(to);
  default:
    return nullptr;
  }
}

SelectRow select(int size) {
  switch (size) {
  case 1:
    return select_row<uint8_t>;
  case 2:
    return select_row<uint16_t>;
  case 4:
    return select_row<uint32_t>;
  case 8:
    return select_row<uint64_t>;
  case 16:
    return select_row<Wide>;
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
