#include "core/base/node_mark.hpp"

#include "core/base/strings.hpp"

namespace troupe {
namespace {

// What follows the last scope of a call that was written out.
std::string_view name_in_body(std::string_view node) {
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = node.find("/_", at)) != node.npos;) {
    const std::size_t digits = at + 2;
    at = node.find_first_not_of("0123456789", digits);
    if (at == node.npos)
      break;
    if (at > digits && node[at] == '/')
      begin = at + 1;
  }
  return node.substr(begin);
}

} // namespace

std::string naming_node(std::string_view sentence, std::string_view node) {
  const bool has_mark = sentence.find("{{node ") != sentence.npos;
  return str_cat(sentence, "\n\t [[", has_mark ? "" : "{{node ", name_in_body(node),
                 has_mark ? "" : "}}", "]]");
}

} // namespace troupe
