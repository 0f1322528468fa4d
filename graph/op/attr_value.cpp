#include "graph/op/attr_value.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

constexpr std::string_view kind_names[] = {"string", "int",   "float",  "bool",
                                           "type",   "shape", "tensor", "func"};

std::string_view kind_name(AttrKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

// What kind of value this is; nothing for a value that says too little (absent, placeholder, []).
std::optional<AttrType> type_of(const AttrValue& value) {
  static constexpr AttrKind scalars[] = {AttrKind::string,  AttrKind::integer, AttrKind::real,
                                         AttrKind::boolean, AttrKind::type,    AttrKind::shape,
                                         AttrKind::tensor,  AttrKind::function};
  std::size_t index = value.index();
  if (index >= 1 && index <= 8)
    return AttrType{scalars[index - 1], false};
  if (index >= 11)
    return AttrType{scalars[index - 11], true};
  return std::nullopt;
}

Status check_dtype(DType t, std::string_view attr_name) {
  if (t == DType::invalid)
    return invalid_argument(str_cat("AttrValue has invalid DataType for attr '", attr_name, "'"));
  if (!is_known(t))
    return invalid_argument(str_cat("AttrValue has invalid DataType enum: ", static_cast<int>(t),
                                    " for attr '", attr_name, "'"));
  if (is_ref(t))
    return invalid_argument(str_cat("AttrValue must not have reference type value of ",
                                    to_string(t), " for attr '", attr_name, "'"));
  return {};
}

// "DT_FLOAT", "DT_FLOAT_REF".
std::string enum_name(DType t) {
  std::string name = str_cat("DT_", to_string(t));
  for (char& c : name)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return name;
}

std::string print(const std::string& s) {
  return str_quote(s);
}
std::string print(std::int64_t i) {
  return str_cat(i);
}
std::string print(float f) {
  std::string out = str_cat(f);
  if (std::isfinite(f) && out.find_first_of(".e") == std::string::npos)
    out += ".0";
  return out;
}
std::string print(bool b) {
  return b ? "true" : "false";
}
std::string print(DType t) {
  return enum_name(t);
}
std::string print(const PartialShape& shape) {
  return str_cat("{shape ", shape, "}");
}
std::string print(const TensorBox& box) {
  return str_cat("{tensor ", box.tensor.has_value() ? box.tensor.to_string() : "none", "}");
}
std::string print(const FunctionRef& f) {
  std::string out = str_cat("{func ", f.name);
  if (f.attrs && !f.attrs->empty()) {
    out += '[';
    std::string_view separator;
    for (const auto& [name, value] : *f.attrs) {
      str_append(out, separator, name, "=", to_string(value));
      separator = ", ";
    }
    out += ']';
  }
  return out + '}';
}
std::string print(std::monostate) {
  return "none";
}
std::string print(const AttrPlaceholder& p) {
  return str_cat("$", p.name);
}
std::string print(EmptyList) {
  return "[]";
}
template <class T>
std::string print(const std::vector<T>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i)
    str_append(out, i ? ", " : "", print(static_cast<const T&>(list[i])));
  return out + ']';
}

bool name_less(const std::pair<std::string, AttrValue>& entry, std::string_view name) {
  return entry.first < name;
}

} // namespace

bool operator==(const FunctionRef& a, const FunctionRef& b) {
  static const AttrMap none;
  return a.name == b.name && (a.attrs ? *a.attrs : none) == (b.attrs ? *b.attrs : none);
}

std::string AttrType::to_string() const {
  return list ? str_cat("list(", kind_name(kind), ")") : std::string(kind_name(kind));
}

Status check_attr_type(const AttrValue& value, AttrType type, std::string_view attr_name) {
  if (std::holds_alternative<AttrPlaceholder>(value))
    return {};
  if (std::holds_alternative<EmptyList>(value)) {
    if (type.list)
      return {};
    return invalid_argument(str_cat("AttrValue had value with type 'list(any)' when '", type,
                                    "' expected for attr '", attr_name, "'"));
  }
  auto actual = type_of(value);
  if (!actual)
    return invalid_argument(str_cat("AttrValue missing value with expected type '", type,
                                    "' for attr '", attr_name, "'"));
  if (*actual != type)
    return invalid_argument(str_cat("AttrValue had value with type '", *actual, "' when '", type,
                                    "' expected for attr '", attr_name, "'"));
  if (auto* t = std::get_if<DType>(&value))
    return check_dtype(*t, attr_name);
  if (auto* list = std::get_if<std::vector<DType>>(&value))
    for (DType t : *list)
      TROUPE_TRY(check_dtype(t, attr_name));
  return {};
}

std::string to_string(const AttrValue& value) {
  return std::visit([](const auto& held) { return print(held); }, value);
}

AttrMap::AttrMap(std::initializer_list<std::pair<std::string, AttrValue>> entries) {
  entries_.reserve(entries.size());
  for (const auto& [name, value] : entries)
    set(name, value);
}

AttrMap::AttrMap(std::vector<std::pair<std::string, AttrValue>> entries)
    : entries_(std::move(entries)) {
  auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  std::stable_sort(entries_.begin(), entries_.end(), less);
  // unique() keeps the first of equals: seen from the back that is the last.
  auto kept = std::unique(entries_.rbegin(), entries_.rend(), same);
  entries_.erase(entries_.begin(), kept.base());
}

const AttrValue* AttrMap::find(std::string_view name) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

void AttrMap::set(std::string_view name, AttrValue value) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  if (at != entries_.end() && at->first == name)
    at->second = std::move(value);
  else
    entries_.emplace(at, std::string(name), std::move(value));
}

bool AttrMap::erase(std::string_view name) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  if (at == entries_.end() || at->first != name)
    return false;
  entries_.erase(at);
  return true;
}

Status AttrMap::wrong(std::string_view name, bool present) const {
  if (!present)
    return invalid_argument(str_cat("No attr named '", name, "' in the node"));
  auto type = type_of(*find(name));
  return invalid_argument(str_cat("attr '", name, "' has another type than expected: it is ",
                                  type ? type->to_string() : "a placeholder or an empty list", ", ",
                                  to_string(*find(name))));
}

} // namespace troupe
