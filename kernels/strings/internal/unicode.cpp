#include "kernels/strings/internal/unicode.hpp"

#include <cctype>

#include "core/base/strings.hpp"
#include "kernels/strings/internal/icu.hpp"

namespace troupe::strings {
namespace {

unsigned byte(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// The range of the second byte after a first one, and how many there are in all; 0 for no first
/// byte.
struct Lead {
  unsigned size, low, high;
};
Lead lead_of(unsigned first) {
  if (first >= 0xC2 && first <= 0xDF)
    return {2, 0x80, 0xBF};
  if (first >= 0xE0 && first <= 0xEF)
    return {3, first == 0xE0 ? 0xA0U : 0x80U, first == 0xED ? 0x9FU : 0xBFU};
  if (first >= 0xF0 && first <= 0xF4)
    return {4, first == 0xF0 ? 0x90U : 0x80U, first == 0xF4 ? 0x8FU : 0xBFU};
  return {0, 0, 0};
}

class Utf8 final : public Encoding {
public:
  void for_each(std::string_view text, VisitCode visit) const override {
    for_each_utf8(text, visit);
  }
};

class Utf16 final : public Encoding {
public:
  explicit Utf16(bool big) : big_(big) {}
  void for_each(std::string_view text, VisitCode visit) const override {
    for (std::size_t at = 0; at < text.size();) {
      if (text.size() - at < 2)
        return visit(0xFFFD, text.substr(at), false);
      const std::int32_t first = unit(text, at);
      if (first < 0xD800 || first > 0xDFFF) {
        visit(first, text.substr(at, 2), true);
        at += 2;
        continue;
      }
      const std::int32_t second = text.size() - at >= 4 ? unit(text, at + 2) : 0;
      const bool is_pair = first < 0xDC00 && second >= 0xDC00 && second <= 0xDFFF;
      visit(is_pair ? 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00) : 0xFFFD,
            text.substr(at, is_pair ? 4 : 2), is_pair);
      at += is_pair ? 4 : 2;
    }
  }

private:
  std::int32_t unit(std::string_view text, std::size_t at) const {
    const unsigned a = byte(text, at), b = byte(text, at + 1);
    return static_cast<std::int32_t>(big_ ? a << 8 | b : b << 8 | a);
  }
  bool big_;
};

class Utf32 final : public Encoding {
public:
  explicit Utf32(bool big) : big_(big) {}
  void for_each(std::string_view text, VisitCode visit) const override {
    for (std::size_t at = 0; at < text.size(); at += 4) {
      const std::string_view bytes = text.substr(at, 4);
      std::uint32_t code = 0;
      for (std::size_t i = 0; i < bytes.size(); ++i)
        code |= byte(bytes, i) << 8 * (big_ ? 3 - i : i);
      const bool is_valid = bytes.size() == 4 && is_code_point(code);
      visit(is_valid ? static_cast<std::int32_t>(code) : 0xFFFD, bytes, is_valid);
    }
  }

private:
  bool big_;
};

/// An encoding whose text may say by a mark at its beginning which byte is first; without one the
/// higher is. The mark belongs to the first character.
template <class Utf>
class Marked final : public Encoding {
public:
  explicit Marked(std::string_view big_mark) : mark_(big_mark) {}
  void for_each(std::string_view text, VisitCode visit) const override {
    const std::string little_mark(mark_.rbegin(), mark_.rend());
    const bool is_little = text.starts_with(little_mark);
    if (!is_little && !text.starts_with(mark_))
      return Utf(true).for_each(text, visit);
    bool is_first = true;
    Utf(!is_little)
        .for_each(text.substr(mark_.size()), [&](std::int32_t code, std::string_view bytes,
                                                 bool is_valid) {
          visit(code, is_first ? text.substr(0, mark_.size() + bytes.size()) : bytes, is_valid);
          is_first = false;
        });
  }

private:
  std::string mark_;
};

/// A character for each byte.
class SingleByte final : public Encoding {
public:
  explicit SingleByte(std::int32_t most) : most_(most) {}
  void for_each(std::string_view text, VisitCode visit) const override {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto code = static_cast<std::int32_t>(byte(text, i));
      visit(code <= most_ ? code : 0xFFFD, text.substr(i, 1), code <= most_);
    }
  }

private:
  std::int32_t most_;
};

/// What ICU calls when it meets what is no character.
struct ErrorNote {
  const Icu& icu;
  bool is_wrong = false;
};

/// It is replaced, and `note` says so.
void note_error(const void* note, UConverterToUnicodeArgs* args, const char* bytes,
                std::int32_t length, UConverterCallbackReason reason, UErrorCode* error) {
  auto& to = *static_cast<ErrorNote*>(const_cast<void*>(note));
  if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR)
    to.is_wrong = true;
  to.icu.substitute(nullptr, args, bytes, length, reason, error);
}

using Converter = std::unique_ptr<UConverter, decltype(Icu::close_converter)>;

/// Null if ICU does not know the name.
Converter open_converter(const Icu& icu, const std::string& name) {
  UErrorCode error = U_ZERO_ERROR;
  Converter out(icu.open_converter(name.c_str(), &error), icu.close_converter);
  return U_SUCCESS(error) ? std::move(out) : Converter(nullptr, icu.close_converter);
}

/// One that ICU knows. A converter of its own for each text: they have a state.
class IcuEncoding final : public Encoding {
public:
  IcuEncoding(const Icu& icu, std::string name) : icu_(icu), name_(std::move(name)) {}
  void for_each(std::string_view text, VisitCode visit) const override {
    const Converter converter = open_converter(icu_, name_);
    ErrorNote note{icu_};
    UErrorCode error = U_ZERO_ERROR;
    if (converter)
      icu_.set_to_unicode_callback(converter.get(), note_error, &note, nullptr, nullptr, &error);
    const char *at = text.data(), *end = at + text.size();
    while (converter && at < end && U_SUCCESS(error)) {
      const char* before = at;
      const UChar32 code = icu_.next_code_point(converter.get(), &at, end, &error);
      if (U_SUCCESS(error))
        visit(code, {before, static_cast<std::size_t>(at - before)}, !note.is_wrong);
      else if (error != U_INDEX_OUTOFBOUNDS_ERROR) // that is: marks alone were left
        visit(0xFFFD, {before, static_cast<std::size_t>(end - before)}, false);
      note.is_wrong = false;
    }
  }

private:
  const Icu& icu_; // never closed
  std::string name_;
};

/// Letters and digits alone, in capitals: "utf-8" and "UTF8" are one.
std::string plain_name(std::string_view name) {
  std::string out;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

} // namespace

void append_utf8(std::string& out, std::int32_t code) {
  const auto c = static_cast<unsigned>(code);
  auto put = [&](unsigned value) { out += static_cast<char>(value); };
  if (c < 0x80)
    return put(c);
  if (c < 0x800)
    put(0xC0 | c >> 6);
  else {
    if (c < 0x10000)
      put(0xE0 | c >> 12);
    else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

void for_each_utf8(std::string_view text, VisitCode visit) {
  for (std::size_t at = 0; at < text.size();) {
    const unsigned first = byte(text, at);
    if (first < 0x80) {
      visit(static_cast<std::int32_t>(first), text.substr(at, 1), true);
      ++at;
      continue;
    }
    const Lead lead = lead_of(first);
    std::size_t size = 1;
    std::uint32_t code = lead.size > 0 ? first & (0x7FU >> lead.size) : 0;
    while (size < lead.size && at + size < text.size()) {
      const unsigned next = byte(text, at + size);
      const unsigned low = size == 1 ? lead.low : 0x80, high = size == 1 ? lead.high : 0xBF;
      if (next < low || next > high)
        break;
      code = code << 6 | (next & 0x3F);
      ++size;
    }
    const bool is_valid = lead.size > 0 && size == lead.size;
    visit(is_valid ? static_cast<std::int32_t>(code) : 0xFFFD, text.substr(at, size), is_valid);
    at += size;
  }
}

Result<std::shared_ptr<const Encoding>> Encoding::find(const std::string& name) {
  using Found = std::shared_ptr<const Encoding>;
  const std::string plain = plain_name(name);
  if (plain == "UTF8")
    return Found(std::make_shared<Utf8>());
  if (plain == "UTF16")
    return Found(std::make_shared<Marked<Utf16>>("\xFE\xFF"));
  if (plain == "UTF32")
    return Found(std::make_shared<Marked<Utf32>>(std::string_view("\0\0\xFE\xFF", 4)));
  if (plain == "UTF16BE" || plain == "UTF16LE")
    return Found(std::make_shared<Utf16>(plain != "UTF16LE"));
  if (plain == "UTF32BE" || plain == "UTF32LE")
    return Found(std::make_shared<Utf32>(plain != "UTF32LE"));
  if (plain == "USASCII" || plain == "ASCII")
    return Found(std::make_shared<SingleByte>(0x7F));
  if (plain == "ISO88591" || plain == "LATIN1")
    return Found(std::make_shared<SingleByte>(0xFF));
  if (!name.empty() && name.find('\0') == std::string::npos) {
    TROUPE_ASSIGN(const Icu* library, icu());
    if (open_converter(*library, name))
      return Found(std::make_shared<IcuEncoding>(*library, name));
  }
  return invalid_argument(str_cat("Could not create converter for input encoding: ", name));
}

Utf utf_of(std::string_view name) {
  return name == "UTF-8" ? Utf::utf8 : name == "UTF-16-BE" ? Utf::utf16_be : Utf::utf32_be;
}

void append_code(std::string& out, Utf utf, std::int32_t code) {
  if (utf == Utf::utf8)
    return append_utf8(out, code);
  auto put = [&](std::uint32_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
      out += static_cast<char>(value >> 8 * i & 0xFF);
  };
  const auto c = static_cast<std::uint32_t>(code);
  if (utf == Utf::utf32_be)
    return put(c, 4);
  if (c < 0x10000)
    return put(c, 2);
  put(0xD800 + ((c - 0x10000) >> 10), 2);
  put(0xDC00 + ((c - 0x10000) & 0x3FF), 2);
}

Result<ErrorPolicy> ErrorPolicy::from(const PrepareContext& c) {
  ErrorPolicy out;
  TROUPE_ASSIGN(const std::string errors, c.attr<std::string>("errors"));
  TROUPE_ASSIGN(const auto replacement, c.attr<std::int64_t>("replacement_char"));
  if (auto controls = c.attr<bool>("replace_control_characters"); controls.ok())
    out.replaces_controls = *controls;
  out.strict = errors == "strict";
  out.ignore = errors == "ignore";
  if (replacement < 0 || replacement > 0x10FFFF)
    return invalid_argument("replacement_char out of unicode codepoint range");
  out.replacement = static_cast<std::int32_t>(replacement);
  return out;
}

} // namespace troupe::strings
