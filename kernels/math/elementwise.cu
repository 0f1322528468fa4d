// Elementwise arithmetic on GPUs. An operation is a number that all threads of a launch switch by:
// the kernels are bound by memory, and one for each dtype instead of one for each function and
// dtype keeps the code small.
#include <cstring>

#include "kernels/gpu/device.hpp"
#include "kernels/math/internal/elementwise_kernels.hpp"

namespace troupe::gpu {
namespace {

enum class Unary : int {
#define TROUPE_UNARY(function, kind, cost) function,
#include "graph/op/elementwise.def"
};
enum class Gradient : int {
#define TROUPE_GRADIENT(function, kind, cost) function,
#include "graph/op/elementwise.def"
};
enum class Binary : int {
#define TROUPE_BINARY(function, kind, cost) function,
#include "graph/op/elementwise.def"
};

template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;

// ---- one input

template <class T>
TROUPE_DEVICE T of_real(Unary op, T x) {
  switch (op) {
  case Unary::sqrt:
    return std::sqrt(x);
  case Unary::rsqrt:
    return T(1) / std::sqrt(x);
  case Unary::reciprocal:
    return T(1) / x;
  case Unary::exp:
    return std::exp(x);
  case Unary::expm1:
    return std::expm1(x);
  case Unary::log:
    return std::log(x);
  case Unary::log1p:
    return std::log1p(x);
  case Unary::tanh:
    return std::tanh(x);
  case Unary::sigmoid: // exp of nothing above 0, so that it does not overflow
    return x >= 0 ? T(1) / (T(1) + std::exp(-x)) : std::exp(x) / (T(1) + std::exp(x));
  case Unary::sin:
    return std::sin(x);
  case Unary::cos:
    return std::cos(x);
  case Unary::floor:
    return std::floor(x);
  case Unary::ceil:
    return std::ceil(x);
  case Unary::round:
    return std::rint(x);
  case Unary::elu:
    return x < 0 ? std::expm1(x) : x;
  case Unary::softplus: // log(1 + exp(x)) = x + log(1 + exp(-x))
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  case Unary::erf:
    return std::erf(x);
  default:
    return x;
  }
}

template <class T>
TROUPE_DEVICE T of_one(Unary op, T x) {
  switch (op) {
  case Unary::neg:
    return T(-x);
  case Unary::abs:
    if constexpr (is_real<T>)
      return std::fabs(x);
    else
      return x < 0 ? T(-x) : x;
  case Unary::sign:
    if (x != x || x == T(0))
      return x;
    return x < 0 ? T(-1) : T(1);
  case Unary::square:
    return x * x;
  case Unary::relu: // keeps NaN
    return x < 0 ? T(0) : x;
  case Unary::relu6:
    return x < 0 ? T(0) : x > T(6) ? T(6) : x;
  default:
    if constexpr (is_real<T>)
      return of_real(op, x);
    else
      return x;
  }
}

#define UNARY (int op, const void* x, void* y, std::int64_t n)
TROUPE_GPU_KERNEL(unary, UNARY) {
  map<T>(x, y, n, [what = static_cast<Unary>(op)](T value) -> T {
    if constexpr (std::is_same_v<T, bool>)
      return !value; // the only one
    else
      return narrow<T>(of_one(what, widen(value)));
  });
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, unary, UNARY, (op, x, y, n))
TROUPE_GPU_INSTANCE(unary, i64, std::int64_t, UNARY, (op, x, y, n))
TROUPE_GPU_INSTANCE(unary, bool, bool, UNARY, (op, x, y, n))

TROUPE_GPU_KERNEL(test, UNARY) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const auto value = widen(elements<T>(x)[i]);
    const bool is_nan = value != value, is_finite = !is_nan && value - value == 0;
    elements<bool>(y)[i] = static_cast<Unary>(op) == Unary::is_nan   ? is_nan
                           : static_cast<Unary>(op) == Unary::is_inf ? !is_nan && !is_finite
                                                                     : is_finite;
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, test, UNARY, (op, x, y, n))

// ---- gradients

template <class T>
TROUPE_DEVICE T of_gradient(Gradient op, T dy, T x) {
  switch (op) {
  case Gradient::relu:
    return x > 0 ? dy : dy * T(0); // NaN stays
  case Gradient::relu6:
    return x > 0 && x < T(6) ? dy : dy * T(0);
  case Gradient::elu:
    return x < 0 ? dy * (x + T(1)) : dy;
  case Gradient::softplus:
    return dy / (std::exp(-x) + T(1));
  case Gradient::tanh:
    return dy * (T(1) - x * x);
  case Gradient::sigmoid:
    return dy * x * (T(1) - x);
  case Gradient::sqrt:
    return dy == 0 ? T(0) : T(0.5) * dy / x;
  case Gradient::rsqrt:
    return dy == 0 ? T(0) : T(-0.5) * (dy * x) * (x * x);
  case Gradient::reciprocal:
    return dy == 0 ? T(0) : -(x * x) * dy;
  }
  return dy;
}

#define UNARY_GRAD (int op, const void* dy, const void* x, void* dx, std::int64_t n)
TROUPE_GPU_KERNEL(unary_grad, UNARY_GRAD) {
  map<T>(dy, x, dx, n, [what = static_cast<Gradient>(op)](T gradient, T value) -> T {
    return narrow<T>(of_gradient(what, widen(gradient), widen(value)));
  });
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, unary_grad, UNARY_GRAD, (op, dy, x, dx, n))

// ---- two inputs

template <class T>
TROUPE_DEVICE T power(T a, T b) {
  if constexpr (is_real<T>) {
    return std::pow(a, b);
  } else {
    T result = 1;
    for (; b > 0; b >>= 1, a *= a)
      if ((b & 1) != 0)
        result *= a;
    return result;
  }
}

template <class T>
TROUPE_DEVICE T of_quotient(Binary op, T a, T b) {
  if constexpr (is_real<T>) {
    switch (op) {
    case Binary::floor_div:
      return std::floor(a / b);
    case Binary::floor_mod: {
      const T rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case Binary::trunc_div:
      return std::trunc(a / b);
    case Binary::trunc_mod:
      return std::fmod(a, b);
    case Binary::div_no_nan:
      return b == 0 ? T(0) : a / b;
    case Binary::mul_no_nan:
      return b == 0 ? T(0) : a * b;
    case Binary::atan2:
      return std::atan2(a, b);
    default:
      return a / b;
    }
  } else {
    return a;
  }
}

template <class T>
TROUPE_DEVICE T of_two(Binary op, T a, T b) {
  switch (op) {
  case Binary::add:
    return a + b;
  case Binary::sub:
    return a - b;
  case Binary::mul:
    return a * b;
  case Binary::maximum:
    return a != a ? a : b != b ? b : a > b ? a : b;
  case Binary::minimum:
    return a != a ? a : b != b ? b : a < b ? a : b;
  case Binary::clip_above:
    return b < a ? b : a;
  case Binary::clip_below:
    return a < b ? b : a;
  case Binary::squared_difference:
    return (a - b) * (a - b);
  case Binary::pow:
    return power(a, b);
  default:
    return of_quotient(op, a, b);
  }
}

#define BINARY (int op, Broadcast plan, const void* a, const void* b, void* z, std::int64_t n)
TROUPE_GPU_KERNEL(binary, BINARY) {
  const auto f = [what = static_cast<Binary>(op)](T left, T right) -> T {
    if constexpr (std::is_same_v<T, bool>)
      return what == Binary::logical_and ? left && right : left || right;
    else
      return narrow<T>(of_two(what, widen(left), widen(right)));
  };
  constexpr int run = Pack<T>::size;
  if (plan.rank < 0) {
    map<T>(a, b, z, n, f);
  } else if (plan.run % run == 0 && holds_packs(a) && holds_packs(b) && holds_packs(z)) {
    const bool left_runs = plan.strides[0][plan.rank - 1] == 1,
               right_runs = plan.strides[1][plan.rank - 1] == 1;
    for (std::int64_t i = first(); i < n / run; i += stride()) {
      const Offsets<2> at = offsets_of<2>(plan, i * run);
      Pack<T> left = run_at(elements<T>(a) + at.of[0], left_runs);
      const Pack<T> right = run_at(elements<T>(b) + at.of[1], right_runs);
      for (int k = 0; k < run; ++k)
        left.at[k] = f(left.at[k], right.at[k]);
      elements<Pack<T>>(z)[i] = left;
    }
  } else {
    for (std::int64_t i = first(); i < n; i += stride()) {
      const Offsets<2> at = offsets_of<2>(plan, i);
      elements<T>(z)[i] = f(elements<T>(a)[at.of[0]], elements<T>(b)[at.of[1]]);
    }
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, binary, BINARY, (op, plan, a, b, z, n))
TROUPE_GPU_INSTANCE(binary, i64, std::int64_t, BINARY, (op, plan, a, b, z, n))
TROUPE_GPU_INSTANCE(binary, bool, bool, BINARY, (op, plan, a, b, z, n))

TROUPE_GPU_KERNEL(compare, BINARY) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Offsets<2> at = plan.rank < 0 ? Offsets<2>{{i, i}} : offsets_of<2>(plan, i);
    const auto left = widen(elements<T>(a)[at.of[0]]), right = widen(elements<T>(b)[at.of[1]]);
    bool result = false;
    switch (static_cast<Binary>(op)) {
    case Binary::equal:
      result = left == right;
      break;
    case Binary::not_equal:
      result = left != right;
      break;
    case Binary::less:
      result = left < right;
      break;
    case Binary::less_equal:
      result = left <= right;
      break;
    case Binary::greater:
      result = left > right;
      break;
    default:
      result = left >= right;
    }
    elements<bool>(z)[i] = result;
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, compare, BINARY, (op, plan, a, b, z, n))
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, compare, BINARY, (op, plan, a, b, z, n))
TROUPE_GPU_INSTANCE(compare, bool, bool, BINARY, (op, plan, a, b, z, n))

// ---- choice, casts, sums

#define SELECT                                                                                     \
  (Broadcast plan, const void* cond, const void* a, const void* b, void* z, std::int64_t n)
TROUPE_GPU_KERNEL(select, SELECT) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Offsets<3> at = plan.rank < 0 ? Offsets<3>{{i, i, i}} : offsets_of<3>(plan, i);
    elements<T>(z)[i] =
        elements<bool>(cond)[at.of[0]] ? elements<T>(a)[at.of[1]] : elements<T>(b)[at.of[2]];
  }
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, select, SELECT, (plan, cond, a, b, z, n))

template <class To, class From>
TROUPE_DEVICE To converted(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (std::is_same_v<WideOf<To>, To>)
    return static_cast<To>(x);
  else
    return narrow<To>(static_cast<float>(x));
}

/// A float without its lowest bits.
template <class From, class Bits>
TROUPE_DEVICE From without_bits(const void* x, std::int64_t i, int dropped) {
  const Bits bits = elements<Bits>(x)[i] >> dropped << dropped;
  From out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

constexpr int truncated = -1; // floats of which bfloat16 takes the upper half

#define CAST (int from, int dropped, const void* x, void* y, std::int64_t n)
TROUPE_GPU_KERNEL(cast, CAST) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    T& out = elements<T>(y)[i];
    switch (from) { // by the numbers of dtype.def
    case truncated:
      if constexpr (std::is_same_v<T, BFloat16>) {
        elements<std::uint16_t>(y)[i] =
            static_cast<std::uint16_t>(elements<std::uint32_t>(x)[i] >> 16);
      }
      break;
    case 1:
      out = converted<T>(without_bits<float, std::uint32_t>(x, i, dropped));
      break;
    case 2:
      out = converted<T>(without_bits<double, std::uint64_t>(x, i, dropped));
      break;
    case 3:
      out = converted<T>(elements<std::int32_t>(x)[i]);
      break;
    case 4:
      out = converted<T>(elements<std::uint8_t>(x)[i]);
      break;
    case 5:
      out = converted<T>(elements<std::int16_t>(x)[i]);
      break;
    case 6:
      out = converted<T>(elements<std::int8_t>(x)[i]);
      break;
    case 9:
      out = converted<T>(elements<std::int64_t>(x)[i]);
      break;
    case 10:
      out = converted<T>(elements<bool>(x)[i]);
      break;
    case 14:
      out = converted<T>(to_float(elements<BFloat16>(x)[i]));
      break;
    case 17:
      out = converted<T>(elements<std::uint16_t>(x)[i]);
      break;
    case 19:
      out = converted<T>(to_float(elements<Half>(x)[i]));
      break;
    case 22:
      out = converted<T>(elements<std::uint32_t>(x)[i]);
      break;
    default:
      out = converted<T>(elements<std::uint64_t>(x)[i]);
    }
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, cast, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, cast, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, i8, std::int8_t, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, i16, std::int16_t, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, u8, std::uint8_t, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, u16, std::uint16_t, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, u32, std::uint32_t, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, u64, std::uint64_t, CAST, (from, dropped, x, y, n))
TROUPE_GPU_INSTANCE(cast, bool, bool, CAST, (from, dropped, x, y, n))

#define ADD_N (InputList arrays, bool is_added, void* sum, std::int64_t n)
TROUPE_GPU_KERNEL(add_n, ADD_N) {
  constexpr int run = Pack<T>::size;
  bool in_packs = holds_packs(sum);
  for (int k = 0; k < arrays.count; ++k)
    in_packs = in_packs && holds_packs(arrays.data[k]);
  const std::int64_t packs = in_packs ? n / run : 0;
  for (std::int64_t i = first(); i < packs; i += stride()) {
    const auto* begin = is_added ? elements<Pack<T>>(static_cast<const void*>(sum))
                                 : elements<Pack<T>>(arrays.data[0]);
    const Pack<T> values = begin[i];
    WideOf<T> totals[run];
    for (int k = 0; k < run; ++k)
      totals[k] = widen(values.at[k]);
    for (int array = is_added ? 0 : 1; array < arrays.count; ++array) {
      const Pack<T> more = elements<Pack<T>>(arrays.data[array])[i];
      for (int k = 0; k < run; ++k)
        totals[k] += widen(more.at[k]);
    }
    Pack<T> out;
    for (int k = 0; k < run; ++k)
      out.at[k] = narrow<T>(totals[k]);
    elements<Pack<T>>(sum)[i] = out;
  }
  for (std::int64_t i = packs * run + first(); i < n; i += stride()) {
    WideOf<T> total = widen(is_added ? elements<T>(sum)[i] : elements<T>(arrays.data[0])[i]);
    for (int k = is_added ? 0 : 1; k < arrays.count; ++k)
      total += widen(elements<T>(arrays.data[k])[i]);
    elements<T>(sum)[i] = narrow<T>(total);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, add_n, ADD_N, (arrays, is_added, sum, n))
TROUPE_GPU_INSTANCE(add_n, i64, std::int64_t, ADD_N, (arrays, is_added, sum, n))

#define CLIP                                                                                       \
  (const void* x, const void* low, const void* high, int low_stride, int high_stride, void* y,     \
   std::int64_t n)
TROUPE_GPU_KERNEL(clip, CLIP) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const auto value = widen(elements<T>(x)[i]), least = widen(elements<T>(low)[i * low_stride]),
               most = widen(elements<T>(high)[i * high_stride]);
    const auto below = most < value ? most : value;
    elements<T>(y)[i] = narrow<T>(below < least ? least : below);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, clip, CLIP, (x, low, high, low_stride, high_stride, y, n))
TROUPE_GPU_INSTANCE(clip, i64, std::int64_t, CLIP, (x, low, high, low_stride, high_stride, y, n))

} // namespace
} // namespace troupe::gpu
