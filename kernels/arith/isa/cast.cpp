// Casts between all element types, and choice between two rows. Integers are converted as
// static_cast does it.
#include "kernels/arith/isa/narrow.hpp"

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
/// Everything else becomes a float on its way to f16, and on its way from there: in blocks, by
/// these instructions.
constexpr int64_t block = 256;
template <class From>
void to_halves(const void* x, void* y, int64_t begin, int64_t end) {
  float room[block];
  for (int64_t at = begin; at < end; at += block) {
    const int64_t n = end - at < block ? end - at : block;
    convert<From, float>(static_cast<const From*>(x) + at, room, 0, n);
    floats_to_halves(room, static_cast<Half*>(y) + at, 0, n);
  }
}
template <class To>
void from_halves(const void* x, void* y, int64_t begin, int64_t end) {
  float room[block];
  for (int64_t at = begin; at < end; at += block) {
    const int64_t n = end - at < block ? end - at : block;
    halves_to_floats(static_cast<const Half*>(x) + at, room, 0, n);
    convert<float, To>(room, static_cast<To*>(y) + at, 0, n);
  }
}
#else
constexpr CastFn floats_to_halves = convert<float, Half>, halves_to_floats = convert<Half, float>;
template <class From>
constexpr CastFn to_halves = convert<From, Half>;
template <class To>
constexpr CastFn from_halves = convert<Half, To>;
#endif

#if defined(__AVX2__) && !defined(__AVX512DQ__)
void floats_to_bfloats(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const float*>(x);
  auto out = static_cast<Bfloat16*>(y);
  int64_t i = begin;
  for (; i + lanes<float> <= end; i += lanes<float>)
    store_narrow(load<Full<float>>(in + i), out + i);
  for (; i < end; ++i)
    out[i].bits = float_to_bfloat_bits(in[i]);
}

/// Four at once, for which there is no instruction: what is below 2^51 is the last bits of a sum
/// with 1.5 * 2^52.
template <class From>
void reals_to_longs(const void* x, void* y, int64_t begin, int64_t end) {
  using Reals = Vector<double, 4>;
  using Longs = Vector<int64_t, 4>;
  constexpr double magic = 0x1.8p52, limit = 0x1p51;
  auto in = static_cast<const From*>(x);
  auto out = static_cast<int64_t*>(y);
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const auto value = __builtin_convertvector((load<Vector<From, 4>>(in + i)), Reals);
    const Longs is_small = (value < limit) & (value > -limit);
    if (_mm256_movemask_pd(__builtin_bit_cast(__m256d, is_small)) == 15) {
      const auto whole =
          __builtin_bit_cast(Reals, _mm256_round_pd(__builtin_bit_cast(__m256d, value),
                                                    _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
      store(__builtin_bit_cast(Longs, whole + magic) - __builtin_bit_cast(int64_t, magic), out + i);
    } else {
      for (int64_t k = i; k < i + 4; ++k)
        out[k] = static_cast<int64_t>(in[k]);
    }
  }
  for (; i < end; ++i)
    out[i] = static_cast<int64_t>(in[i]);
}

/// Four at once: the halves of a number are the last bits of 2^52 and of 2^84, each exact, and
/// their sum is rounded once. To floats only what a double holds exactly, below 2^53.
template <class To>
void longs_to_reals(const void* x, void* y, int64_t begin, int64_t end) {
  using Longs = Vector<int64_t, 4>;
  using Reals = Vector<double, 4>;
  constexpr int64_t low_magic = 0x4330000000000000, high_magic = 0x4530000080000000,
                    both_magic = 0x4530000080100000, lower_half = 0xffffffff;
  constexpr int64_t exact = int64_t{1} << 53;
  auto in = static_cast<const int64_t*>(x);
  auto out = static_cast<To*>(y);
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const auto value = load<Longs>(in + i);
    if constexpr (sizeof(To) == 4) {
      const Longs is_exact = (value < exact) & (value > -exact);
      if (_mm256_movemask_pd(__builtin_bit_cast(__m256d, is_exact)) != 15) {
        for (int64_t k = i; k < i + 4; ++k)
          out[k] = static_cast<To>(in[k]);
        continue;
      }
    }
    const auto low = __builtin_bit_cast(Reals, (value & lower_half) | low_magic);
    using Bits = Vector<uint64_t, 4>;
    const auto high = __builtin_bit_cast(Reals, (__builtin_bit_cast(Bits, value) >> 32) ^
                                                    static_cast<uint64_t>(high_magic));
    const Reals sum = (high - __builtin_bit_cast(double, both_magic)) + low;
    store(__builtin_convertvector(sum, Vector<To, 4>), out + i);
  }
  for (; i < end; ++i)
    out[i] = static_cast<To>(in[i]);
}
#else
constexpr CastFn floats_to_bfloats = convert<float, BFloat>;
template <class From>
constexpr CastFn reals_to_longs = convert<From, int64_t>;
template <class To>
constexpr CastFn longs_to_reals = convert<int64_t, To>;
#endif

/// Numbers below 0 wrap, as they do in TensorFlow, where the processor's instruction would give the
/// largest number for each.
template <class From, class To>
void reals_to_unsigned(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const From*>(x);
  auto out = static_cast<To*>(y);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i) {
    const auto value = load(in[i]);
    const To wrapped = static_cast<To>(static_cast<int64_t>(value));
    if constexpr (sizeof(To) == sizeof(int64_t))
      out[i] = value < 0 ? wrapped : static_cast<To>(value);
    else
      out[i] = wrapped;
  }
}

template <class From, class To>
constexpr CastFn conversion = convert<From, To>;
template <>
constexpr CastFn conversion<float, uint32_t> = reals_to_unsigned<float, uint32_t>;
template <>
constexpr CastFn conversion<double, uint32_t> = reals_to_unsigned<double, uint32_t>;
template <>
constexpr CastFn conversion<float, uint64_t> = reals_to_unsigned<float, uint64_t>;
template <>
constexpr CastFn conversion<double, uint64_t> = reals_to_unsigned<double, uint64_t>;
template <class From>
constexpr CastFn conversion<From, Half> = to_halves<From>;
template <class To>
constexpr CastFn conversion<Half, To> = from_halves<To>;
template <>
constexpr CastFn conversion<Half, Half> = convert<Half, Half>;
template <>
constexpr CastFn conversion<float, Half> = floats_to_halves;
template <>
constexpr CastFn conversion<Half, float> = halves_to_floats;
template <>
constexpr CastFn conversion<float, BFloat> = floats_to_bfloats;
template <>
constexpr CastFn conversion<float, int64_t> = reals_to_longs<float>;
template <>
constexpr CastFn conversion<double, int64_t> = reals_to_longs<double>;
template <>
constexpr CastFn conversion<int64_t, float> = longs_to_reals<float>;
template <>
constexpr CastFn conversion<int64_t, double> = longs_to_reals<double>;

template <class From>
CastFn cast_from(Type to) {
  switch (to) {
  case Type::float32:
    return conversion<From, float>;
  case Type::float64:
    return conversion<From, double>;
  case Type::int32:
    return conversion<From, int32_t>;
  case Type::int64:
    return conversion<From, int64_t>;
  case Type::uint8:
    return conversion<From, uint8_t>;
  case Type::int8:
    return conversion<From, int8_t>;
  case Type::int16:
    return conversion<From, int16_t>;
  case Type::uint16:
    return conversion<From, uint16_t>;
  case Type::uint32:
    return conversion<From, uint32_t>;
  case Type::uint64:
    return conversion<From, uint64_t>;
  case Type::bool_:
    return conversion<From, Bool>;
  case Type::float16:
    return conversion<From, Half>;
  case Type::bfloat16:
    return conversion<From, BFloat>;
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
