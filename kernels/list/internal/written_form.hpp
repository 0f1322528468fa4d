// Pieces of TensorFlow's written form of variants: varints, and a TensorShapeProto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/tensor/shape.hpp"

namespace troupe::list {

void append_varint(std::string& to, std::uint64_t value);
void append_shape(std::string& to, const PartialShape& shape);

/// Reads what those wrote; false for bytes that are none of it.
class FormReader {
public:
  explicit FormReader(std::string_view bytes) : rest_(bytes) {}
  bool varint(std::uint64_t& out);
  /// All that is left.
  bool shape(PartialShape& out);
  std::string_view rest() const { return rest_; }

private:
  bool bytes(std::string_view& out); ///< a length and as many bytes
  bool skip(std::uint64_t tag);      ///< the value of a field that is not known here
  std::string_view rest_;
};

} // namespace troupe::list
