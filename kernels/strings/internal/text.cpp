#include "kernels/strings/internal/text.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>

namespace troupe::strings {
namespace {

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

template <class T>
std::optional<T> parse_integer(std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-')
    text.remove_prefix(1);
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    return {};
  return out;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size())
    return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((text[i] | 0x20) != lower[i])
      return false;
  return true;
}

template <class T>
std::optional<T> parse_real(std::string_view text) {
  text = without_blanks(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  if (text.empty() || text[0] == '-' || text[0] == '+')
    return {};
  T out{};
  if (equals_ignoring_case(text, "inf") || equals_ignoring_case(text, "infinity"))
    out = std::numeric_limits<T>::infinity();
  else if (equals_ignoring_case(text, "nan"))
    out = std::numeric_limits<T>::quiet_NaN();
  else {
    const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const std::string_view digits = hex ? text.substr(2) : text;
    if (!std::isxdigit(static_cast<unsigned char>(digits[0])) && digits[0] != '.')
      return {};
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), out,
                        hex ? std::chars_format::hex : std::chars_format::general);
    if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
      return {};
    if (error == std::errc::result_out_of_range) // strtod tells too large from too small
      out = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
  }
  return negative ? -out : out;
}

} // namespace

template <>
std::optional<float> parse_number<float>(std::string_view t) {
  return parse_real<float>(t);
}
template <>
std::optional<double> parse_number<double>(std::string_view t) {
  return parse_real<double>(t);
}
template <>
std::optional<std::int32_t> parse_number<std::int32_t>(std::string_view t) {
  return parse_integer<std::int32_t>(t);
}
template <>
std::optional<std::int64_t> parse_number<std::int64_t>(std::string_view t) {
  return parse_integer<std::int64_t>(t);
}
template <>
std::optional<std::uint32_t> parse_number<std::uint32_t>(std::string_view t) {
  return parse_integer<std::uint32_t>(t);
}
template <>
std::optional<std::uint64_t> parse_number<std::uint64_t>(std::string_view t) {
  return parse_integer<std::uint64_t>(t);
}

} // namespace troupe::strings
