#include "core/base/json.hpp"

#include "core/base/utf8.hpp"

namespace troupe {

void append_json_text(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    unsigned char c = static_cast<unsigned char>(text[0]);
    std::size_t n = utf8_length(text);
    if (n == 0) {
      out += "\\ufffd";
      n = 1;
    } else if (c < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      if (c == '"' || c == '\\')
        out += '\\';
      out += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  out += '"';
}

} // namespace troupe
