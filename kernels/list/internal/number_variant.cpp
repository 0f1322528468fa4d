#include "kernels/list/internal/number_variant.hpp"

#include <cstring>

#include "core/base/strings.hpp"

namespace troupe::list {
namespace {

template <class T>
std::optional<T> value_of(const Variant& variant) {
  const auto parts = parts_of(variant);
  if (!parts.ok() || parts->metadata.size() != sizeof(T))
    return std::nullopt;
  if constexpr (std::is_same_v<T, bool>)
    return parts->metadata[0] != 0;
  T out;
  std::memcpy(&out, parts->metadata.data(), sizeof out);
  return out;
}

template <class T>
Variant made_of(const std::string& type_name, T value) {
  VariantParts parts;
  parts.metadata.assign(reinterpret_cast<const char*>(&value), sizeof value);
  return make_variant(type_name, std::move(parts));
}

/// visit.template operator()<T>() for the number's type.
template <class Visit>
auto dispatch_number(const Variant& variant, Visit visit)
    -> decltype(visit.template operator()<int>()) {
  if (variant.type_name == "int")
    return visit.template operator()<int>();
  if (variant.type_name == "float")
    return visit.template operator()<float>();
  if (variant.type_name == "double")
    return visit.template operator()<double>();
  if (variant.type_name == "bool")
    return visit.template operator()<bool>();
  return std::nullopt;
}

} // namespace

std::optional<Variant> add_numbers(const Variant& a, const Variant& b) {
  return dispatch_number(a, [&]<class T>() -> std::optional<Variant> {
    const auto x = value_of<T>(a), y = value_of<T>(b);
    if (!x || !y)
      return std::nullopt;
    if constexpr (std::is_same_v<T, bool>)
      return made_of(a.type_name, *x || *y);
    else if constexpr (std::is_same_v<T, int>)
      return made_of(a.type_name,
                     static_cast<int>(static_cast<unsigned>(*x) + static_cast<unsigned>(*y)));
    else
      return made_of(a.type_name, *x + *y);
  });
}

std::optional<Variant> zero_like_number(const Variant& like) {
  return dispatch_number(like, [&]<class T>() -> std::optional<Variant> {
    if (!value_of<T>(like))
      return std::nullopt;
    return made_of(like.type_name, T{});
  });
}

std::optional<std::string> text_of_number(const Variant& variant) {
  return dispatch_number(variant, [&]<class T>() -> std::optional<std::string> {
    const auto value = value_of<T>(variant);
    if (!value)
      return std::nullopt;
    if constexpr (std::is_same_v<T, bool>)
      return *value ? "1" : "0";
    else
      return str_cat(*value);
  });
}

} // namespace troupe::list
