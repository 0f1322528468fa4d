// Small text helpers: building messages, splitting, joining, parsing numbers without locale or
// exceptions.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace detail {
inline void append_piece(std::string& out, std::string_view text) {
  out.append(text);
}
inline void append_piece(std::string& out, char c) {
  out.push_back(c);
}
template <std::same_as<bool> T>
void append_piece(std::string& out, T value) {
  out.append(value ? "true" : "false");
}
template <std::integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, char>) void append_piece(std::string& out,
                                                                             T value) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}
template <std::floating_point T>
void append_piece(std::string& out, T value) {
  char digits[40];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}
template <class T>
requires requires(const T& x) {
  { x.to_string() } -> std::convertible_to<std::string>;
}
void append_piece(std::string& out, const T& value) {
  out.append(value.to_string());
}
} // namespace detail

/// Concatenates text, numbers (shortest form that reads back equal) and anything with a to_string()
/// member.
template <class... Ts>
std::string str_cat(const Ts&... pieces) {
  std::string out;
  (detail::append_piece(out, pieces), ...);
  return out;
}

template <class... Ts>
void str_append(std::string& out, const Ts&... pieces) {
  (detail::append_piece(out, pieces), ...);
}

/// Elements of a range, each as str_cat prints it, with `separator` between.
template <class Range>
std::string str_join(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : range) {
    if (!first)
      out.append(separator);
    first = false;
    detail::append_piece(out, item);
  }
  return out;
}

/// Pieces between separators; "a,,b" gives three, "" gives one empty piece.
std::vector<std::string_view> str_split(std::string_view text, char separator);
/// Without blanks, tabs and line ends at both ends.
std::string_view str_trim(std::string_view text);
/// In C's escapes, within double quotes.
std::string str_quote(std::string_view text);
std::string hex16(std::uint64_t value); ///< 16 lower-case hex digits

/// The whole text as a number, or nothing.
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_uint(std::string_view text);
std::optional<double> parse_double(std::string_view text); ///< also inf, -inf, nan

} // namespace troupe
