#include "kernels/list/internal/written_form.hpp"

#include <vector>

namespace troupe::list {
namespace {

// Tags of protobuf fields: the number times 8 plus the kind of value.
constexpr std::uint64_t varint_kind = 0, eight_bytes_kind = 1, bytes_kind = 2, four_bytes_kind = 5;
constexpr std::uint64_t dim_tag = 2 * 8 + bytes_kind;           // TensorShapeProto.dim
constexpr std::uint64_t unknown_rank_tag = 3 * 8 + varint_kind; // TensorShapeProto.unknown_rank
constexpr std::uint64_t size_tag = 1 * 8 + varint_kind;         // TensorShapeProto.Dim.size

} // namespace

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void append_shape(std::string& to, const PartialShape& shape) {
  if (!shape.has_rank()) {
    append_varint(to, unknown_rank_tag);
    append_varint(to, 1);
    return;
  }
  for (std::int64_t size : shape.dims()) {
    std::string dim;
    if (size != 0) {
      append_varint(dim, size_tag);
      append_varint(dim, static_cast<std::uint64_t>(size));
    }
    append_varint(to, dim_tag);
    append_varint(to, dim.size());
    to += dim;
  }
}

bool FormReader::varint(std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

bool FormReader::bytes(std::string_view& out) {
  std::uint64_t length = 0;
  if (!varint(length) || length > rest_.size())
    return false;
  out = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

bool FormReader::skip(std::uint64_t tag) {
  std::uint64_t number = 0;
  std::string_view text;
  const std::size_t fixed = tag % 8 == eight_bytes_kind ? 8 : 4;
  switch (tag % 8) {
  case varint_kind:
    return varint(number);
  case bytes_kind:
    return bytes(text);
  case eight_bytes_kind:
  case four_bytes_kind:
    if (rest_.size() < fixed)
      return false;
    rest_.remove_prefix(fixed);
    return true;
  default:
    return false;
  }
}

bool FormReader::shape(PartialShape& out) {
  std::vector<std::int64_t> dims;
  std::uint64_t unknown = 0;
  while (!rest_.empty()) {
    std::uint64_t tag = 0;
    std::string_view text;
    if (!varint(tag))
      return false;
    if (tag == unknown_rank_tag) {
      if (!varint(unknown))
        return false;
      continue;
    }
    if (tag != dim_tag) {
      if (!skip(tag))
        return false;
      continue;
    }
    if (!bytes(text) || dims.size() >= Shape::max_rank)
      return false;
    FormReader dim(text);
    std::uint64_t size = 0;
    while (!dim.rest_.empty()) {
      std::uint64_t inner = 0;
      if (!dim.varint(inner) || !(inner == size_tag ? dim.varint(size) : dim.skip(inner)))
        return false;
    }
    if (static_cast<std::int64_t>(size) < -1)
      return false;
    dims.push_back(static_cast<std::int64_t>(size));
  }
  out = unknown ? PartialShape() : PartialShape(std::move(dims));
  return true;
}

} // namespace troupe::list
