// A JSON text, written from front to back.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"

namespace troupe {

/// `w.open('{').key("a").value(1).key("b").open('[').value("x").close(']').close('}')`. Commas come
/// by themselves.
class JsonWriter {
public:
  JsonWriter& open(char bracket) {
    separate();
    out_.push_back(bracket);
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_.push_back(bracket);
    first_ = false;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    separate();
    append_text(name);
    out_.push_back(':');
    first_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) {
    separate();
    append_text(text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  template <std::integral T>
  JsonWriter& value(T number) {
    separate();
    str_append(out_, number);
    return *this;
  }
  /// Infinities and NaN, which JSON lacks, become null.
  JsonWriter& value(double number) {
    separate();
    if (std::isfinite(number))
      str_append(out_, number);
    else
      out_.append("null");
    return *this;
  }
  const std::string& text() const { return out_; }

private:
  void separate() {
    if (!first_)
      out_.push_back(',');
    first_ = false;
  }
  void append_text(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    out_.push_back('"');
    for (char c : text) {
      auto code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        out_.append({'\\', c});
      else if (code < 0x20)
        out_.append("\\u00").append({digits[code >> 4], digits[code & 15]});
      else
        out_.push_back(c);
    }
    out_.push_back('"');
  }
  std::string out_;
  bool first_ = true;
};

} // namespace troupe
