// StringLower, StringUpper, StringStrip, StringLength.
#include <clocale>
#include <cwctype>

#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"
#include "kernels/strings/internal/unicode.hpp"

namespace troupe::strings_letters {
namespace {

using strings::append_utf8;

char to_lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
char to_upper_ascii(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

/// The C library's table of all letters; null where the system has no UTF-8 locale.
locale_t letters() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

std::string to_lower_utf8(std::string_view text) {
  std::string out;
  strings::for_each_utf8(text, [&](std::int32_t code, std::string_view bytes, bool is_valid) {
    if (!is_valid)
      out += "\xef\xbf\xbd";
    else if (code == 0x130) // with its dot
      out += "i\xcc\x87";
    else if (code < 0x80)
      out += to_lower_ascii(bytes[0]);
    else
      append_utf8(out, static_cast<std::int32_t>(towlower_l(static_cast<wint_t>(code), letters())));
  });
  return out;
}

std::string to_upper_utf8(std::string_view text) {
  std::string out;
  strings::for_each_utf8(text, [&](std::int32_t code, std::string_view bytes, bool is_valid) {
    if (!is_valid)
      out += "\xef\xbf\xbd";
    else if (code == 0xDF) // has no capital of its own
      out += "SS";
    else if (code < 0x80)
      out += to_upper_ascii(bytes[0]);
    else
      append_utf8(out, static_cast<std::int32_t>(towupper_l(static_cast<wint_t>(code), letters())));
  });
  return out;
}

Result<std::shared_ptr<const void>> check_encoding(PrepareContext& c) {
  TROUPE_ASSIGN(const std::string encoding, c.attr<std::string>("encoding"));
  if (!encoding.empty() && encoding != "utf-8")
    return invalid_argument(
        str_cat("only utf-8 or '' (no encoding) is supported, received ", encoding));
  if (!encoding.empty() && !letters())
    return failed_precondition(
        "this system has no locale C.UTF-8, which letters beyond ASCII need");
  return prepared(encoding);
}

Status change(KernelContext& c, char (*ascii)(char), std::string (*utf8)(std::string_view)) {
  if (!c.prepared<std::string>().empty())
    return strings::map_text(c, utf8);
  return strings::map_text(c, [&](std::string text) {
    for (char& one : text)
      one = ascii(one);
    return text;
  });
}

Status strip(KernelContext& c) {
  return strings::map_text(c, [](std::string_view text) {
    auto is_blank = [](char one) { return one == ' ' || (one >= '\t' && one <= '\r'); };
    while (!text.empty() && is_blank(text.front()))
      text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
      text.remove_suffix(1);
    return text;
  });
}

Status length(KernelContext& c) {
  const bool in_bytes = c.prepared<std::string>() == "BYTE";
  return strings::map_text<std::int32_t>(c, [&](const std::string& text) {
    return static_cast<std::int32_t>(in_bytes ? static_cast<std::ptrdiff_t>(text.size())
                                              : std::ranges::count_if(text, [](char one) {
                                                  return !strings::is_trail_byte(one);
                                                }));
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringLower")
      .input("input: string")
      .output("output: string")
      .attr("encoding: string = ''")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel([](KernelContext& c) { return change(c, to_lower_ascii, to_lower_utf8); },
                  {.prepare = check_encoding})
      .doc("Each text in small letters: those of ASCII, or with `encoding` utf-8 all.");
  library.op("StringUpper")
      .input("input: string")
      .output("output: string")
      .attr("encoding: string = ''")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel([](KernelContext& c) { return change(c, to_upper_ascii, to_upper_utf8); },
                  {.prepare = check_encoding})
      .doc("Each text in capitals: those of ASCII, or with `encoding` utf-8 all.");
  library.op("StringStrip")
      .input("input: string")
      .output("output: string")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(strip)
      .doc("Each text without blanks at both ends.");
  library.op("StringLength")
      .input("input: string")
      .output("output: int32")
      .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .shape_fn(shape_unchanged)
      .not_differentiable("it counts")
      .cpu_kernel(length, {.prepare = keep_attr<std::string, "unit">})
      .doc("Bytes or characters of each text.");
}

} // namespace troupe::strings_letters
