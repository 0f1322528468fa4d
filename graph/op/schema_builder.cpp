// SchemaBuilder: reads TensorFlow's notation for arguments and attributes. Whatever is wrong here
// is wrong in our own source, so it aborts with the op's name.
#include <cstdlib>
#include <iterator>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "graph/op/schema.hpp"

namespace troupe {

namespace {

using enum DType;
constexpr DType number_types[] = {float32, float64,    int32,   uint8,  int16,    int8,   complex64,
                                  int64,   qint8,      quint8,  qint32, bfloat16, qint16, quint16,
                                  uint16,  complex128, float16, uint32, uint64};
constexpr DType real_number_types[] = {float32, float64,  int32,  uint8,   int16,  int8,
                                       int64,   bfloat16, uint16, float16, uint32, uint64};
constexpr DType quantized_types[] = {qint8, quint8, qint32, qint16, quint16};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A cursor over one specification.
struct Reader {
  std::string_view op;
  std::string_view whole;
  std::string_view rest;

  Reader(std::string_view op_name, std::string_view spec) : op(op_name), whole(spec), rest(spec) {}

  [[noreturn]] void fail(std::string_view why) const {
    std::string text = str_cat("op ", op, ": '", whole, "' at '", rest, "': ", why);
    TROUPE_CHECK(false, text);
    std::abort();
  }
  void skip() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n'))
      rest.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip();
    if (!rest.starts_with(token))
      return false;
    rest.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token))
      fail(str_cat("expected '", token, "'"));
  }
  bool at_end() {
    skip();
    return rest.empty();
  }
  // The whole word, not a longer one's beginning.
  bool take_word(std::string_view word) {
    skip();
    if (!rest.starts_with(word) || (rest.size() > word.size() && is_name_char(rest[word.size()])))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::string_view word(std::string_view what) {
    skip();
    std::size_t n = 0;
    while (n < rest.size() && is_name_char(rest[n]))
      ++n;
    if (n == 0)
      fail(str_cat("expected ", what));
    std::string_view out = rest.substr(0, n);
    rest.remove_prefix(n);
    return out;
  }
  std::string_view number() {
    skip();
    std::size_t n = 0;
    while (n < rest.size() &&
           (is_name_char(rest[n]) || rest[n] == '-' || rest[n] == '+' || rest[n] == '.'))
      ++n;
    std::string_view out = rest.substr(0, n);
    rest.remove_prefix(n);
    return out;
  }
  std::int64_t integer() {
    auto value = parse_int(number());
    if (!value)
      fail("expected an integer");
    return *value;
  }
  DType dtype() {
    auto t = parse_dtype(word("a dtype"));
    if (!t)
      fail("unknown dtype");
    return *t;
  }
  // Quoted with ' or "; bare words where OPS.tsv writes them so.
  std::string string() {
    skip();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) {
      std::size_t n = 0;
      while (n < rest.size() && rest[n] != ',' && rest[n] != ']' && rest[n] != '}' &&
             rest[n] != ' ')
        ++n;
      std::string out(rest.substr(0, n));
      rest.remove_prefix(n);
      return out;
    }
    char quote = rest[0];
    std::string out;
    std::size_t i = 1;
    for (; i < rest.size() && rest[i] != quote; ++i) {
      if (rest[i] != '\\' || i + 1 == rest.size()) {
        out += rest[i];
        continue;
      }
      char c = rest[++i];
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    if (i >= rest.size())
      fail("unterminated string");
    rest.remove_prefix(i + 1);
    return out;
  }
  PartialShape shape() {
    if (take("?"))
      return {};
    std::vector<std::int64_t> dims;
    if (take("[")) {
      while (!take("]")) {
        dims.push_back(take("?") ? -1 : integer());
        take(",");
      }
      return PartialShape(std::move(dims));
    }
    expect("{");
    bool unknown = false;
    while (!take("}")) {
      if (take_word("unknown_rank")) {
        expect(":");
        unknown = word("true or false") == "true";
      } else if (take_word("dim")) {
        expect("{");
        expect("size");
        expect(":");
        dims.push_back(integer());
        expect("}");
      } else {
        fail("expected dim or unknown_rank");
      }
    }
    return unknown ? PartialShape() : PartialShape(std::move(dims));
  }
};

AttrValue read_scalar(Reader& r, AttrKind kind) {
  switch (kind) {
  case AttrKind::string:
    return r.string();
  case AttrKind::integer:
    return r.integer();
  case AttrKind::real: {
    auto value = parse_double(r.number());
    if (!value)
      r.fail("expected a number");
    return static_cast<float>(*value);
  }
  case AttrKind::boolean: {
    std::string_view word = r.word("true or false");
    if (word == "true" || word == "T")
      return true;
    if (word == "false" || word == "F")
      return false;
    r.fail("expected true or false");
  }
  case AttrKind::type:
    return r.dtype();
  case AttrKind::shape:
    return r.shape();
  case AttrKind::tensor: {
    auto tensor = parse_literal(str_trim(r.rest));
    if (!tensor.ok())
      r.fail(tensor.status().message());
    r.rest = {};
    return TensorBox{*std::move(tensor)};
  }
  case AttrKind::function:
    return FunctionRef{std::string(r.word("a function's name")), nullptr};
  }
  r.fail("unknown kind");
}

template <class T>
AttrValue read_list_of(Reader& r, AttrKind kind) {
  std::vector<T> out;
  while (!r.take("]")) {
    out.push_back(std::get<T>(read_scalar(r, kind)));
    r.take(",");
  }
  return out;
}

AttrValue read_value(Reader& r, AttrType type) {
  if (!type.list)
    return read_scalar(r, type.kind);
  r.expect("[");
  switch (type.kind) {
  case AttrKind::string:
    return read_list_of<std::string>(r, type.kind);
  case AttrKind::integer:
    return read_list_of<std::int64_t>(r, type.kind);
  case AttrKind::real:
    return read_list_of<float>(r, type.kind);
  case AttrKind::boolean:
    return read_list_of<bool>(r, type.kind);
  case AttrKind::type:
    return read_list_of<DType>(r, type.kind);
  case AttrKind::shape:
    return read_list_of<PartialShape>(r, type.kind);
  case AttrKind::tensor:
    return read_list_of<TensorBox>(r, type.kind);
  case AttrKind::function:
    return read_list_of<FunctionRef>(r, type.kind);
  }
  r.fail("unknown kind");
}

// "{float, int32}" or "{'SAME', 'VALID'}", the brace already taken; says which kind it is.
AttrKind read_allowed(Reader& r, char close, std::vector<AttrValue>& allowed,
                      std::optional<AttrKind> known = {}) {
  r.skip();
  bool strings = known ? *known == AttrKind::string
                       : !r.rest.empty() && (r.rest[0] == '\'' || r.rest[0] == '"');
  std::string_view end(&close, 1);
  while (!r.take(end)) {
    if (strings)
      allowed.push_back(r.string());
    else
      allowed.push_back(r.dtype());
    if (!r.take(",") && (r.skip(), !r.rest.starts_with(end)))
      r.fail("expected ','");
  }
  return strings ? AttrKind::string : AttrKind::type;
}

AttrKind read_kind(Reader& r, std::vector<AttrValue>& allowed) {
  static constexpr std::pair<std::string_view, AttrKind> kinds[] = {
      {"string", AttrKind::string}, {"int", AttrKind::integer},  {"float", AttrKind::real},
      {"bool", AttrKind::boolean},  {"type", AttrKind::type},    {"shape", AttrKind::shape},
      {"tensor", AttrKind::tensor}, {"func", AttrKind::function}};
  auto types = [&](auto& list) {
    allowed.assign(std::begin(list), std::end(list));
    return AttrKind::type;
  };
  if (r.take("{"))
    return read_allowed(r, '}', allowed);
  if (r.take_word("numbertype"))
    return types(number_types);
  if (r.take_word("realnumbertype"))
    return types(real_number_types);
  if (r.take_word("quantizedtype"))
    return types(quantized_types);
  for (auto [name, kind] : kinds)
    if (r.take_word(name))
      return kind;
  r.fail("unknown attribute kind");
}

AttrDef read_attr(Reader& r) {
  AttrDef def;
  def.name = r.word("an attribute's name");
  r.expect(":");
  if (r.take_word("list")) {
    r.expect("(");
    def.type = {read_kind(r, def.allowed), true};
    r.expect(")");
  } else if (r.take("[")) {
    def.type = {read_kind(r, def.allowed), true};
    r.expect("]");
  } else {
    def.type = {read_kind(r, def.allowed), false};
  }
  while (!r.at_end()) {
    if (r.take(">=") || r.take("min=")) {
      def.has_minimum = true;
      def.minimum = r.integer();
    } else if (r.take("allowed=[")) {
      read_allowed(r, ']', def.allowed, def.type.kind);
    } else {
      r.expect("=");
      def.default_value = read_value(r, def.type);
    }
  }
  return def;
}

// Pieces between ';' that stand outside quotes.
std::vector<std::string_view> specs_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && quote) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == quote)
        quote = 0;
    } else if (i < text.size() && (text[i] == '\'' || text[i] == '"')) {
      quote = text[i];
    } else if (i == text.size() || text[i] == ';') {
      if (auto piece = str_trim(text.substr(begin, i - begin)); !piece.empty())
        out.push_back(piece);
      begin = i + 1;
    }
  }
  return out;
}

ArgDef read_arg(const OpSchema& schema, std::string_view spec) {
  Reader r(schema.name, spec);
  ArgDef arg;
  arg.name = r.word("an argument's name");
  r.expect(":");
  arg.is_ref = r.take("Ref(");
  std::string_view type = r.word("a type");
  if (r.take("*")) {
    const AttrDef* number = schema.find_attr(type);
    if (!number || number->type != AttrType{AttrKind::integer, false})
      r.fail("the number of tensors must be an int attribute");
    arg.number_attr = type;
    if (r.take("Ref("))
      arg.is_ref = true;
    type = r.word("a type");
  }
  if (arg.is_ref)
    r.expect(")");
  if (r.take("&"))
    arg.is_ref = true;
  if (!r.at_end())
    r.fail("unexpected text");
  if (const AttrDef* attr = schema.find_attr(type)) {
    if (attr->type.kind != AttrKind::type)
      r.fail("the attribute does not hold a type");
    (attr->type.list ? arg.type_list_attr : arg.type_attr) = type;
    if (attr->type.list && !arg.number_attr.empty())
      r.fail("a list of types has no number");
  } else if (auto t = parse_dtype(type)) {
    arg.type = *t;
  } else {
    r.fail("neither a dtype nor an attribute of the op");
  }
  return arg;
}

} // namespace

SchemaBuilder::SchemaBuilder(std::string_view name) {
  schema_.name = name;
}

SchemaBuilder& SchemaBuilder::input(std::string_view spec) {
  for (std::string_view one : specs_of(spec))
    input_specs_.emplace_back(one);
  return *this;
}

SchemaBuilder& SchemaBuilder::output(std::string_view spec) {
  for (std::string_view one : specs_of(spec))
    output_specs_.emplace_back(one);
  return *this;
}

SchemaBuilder& SchemaBuilder::attr(std::string_view spec) {
  for (std::string_view one : specs_of(spec)) {
    Reader r(schema_.name, one);
    AttrDef def = read_attr(r);
    if (schema_.find_attr(def.name))
      r.fail("the attribute is declared twice");
    schema_.attrs.push_back(std::move(def));
  }
  return *this;
}

OpSchema SchemaBuilder::build() {
  for (const std::string& spec : input_specs_)
    schema_.inputs.push_back(read_arg(schema_, spec));
  for (const std::string& spec : output_specs_)
    schema_.outputs.push_back(read_arg(schema_, spec));
  input_specs_.clear();
  output_specs_.clear();
  return std::move(schema_);
}

} // namespace troupe
