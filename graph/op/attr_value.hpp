// AttrValue: the value of a node's attribute, as a C++ value (the protobuf form is AttrValue in
// proto/attr_value.proto).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

class AttrMap;

/// A function's name with the attributes it is instantiated with.
struct FunctionRef {
  std::string name;
  std::shared_ptr<const AttrMap> attrs; ///< null: none
  friend bool operator==(const FunctionRef& a, const FunctionRef& b);
};

/// Stands for the value of an attribute of the function around the node ("$T").
struct AttrPlaceholder {
  std::string name;
  friend bool operator==(const AttrPlaceholder&, const AttrPlaceholder&) = default;
};

/// An empty list whose element type is not known from the value.
struct EmptyList {
  friend bool operator==(const EmptyList&, const EmptyList&) = default;
};

struct TensorBox {
  Tensor tensor;
  friend bool operator==(const TensorBox& a, const TensorBox& b) {
    return equal(a.tensor, b.tensor);
  }
};

using AttrValue =
    std::variant<std::monostate, std::string, std::int64_t, float, bool, DType, PartialShape,
                 TensorBox, FunctionRef, AttrPlaceholder, EmptyList, std::vector<std::string>,
                 std::vector<std::int64_t>, std::vector<float>, std::vector<bool>,
                 std::vector<DType>, std::vector<PartialShape>, std::vector<TensorBox>,
                 std::vector<FunctionRef>>;

/// What a schema says an attribute is: "int", "type", "list(shape)".
enum class AttrKind : std::uint8_t {
  string,
  integer,
  real,
  boolean,
  type,
  shape,
  tensor,
  function
};

struct AttrType {
  AttrKind kind = AttrKind::string;
  bool list = false;
  std::string to_string() const; ///< TensorFlow's spelling: "string", "int", "float", "bool",
                                 ///< "type", "shape", "tensor", "func", "list(int)"
  friend bool operator==(const AttrType&, const AttrType&) = default;
};

/// INVALID_ARGUMENT if the value is not of that type; a placeholder and an EmptyList for a list
/// pass.
Status check_attr_type(const AttrValue& value, AttrType type, std::string_view attr_name);
/// For messages, text graphs and signatures: `3`, `DT_FLOAT`, `"x"`, `[1, 2]`, `{shape [2,?]}`.
std::string to_string(const AttrValue& value);

/// Attributes of one node by name, in name order. Few, so a sorted vector.
class AttrMap {
public:
  AttrMap() = default;
  AttrMap(std::initializer_list<std::pair<std::string, AttrValue>> entries);
  /// From entries in any order; of several of one name the last stays.
  explicit AttrMap(std::vector<std::pair<std::string, AttrValue>> entries);

  /// Null if absent.
  const AttrValue* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  void set(std::string_view name, AttrValue value); ///< adds or replaces
  bool erase(std::string_view name);

  /// INVALID_ARGUMENT if absent or of another type. T is one of AttrValue's alternatives, or
  /// Tensor.
  template <class T>
  Result<T> get(std::string_view name) const;
  /// The value, or `otherwise` if absent (or of another type).
  template <class T>
  T get_or(std::string_view name, T otherwise) const {
    auto value = get<T>(name);
    return value.ok() ? *std::move(value) : otherwise;
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const AttrMap&, const AttrMap&) = default;

private:
  Status wrong(std::string_view name, bool present) const;
  std::vector<std::pair<std::string, AttrValue>> entries_;
};

template <class T>
Result<T> AttrMap::get(std::string_view name) const {
  const AttrValue* value = find(name);
  if (!value)
    return wrong(name, false);
  if constexpr (std::is_same_v<T, Tensor>) {
    if (auto* box = std::get_if<TensorBox>(value))
      return box->tensor;
  } else {
    if (auto* held = std::get_if<T>(value))
      return *held;
    if constexpr (requires(T t) {
                    t.clear();
                    t.begin();
                  } &&
                  !std::is_same_v<T, std::string>)
      if (std::holds_alternative<EmptyList>(*value))
        return T{};
  }
  return wrong(name, true);
}

} // namespace troupe
