// Optimizers as rules: what happens to one element of the variables, said once, gives the op's four
// forms: all elements or some rows, of variables given by reference or by handle.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <string_view>

#include "kernels/train/internal/update.hpp"

namespace troupe::train {

/// An element of a small float, computed with in float and rounded after each operation, as
/// TensorFlow does.
template <class H>
struct Rounded {
  H bits;
  Rounded() = default;
  Rounded(float x) : bits(x) {}
  operator float() const { return static_cast<float>(bits); }
  friend Rounded operator+(Rounded a, Rounded b) { return float(a) + float(b); }
  friend Rounded operator-(Rounded a, Rounded b) { return float(a) - float(b); }
  friend Rounded operator*(Rounded a, Rounded b) { return float(a) * float(b); }
  friend Rounded operator/(Rounded a, Rounded b) { return float(a) / float(b); }
  friend bool operator>(Rounded a, Rounded b) { return float(a) > float(b); }
  Rounded operator-() const { return -float(*this); }
  Rounded& operator+=(Rounded b) { return *this = *this + b; }
  Rounded& operator-=(Rounded b) { return *this = *this - b; }
};
static_assert(sizeof(Rounded<Half>) == sizeof(Half));

template <class T>
T root(T x) {
  return std::sqrt(x);
}
template <class T>
T power(T x, T y) {
  return std::pow(x, y);
}
template <class T>
T exponential(T x) {
  return std::exp(x);
}
template <class H>
Rounded<H> root(Rounded<H> x) {
  return std::sqrt(float(x));
}
template <class H>
Rounded<H> power(Rounded<H> x, Rounded<H> y) {
  return std::pow(float(x), float(y));
}
template <class H>
Rounded<H> exponential(Rounded<H> x) {
  return std::exp(float(x));
}
template <class T>
T magnitude(T x) {
  return x > T(0) ? x : -x;
}
template <class T>
T larger(T x, T y) {
  return y > x ? y : x;
}
template <class T>
T sign(T x) {
  return x > T(0) ? T(1) : T(0) > x ? T(-1) : T(0);
}

/// The scalars of one update in the order of the op's inputs, and its flags in the order of its
/// attributes, use_locking left out.
struct Numbers {
  std::array<arith::Scalar, 8> scalars;
  std::array<bool, 2> flags{};
  template <class T>
  T get(std::size_t i) const {
    const arith::Scalar& x = scalars[i];
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      return T(static_cast<typename T::value_type>(x.real),
               static_cast<typename T::value_type>(x.imaginary));
    else
      return T(static_cast<float>(x.real));
  }
};
template <>
inline double Numbers::get<double>(std::size_t i) const {
  return scalars[i].real;
}

/// Updates `count` elements at the addresses of the variables.
using UpdateFn = void (*)(void* const* values, const void* grad, const Numbers& numbers,
                          std::int64_t count);

/// `Step<T>(numbers)` holds what all elements share; `step(var, …, grad)` updates one.
template <template <class> class Step, class T, std::size_t... I>
void update_elements(void* const* values, const void* grad, const Numbers& numbers,
                     std::int64_t count, std::index_sequence<I...>) {
  const Step<T> step(numbers);
  const auto* g = static_cast<const T*>(grad);
  T* const data[] = {static_cast<T*>(values[I])...};
  for (std::int64_t i = 0; i < count; ++i)
    step(data[I][i]..., g[i]);
}

/// Which dtypes a rule has.
enum class RuleTypes {
  floats,
  reals,
  all
}; // float and double; also half and bfloat16; also complex

template <template <class> class Step, std::size_t variables, RuleTypes types>
UpdateFn find_update(DType dtype) {
  const auto make = []<class T>() -> UpdateFn {
    return [](void* const* values, const void* grad, const Numbers& numbers, std::int64_t count) {
      update_elements<Step, T>(values, grad, numbers, count, std::make_index_sequence<variables>());
    };
  };
  if (dtype == DType::float32)
    return make.template operator()<float>();
  if (dtype == DType::float64)
    return make.template operator()<double>();
  if constexpr (types != RuleTypes::floats) {
    if (dtype == DType::float16)
      return make.template operator()<Rounded<Half>>();
    if (dtype == DType::bfloat16)
      return make.template operator()<Rounded<BFloat16>>();
  }
  if constexpr (types == RuleTypes::all) {
    if (dtype == DType::complex64)
      return make.template operator()<std::complex<float>>();
    if (dtype == DType::complex128)
      return make.template operator()<std::complex<double>>();
  }
  return nullptr;
}

/// One optimizer. Names are those of the op's inputs, separated by blanks.
struct Rule {
  std::string_view name;                ///< "Adagrad": of ApplyAdagrad and the others
  std::string_view variables = {};      ///< "var accum"
  std::string_view numbers = {};        ///< "lr grad": the scalars, and where the gradient stands
  std::string_view sparse_numbers = {}; ///< the same of the op on rows; empty: there is none
  std::string_view flags = {};          ///< attributes besides use_locking, as in a signature
  UpdateFn (*find)(DType) = nullptr;
  std::string_view doc = {};
  bool is_dense = true, has_refs = true;
  /// What is asked of the scalars beyond being scalars; null: nothing.
  Status (*check)(const KernelContext&, bool sparse) = nullptr;
  bool rows_have_elements = false;                 ///< rows of no elements are refused
  bool adam_wording = false, rank_of_grad = false; ///< as in Inputs
  KernelFn dense_on_gpu = nullptr;                 ///< null: there is none
};

namespace detail {
Result<std::shared_ptr<const void>> prepare(PrepareContext& c, const Rule& rule, bool sparse);
Status infer_shape(ShapeContext& c, const Rule& rule, bool sparse);
void add_op(OpLibrary& library, const Rule& rule, bool sparse, bool resource, PrepareFn prepare,
            ShapeFn shape);
} // namespace detail

/// Adds the ops of a rule: ApplyNAME, ResourceApplyNAME, SparseApplyNAME, ResourceSparseApplyNAME.
template <const Rule& rule>
void add_rule(OpLibrary& library) {
  for (const bool resource : {false, true}) {
    if (!resource && !rule.has_refs)
      continue;
    if (rule.is_dense)
      detail::add_op(
          library, rule, false, resource,
          [](PrepareContext& c) { return detail::prepare(c, rule, false); },
          [](ShapeContext& c) { return detail::infer_shape(c, rule, false); });
    if (!rule.sparse_numbers.empty())
      detail::add_op(
          library, rule, true, resource,
          [](PrepareContext& c) { return detail::prepare(c, rule, true); },
          [](ShapeContext& c) { return detail::infer_shape(c, rule, true); });
  }
}

} // namespace troupe::train
