#include "api/generate/names.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace troupe {

namespace {

bool upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}
bool digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Does a new word begin at `i`, which is a capital and not the first letter?
bool begins_word(std::string_view name, std::size_t i) {
  char before = name[i - 1];
  bool before_lower = i + 1 < name.size() && lower(name[i + 1]);
  if (lower(before) || before_lower)
    return true;
  std::string_view rest = name.substr(i + 1);
  return name[i] == 'V' && !rest.empty() && std::all_of(rest.begin(), rest.end(), digit);
}

constexpr std::string_view cpp_words[] = {
    "and",       "asm",       "auto",       "bool",     "break",     "case",      "catch",
    "char",      "class",     "compl",      "concept",  "const",     "continue",  "decltype",
    "default",   "delete",    "do",         "double",   "else",      "enum",      "explicit",
    "export",    "extern",    "false",      "float",    "for",       "friend",    "goto",
    "if",        "inline",    "int",        "long",     "mutable",   "namespace", "new",
    "noexcept",  "not",       "nullptr",    "operator", "or",        "private",   "protected",
    "public",    "register",  "requires",   "return",   "short",     "signed",    "sizeof",
    "static",    "struct",    "switch",     "template", "this",      "throw",     "true",
    "try",       "typedef",   "typeid",     "typename", "union",     "unsigned",  "using",
    "virtual",   "void",      "volatile",   "wchar_t",  "while",     "xor",       "alignas",
    "alignof",   "bitand",    "bitor",      "char8_t",  "char16_t",  "char32_t",  "consteval",
    "constexpr", "constinit", "const_cast", "co_await", "co_return", "co_yield",  "assert"};

} // namespace

std::string snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && upper(name[i]) && name[i - 1] != '_' && begins_word(name, i))
      out.push_back('_');
    out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(name[i]))));
  }
  return out;
}

std::string identifier(std::string_view name) {
  std::string out = snake_case(name);
  if (std::find(std::begin(cpp_words), std::end(cpp_words), out) != std::end(cpp_words))
    out.push_back('_');
  return out;
}

} // namespace troupe
