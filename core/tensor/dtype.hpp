// DType: the element type of a tensor, with TensorFlow's numbers and names. The list itself is
// dtype.def.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/types.hpp"

namespace troupe {

/// `DType::invalid` is TensorFlow's DT_INVALID. A reference type (`T&` of variables and their
/// users) is the value plus 100.
enum class DType : std::int32_t {
  invalid = 0,
#define TROUPE_DTYPE(name, number, size, literal, type) name = number,
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
};

constexpr bool is_ref(DType t) {
  return static_cast<int>(t) > 100;
}
constexpr DType make_ref(DType t) {
  return is_ref(t) ? t : static_cast<DType>(static_cast<int>(t) + 100);
}
constexpr DType remove_ref(DType t) {
  return is_ref(t) ? static_cast<DType>(static_cast<int>(t) - 100) : t;
}

/// Bytes per element; 0 for string, resource, variant and unknown numbers. References as their
/// base.
std::size_t dtype_size(DType t);
/// True for a number of the list, reference or not.
bool is_known(DType t);
/// Elements are C++ objects (string, resource, variant) rather than plain bytes.
constexpr bool is_object(DType t) {
  t = remove_ref(t);
  return t == DType::string || t == DType::resource || t == DType::variant;
}
constexpr bool is_floating(DType t) {
  t = remove_ref(t);
  return t == DType::float32 || t == DType::float64 || t == DType::float16 || t == DType::bfloat16;
}
constexpr bool is_complex(DType t) {
  t = remove_ref(t);
  return t == DType::complex64 || t == DType::complex128;
}
bool is_integer(DType t); ///< signed or unsigned, 8 to 64 bits; not bool, not quantised

/// As TensorFlow's op signatures write it: "float", "int32", "float_ref"; "invalid" for DT_INVALID,
/// "dtype(77)" for an unknown number.
std::string to_string(DType t);
/// The short name of literals: "f32", "i64", "str".
std::string_view literal_name(DType t);
/// Accepts TensorFlow's names ("float", "double", "half", "bool", "DT_FLOAT", each also with _ref /
/// _REF) and literal names.
std::optional<DType> parse_dtype(std::string_view name);

/// dtype_of<float> is DType::float32; only types of dtype.def.
template <class T>
inline constexpr DType dtype_of = DType::invalid;
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  template <>                                                                                      \
  inline constexpr DType dtype_of<type> = DType::name;
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE

/// A list of C++ element types, for `dispatch`.
template <class... Ts>
struct Types {};
using Floats = Types<float, double>;
using Indices = Types<std::int32_t, std::int64_t>;
using Numbers = Types<float, double, std::int32_t, std::int64_t>;

/// Calls `f.template operator()<T>()` for the T of the list whose dtype is `t`; the sentence of the
/// error names the dtype.
template <class... Ts, class F>
Status dispatch(Types<Ts...>, DType t, F&& f) {
  Status out;
  bool found = ((dtype_of<Ts> == t ? (out = f.template operator()<Ts>(), true) : false) || ...);
  if (!found)
    return unimplemented("there is no kernel for elements of dtype " + to_string(t));
  return out;
}

} // namespace troupe
