// A tensorflow.Feature on the wire: one list of texts, floats or 64-bit integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/dtype.hpp"

namespace troupe::parsing {

/// What the values of a feature may be.
using FeatureTypes = Types<std::string, float, std::int64_t>;

/// A feature of which only the kind has been looked at. What follows the list in its message is
/// overlooked.
class Feature {
public:
  Feature() = default;
  /// From the message's bytes; no bytes, no kind. Nothing if the first field is no list.
  static std::optional<Feature> read(std::string_view message);

  bool has_kind() const { return dtype_ != DType::invalid; }
  /// string, float or int64; invalid without a kind.
  DType dtype() const { return dtype_; }
  /// No less than its texts have bytes.
  std::size_t bytes() const { return rest_.size(); }

  /// How many values there are, none without a kind; nothing if the list is malformed.
  std::optional<std::int64_t> count() const;
  /// Copies all values if there are `count`, the number that `count()` gave, and they are of that
  /// kind; false otherwise, with some of them written perhaps.
  bool copy(std::string* to, std::int64_t count) const;
  bool copy(float* to, std::int64_t count) const;
  bool copy(std::int64_t* to, std::int64_t count) const;

  /// For errors: "float_list of 2 values", "empty".
  std::string to_text() const;

private:
  /// No values without a kind; false where the list is of another kind, or its length is wrong.
  bool list_of(DType dtype, std::string_view& out) const;

  DType dtype_ = DType::invalid;
  std::string_view rest_; // from the list's length on
};

/// "bytes", "float" or "int64": a list's kind in TensorFlow's errors.
std::string_view kind_name(DType dtype);

} // namespace troupe::parsing
