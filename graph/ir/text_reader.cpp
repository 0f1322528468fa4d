#include "graph/ir/internal/text_reader.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"

namespace troupe {

namespace {

constexpr int max_depth = 32;

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

template <class T>
AttrValue collect(const std::vector<AttrValue>& values) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const AttrValue& value : values)
    if (auto* held = std::get_if<T>(&value))
      out.push_back(*held);
  if (out.size() != values.size())
    return std::monostate{};
  return out;
}

// A list of the values, or nothing if they are not of one kind.
AttrValue to_list(const std::vector<AttrValue>& values) {
  if (values.empty())
    return EmptyList{};
  switch (values[0].index()) {
  case 1:
    return collect<std::string>(values);
  case 2:
    return collect<std::int64_t>(values);
  case 3:
    return collect<float>(values);
  case 4:
    return collect<bool>(values);
  case 5:
    return collect<DType>(values);
  case 6:
    return collect<PartialShape>(values);
  case 7:
    return collect<TensorBox>(values);
  case 8:
    return collect<FunctionRef>(values);
  default:
    return std::monostate{};
  }
}

} // namespace

void TextReader::skip(bool lines) {
  for (; !at_end(); ++at_) {
    char c = text_[at_];
    if (c == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    if (at_end() || (text_[at_] == '\n' && !lines))
      return;
    c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
      return;
  }
}

bool TextReader::take(std::string_view token) {
  skip(false);
  if (!text_.substr(at_).starts_with(token))
    return false;
  at_ += token.size();
  return true;
}

Status TextReader::expect(std::string_view token) {
  if (take(token))
    return {};
  return error(str_cat("expected '", token, "'"));
}

Status TextReader::error(std::size_t position, std::string_view why) const {
  position = std::min(position, text_.size());
  std::string_view before = text_.substr(0, position);
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  auto last = before.rfind('\n');
  auto column = last == std::string_view::npos ? position + 1 : position - last;
  return invalid_argument(str_cat("line ", line, ", column ", column, ": ", why));
}

Result<std::string_view> TextReader::word(std::string_view what, std::string_view more) {
  skip(false);
  std::size_t begin = at_;
  while (!at_end() && (is_word_char(text_[at_]) || more.find(text_[at_]) != more.npos))
    ++at_;
  if (at_ == begin)
    return error(str_cat("expected ", what));
  return text_.substr(begin, at_ - begin);
}

Result<std::string> TextReader::quoted() {
  std::size_t begin = at_;
  TROUPE_TRY(expect("\""));
  std::string out;
  while (!at_line_end() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    c = peek();
    ++at_;
    constexpr std::string_view letters = "ntr\"\\'0";
    constexpr std::string_view meanings("\n\t\r\"\\'\0", 7);
    if (auto at = letters.find(c); at != letters.npos && c != '\0') {
      out += meanings[at];
      continue;
    }
    int high = c == 'x' && at_ + 1 < text_.size() ? hex_digit(text_[at_]) : -1;
    int low = high >= 0 ? hex_digit(text_[at_ + 1]) : -1;
    if (low < 0)
      return error(at_ - 1,
                   "unknown escape in a string; \\n, \\t, \\r, \\\", \\\\ and \\xHH exist");
    out += static_cast<char>(high * 16 + low);
    at_ += 2;
  }
  if (!take("\""))
    return error(begin, "a string that does not end on its line");
  return out;
}

Result<AttrMap> TextReader::attrs(const OpSchema* schema, int depth) {
  AttrMap out;
  if (take("]"))
    return out;
  do {
    skip(false);
    std::size_t begin = at_;
    TROUPE_ASSIGN(std::string_view name, word("an attribute's name", ".-"));
    if (out.contains(name))
      return error(begin, str_cat("attr '", name, "' is given twice"));
    TROUPE_TRY(expect("="));
    const AttrDef* def = schema ? schema->find_attr(name) : nullptr;
    if (schema && !def && !name.starts_with('_'))
      return error(
          begin, str_cat("op ", schema->name, " has no attr '", name, "': ", schema->signature()));
    std::optional<AttrType> type;
    if (def)
      type = def->type;
    TROUPE_ASSIGN(AttrValue held, value(type, depth));
    if (def)
      if (Status status = check_attr_type(held, def->type, name); !status.ok())
        return error(begin, status.message());
    out.set(name, std::move(held));
  } while (take(","));
  TROUPE_TRY(expect("]"));
  return out;
}

Result<AttrValue> TextReader::value(std::optional<AttrType> type, int depth) {
  if (depth > max_depth)
    return error("values are nested too deeply");
  skip(false);
  if (take("$")) {
    TROUPE_ASSIGN(std::string_view name, word("a placeholder's name"));
    return AttrValue(AttrPlaceholder{std::string(name)});
  }
  bool is_list = type ? type->list : peek() == '[';
  std::optional<AttrKind> kind;
  if (type)
    kind = type->kind;
  return is_list ? list(kind, depth) : scalar(kind, depth);
}

Result<AttrValue> TextReader::list(std::optional<AttrKind> kind, int depth) {
  std::size_t begin = at_;
  TROUPE_TRY(expect("["));
  std::vector<AttrValue> values;
  if (!take("]")) {
    do {
      TROUPE_ASSIGN(AttrValue one, scalar(kind, depth + 1));
      values.push_back(std::move(one));
    } while (take(","));
    TROUPE_TRY(expect("]"));
  }
  AttrValue out = to_list(values);
  if (std::holds_alternative<std::monostate>(out))
    return error(begin, "the elements of the list are of several kinds");
  return out;
}

Result<AttrValue> TextReader::scalar(std::optional<AttrKind> kind, int depth) {
  skip(false);
  if (depth > max_depth)
    return error("values are nested too deeply");
  if (take("{")) {
    AttrValue out;
    TROUPE_ASSIGN(std::string_view what, word("shape, tensor or func"));
    skip(false);
    if (what == "shape") {
      TROUPE_ASSIGN(out, shape());
    } else if (what == "tensor") {
      TROUPE_ASSIGN(Tensor held, tensor());
      out = TensorBox{std::move(held)};
    } else if (what == "func") {
      TROUPE_ASSIGN(out, function(depth + 1));
    } else {
      return error("expected {shape …}, {tensor …} or {func …}");
    }
    TROUPE_TRY(expect("}"));
    return out;
  }
  if (kind == AttrKind::shape) {
    TROUPE_ASSIGN(PartialShape held, shape());
    return AttrValue(std::move(held));
  }
  if (kind == AttrKind::tensor) {
    TROUPE_ASSIGN(Tensor held, tensor());
    return AttrValue(TensorBox{std::move(held)});
  }
  if (kind == AttrKind::function) {
    TROUPE_ASSIGN(FunctionRef held, function(depth + 1));
    return AttrValue(std::move(held));
  }
  if (peek() == '"') {
    TROUPE_ASSIGN(std::string held, quoted());
    return AttrValue(std::move(held));
  }
  std::size_t begin = at_;
  if (auto held = number(kind))
    return *std::move(held);
  TROUPE_ASSIGN(std::string_view name, word("a value"));
  if (name == "true" || name == "false")
    return AttrValue(name == "true");
  auto dtype = parse_dtype(name);
  if (dtype && peek() == '[') {
    at_ = begin;
    TROUPE_ASSIGN(Tensor held, tensor());
    return AttrValue(TensorBox{std::move(held)});
  }
  if (dtype)
    return AttrValue(*dtype);
  return error(begin, str_cat("'", name, "' is not a value"));
}

// Most values are none, so this makes no error: that would count the lines before it.
std::optional<AttrValue> TextReader::number(std::optional<AttrKind> kind) {
  std::size_t begin = at_;
  while (!at_end() && (is_word_char(text_[at_]) ||
                       std::string_view("+-.").find(text_[at_]) != std::string_view::npos))
    ++at_;
  std::string_view digits = text_.substr(begin, at_ - begin);
  if (kind != AttrKind::real)
    if (auto integer = parse_int(digits))
      return AttrValue(*integer);
  if (auto real = parse_double(digits); real && kind != AttrKind::integer)
    return AttrValue(static_cast<float>(*real));
  at_ = begin;
  return std::nullopt;
}

Result<PartialShape> TextReader::shape() {
  if (take("?"))
    return PartialShape();
  TROUPE_TRY(expect("["));
  std::vector<std::int64_t> dims;
  if (take("]"))
    return PartialShape(std::move(dims));
  do {
    if (take("?")) {
      dims.push_back(-1);
      continue;
    }
    skip(false);
    std::size_t begin = at_;
    TROUPE_ASSIGN(std::string_view digits, word("a dimension", "-"));
    auto dim = parse_int(digits);
    if (!dim || *dim < -1)
      return error(begin, str_cat("'", digits, "' is not a dimension; a number or ? is"));
    dims.push_back(*dim);
  } while (take(","));
  TROUPE_TRY(expect("]"));
  return PartialShape(std::move(dims));
}

// Up to what ends the value: a comma or a closing bracket outside quotes and parentheses.
Result<Tensor> TextReader::tensor() {
  std::size_t begin = at_;
  TROUPE_ASSIGN(std::string_view name, word("a tensor like f32[2] 1 2"));
  if (!take("["))
    return error(begin, str_cat("'", name, "' does not begin a tensor; f32[2] 1 2 does"));
  while (!at_line_end() && text_[at_] != ']')
    ++at_;
  TROUPE_TRY(expect("]"));
  int parentheses = 0;
  bool in_quotes = false;
  for (; !at_line_end(); ++at_) {
    char c = text_[at_];
    if (in_quotes) {
      if (c == '\\')
        ++at_;
      in_quotes = c != '"';
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == '(') {
      ++parentheses;
    } else if (c == ')') {
      --parentheses;
    } else if (parentheses == 0 && (c == ',' || c == ']' || c == '}')) {
      break;
    }
  }
  at_ = std::min(at_, text_.size());
  auto out = parse_literal(str_trim(text_.substr(begin, at_ - begin)));
  if (!out.ok())
    return error(begin, out.status().message());
  return out;
}

Result<FunctionRef> TextReader::function(int depth) {
  FunctionRef out;
  TROUPE_ASSIGN(std::string_view name, word("a function's name", "./-"));
  out.name = name;
  if (take("[")) {
    TROUPE_ASSIGN(AttrMap held, attrs(nullptr, depth));
    out.attrs = std::make_shared<const AttrMap>(std::move(held));
  }
  return out;
}

} // namespace troupe
