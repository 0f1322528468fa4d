#include <algorithm>
#include <cstddef>

#include "core/base/strings.hpp"
#include "net/cluster/internal/json_value.hpp"

namespace troupe {

namespace {

constexpr std::size_t max_bytes = 1 << 20;
constexpr int max_depth = 16;

class JsonReader {
public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Result<JsonValue> whole() {
    TROUPE_ASSIGN(JsonValue out, value(0));
    skip();
    if (at_ < text_.size())
      return wrong("the text goes on after its value");
    return out;
  }

private:
  using Kind = JsonValue::Kind;

  Status wrong(std::string_view what) const {
    return invalid_argument(str_cat("no JSON: at character ", at_ + 1, " ", what));
  }
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
      ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  Result<JsonValue> value(int depth) {
    if (depth > max_depth)
      return wrong("values are nested too deep");
    skip();
    if (at_ >= text_.size())
      return wrong("a value is missing");
    JsonValue out;
    switch (text_[at_]) {
    case '{':
      return map(depth);
    case '[':
      return list(depth);
    case '"': {
      out.kind = Kind::text;
      TROUPE_ASSIGN(out.text, text());
      return out;
    }
    default:
      return word();
    }
  }

  Result<JsonValue> map(int depth) {
    JsonValue out;
    out.kind = Kind::map;
    take('{');
    if (take('}'))
      return out;
    do {
      skip();
      TROUPE_ASSIGN(std::string key, text());
      if (!take(':'))
        return wrong("':' is missing after a key");
      if (out.find(key))
        return wrong(str_cat("key ", str_quote(key), " comes a second time"));
      TROUPE_ASSIGN(JsonValue held, value(depth + 1));
      out.map.emplace_back(std::move(key), std::move(held));
    } while (take(','));
    if (!take('}'))
      return wrong("',' or '}' is missing");
    return out;
  }

  Result<JsonValue> list(int depth) {
    JsonValue out;
    out.kind = Kind::list;
    take('[');
    if (take(']'))
      return out;
    do {
      TROUPE_ASSIGN(JsonValue held, value(depth + 1));
      out.list.push_back(std::move(held));
    } while (take(','));
    if (!take(']'))
      return wrong("',' or ']' is missing");
    return out;
  }

  // Names and addresses are ASCII, so \u is refused.
  Result<std::string> text() {
    if (!take('"'))
      return wrong("a text in double quotes is missing");
    std::string out;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      char c = text_[at_];
      if (static_cast<unsigned char>(c) < ' ')
        return wrong("a text has a control character");
      if (c == '\\') {
        c = ++at_ < text_.size() ? text_[at_] : '\0';
        constexpr std::string_view escapes = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const std::size_t which = escapes.find(c);
        if (c == '\0' || which == escapes.npos)
          return wrong("an escape is not understood");
        c = meant[which];
      }
      out += c;
    }
    if (at_ >= text_.size())
      return wrong("a text has no end");
    ++at_;
    return out;
  }

  Result<JsonValue> word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           std::string_view("{}[],:\" \t\r\n").find(text_[at_]) == std::string_view::npos)
      ++at_;
    JsonValue out;
    out.text = text_.substr(begin, at_ - begin);
    if (out.text == "true" || out.text == "false")
      out.kind = Kind::boolean;
    else if (out.text != "null" && parse_double(out.text))
      out.kind = Kind::number;
    else if (out.text != "null") {
      at_ = begin;
      return wrong("a value is missing");
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

} // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  auto at = std::ranges::find(map, key, &std::pair<std::string, JsonValue>::first);
  return at == map.end() ? nullptr : &at->second;
}

Result<JsonValue> parse_json(std::string_view json) {
  if (json.size() > max_bytes)
    return invalid_argument(
        str_cat("a JSON text of ", json.size(), " bytes is longer than ", max_bytes));
  return JsonReader(json).whole();
}

} // namespace troupe
