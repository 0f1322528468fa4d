// JSON, written from front to back.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"

namespace troupe {

/// Appends `text` as a JSON string, quotes and all. Bytes that are not UTF-8 become replacement
/// characters, so that every reader takes it.
void append_json_text(std::string& out, std::string_view text);

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
  void append_text(std::string_view text) { append_json_text(out_, text); }
  std::string out_;
  bool first_ = true;
};

} // namespace troupe
