#include "core/base/strings.hpp"

namespace troupe {

std::vector<std::string_view> str_split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    auto end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return out;
    text.remove_prefix(end + 1);
  }
}

std::string_view str_trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string str_quote(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (unsigned char c : text) {
    switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      if (c < 0x20 || c >= 0x7f) {
        out += "\\x";
        out += digits[c >> 4];
        out += digits[c & 15];
      } else {
        out += static_cast<char>(c);
      }
    }
  }
  return out + '"';
}

std::string hex16(std::uint64_t value) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    out[static_cast<std::size_t>(i)] = digits[value & 15];
  return out;
}

namespace {
template <class T>
std::optional<T> parse_all(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}
} // namespace

std::optional<std::int64_t> parse_int(std::string_view text) {
  return parse_all<std::int64_t>(text);
}
std::optional<std::uint64_t> parse_uint(std::string_view text) {
  return parse_all<std::uint64_t>(text);
}
std::optional<double> parse_double(std::string_view text) {
  return parse_all<double>(text);
}

} // namespace troupe
