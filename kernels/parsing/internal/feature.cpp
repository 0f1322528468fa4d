#include "kernels/parsing/internal/feature.hpp"

#include <bit>

#include "core/base/strings.hpp"
#include "kernels/parsing/internal/wire.hpp"

namespace troupe::parsing {
namespace {

// Numbers are packed into one field or come one by one; merged messages have both.
constexpr std::uint8_t packed = block_tag(1), lone_float = fixed32_tag(1),
                       lone_integer = varint_tag(1);
constexpr std::uint64_t continued = 0x8080'8080'8080'8080; // top bits: more bytes of the number

/// A number ends with each byte below 0x80.
std::int64_t count_ends(std::string_view block) {
  std::int64_t out = 0;
  for (const char c : block)
    out += static_cast<signed char>(c) >= 0;
  return out;
}

bool append_packed(std::string_view block, float*& to, const float* end) {
  if (static_cast<std::size_t>(end - to) < block.size() / sizeof(float))
    return false;
  std::memcpy(to, block.data(), block.size());
  to += block.size() / sizeof(float);
  return true;
}

bool append_packed(std::string_view block, std::int64_t*& to, const std::int64_t* end) {
  WireCursor in(block);
  while (!in.at_end()) {
    // Small numbers, eight at a time.
    std::uint64_t word = 0;
    if (in.left() >= 8 && end - to >= 8) {
      std::memcpy(&word, in.position(), sizeof word);
      if ((word & continued) == 0) {
        for (int i = 0; i < 8; ++i)
          to[i] = static_cast<std::int64_t>(in.position()[i]);
        to += 8;
        in.skip(8);
        continue;
      }
    }
    std::uint64_t value = 0;
    if (to == end || !in.take_varint(value))
      return false;
    *to++ = static_cast<std::int64_t>(value);
  }
  return true;
}

bool take_lone(WireCursor& in, float& value) {
  std::uint32_t bits = 0;
  if (!in.take_tag(lone_float) || !in.take_fixed32(bits))
    return false;
  value = std::bit_cast<float>(bits);
  return true;
}

bool take_lone(WireCursor& in, std::int64_t& value) {
  std::uint64_t bits = 0;
  if (!in.take_tag(lone_integer) || !in.take_varint(bits))
    return false;
  value = static_cast<std::int64_t>(bits);
  return true;
}

/// The values of a list of numbers, to [to, end).
template <class T>
bool copy_numbers(std::string_view values, T* to, const T* end) {
  std::string_view block;
  for (WireCursor in(values); !in.at_end();) {
    if (in.take_tag(packed)) {
      if (!in.take_block(block) || !append_packed(block, to, end))
        return false;
    } else if (to == end || !take_lone(in, *to++)) {
      return false;
    }
  }
  return to == end;
}

std::optional<std::int64_t> count_texts(WireCursor in) {
  std::int64_t out = 0;
  std::string_view text;
  for (; !in.at_end(); ++out)
    if (!in.take_tag(block_tag(1)) || !in.take_block(text))
      return {};
  return out;
}

/// `lone` is the tag of a number by itself.
template <class Count>
std::optional<std::int64_t> count_numbers(WireCursor in, std::uint8_t lone, Count count) {
  std::int64_t out = 0;
  std::string_view block;
  std::uint32_t bits = 0;
  std::uint64_t number = 0;
  while (!in.at_end()) {
    if (in.take_tag(packed)) {
      if (!in.take_block(block))
        return {};
      const std::optional<std::int64_t> more = count(block);
      if (!more)
        return {};
      out += *more;
    } else if (in.take_tag(lone)) {
      if (!(lone == lone_float ? in.take_fixed32(bits) : in.take_varint(number)))
        return {};
      ++out;
    } else {
      return {};
    }
  }
  return out;
}

} // namespace

std::optional<Feature> Feature::read(std::string_view message) {
  Feature out;
  if (message.empty())
    return out;
  switch (static_cast<std::uint8_t>(message[0])) {
  case block_tag(1):
    out.dtype_ = DType::string;
    break;
  case block_tag(2):
    out.dtype_ = DType::float32;
    break;
  case block_tag(3):
    out.dtype_ = DType::int64;
    break;
  default:
    return {};
  }
  out.rest_ = message.substr(1);
  return out;
}

bool Feature::list_of(DType dtype, std::string_view& out) const {
  out = {};
  return !has_kind() || (dtype_ == dtype && WireCursor(rest_).take_block(out));
}

std::optional<std::int64_t> Feature::count() const {
  std::string_view values;
  if (!list_of(dtype_, values))
    return {};
  switch (dtype_) {
  case DType::string:
    return count_texts(WireCursor(values));
  case DType::invalid:
    return 0;
  case DType::float32:
    return count_numbers(WireCursor(values), lone_float,
                         [](std::string_view block) -> std::optional<std::int64_t> {
                           if (block.size() % sizeof(float) != 0)
                             return {};
                           return static_cast<std::int64_t>(block.size() / sizeof(float));
                         });
  default:
    return count_numbers(WireCursor(values), lone_integer,
                         [](std::string_view block) -> std::optional<std::int64_t> {
                           // Its last byte must end a number.
                           if (!block.empty() && static_cast<signed char>(block.back()) < 0)
                             return {};
                           return count_ends(block);
                         });
  }
}

bool Feature::copy(std::string* to, std::int64_t count) const {
  std::string_view values, text;
  if (!list_of(DType::string, values))
    return false;
  const std::string* end = to + count;
  for (WireCursor in(values); !in.at_end(); ++to) {
    if (to == end || !in.take_tag(block_tag(1)) || !in.take_block(text))
      return false;
    to->assign(text);
  }
  return to == end;
}

bool Feature::copy(float* to, std::int64_t count) const {
  std::string_view values;
  return list_of(DType::float32, values) && copy_numbers(values, to, to + count);
}

bool Feature::copy(std::int64_t* to, std::int64_t count) const {
  std::string_view values;
  return list_of(DType::int64, values) && copy_numbers(values, to, to + count);
}

std::string Feature::to_text() const {
  return has_kind() ? str_cat(kind_name(dtype_), "_list of ", count().value_or(0), " values")
                    : "empty";
}

std::string_view kind_name(DType dtype) {
  return dtype == DType::string ? "bytes" : dtype == DType::float32 ? "float" : "int64";
}

} // namespace troupe::parsing
