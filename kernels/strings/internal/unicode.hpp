// Code points: read from UTF-8, UTF-16, UTF-32 and what ICU knows, written as UTF.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/function_view.hpp"
#include "core/base/status.hpp"
#include "kernels/framework/kernel.hpp"

namespace troupe::strings {

constexpr bool is_code_point(std::int64_t code) {
  return code >= 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

void append_utf8(std::string& out, std::int32_t code);

/// Each code point with its bytes. What is no character is given once for each longest beginning of
/// one, as Unicode recommends, with is_valid false.
using VisitCode = FunctionView<void(std::int32_t code, std::string_view bytes, bool is_valid)>;
void for_each_utf8(std::string_view text, VisitCode visit);

/// An encoding by name. Safe for any thread.
class Encoding {
public:
  virtual ~Encoding() = default;
  virtual void for_each(std::string_view text, VisitCode visit) const = 0;
  /// INVALID_ARGUMENT "Could not create converter for input encoding: X".
  static Result<std::shared_ptr<const Encoding>> find(const std::string& name);
};

/// UTF-8, UTF-16-BE or UTF-32-BE.
enum class Utf { utf8, utf16_be, utf32_be };
Utf utf_of(std::string_view name);
void append_code(std::string& out, Utf utf, std::int32_t code);

/// What becomes of what is no character: the attributes `errors`, `replacement_char` and
/// `replace_control_characters`.
struct ErrorPolicy {
  bool strict = false, ignore = false, replaces_controls = false;
  std::int32_t replacement = 0xFFFD;
  static Result<ErrorPolicy> from(const PrepareContext& c);
};

} // namespace troupe::strings
