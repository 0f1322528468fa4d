#include "tools/troupe/config_reference.hpp"

#include <cctype>

#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

constexpr std::size_t line_letters = 100;

// Words in lines, each behind `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out, line;
  for (std::string_view word : str_split(text, ' ')) {
    if (!line.empty() && indent.size() + letters_of(line) + 1 + letters_of(word) > line_letters) {
      str_append(out, indent, line, "\n");
      line.clear();
    }
    str_append(line, line.empty() ? "" : " ", word);
  }
  return str_cat(out, indent, line, "\n");
}

} // namespace

std::string format_config_keys() {
  std::string out, sections;
  for (const ConfigKey& key : config_keys()) {
    if (key.sections != sections) {
      str_append(out, out.empty() ? "" : "\n", "In ", key.sections, ":\n");
      sections = key.sections;
    }
    str_append(out, "\n  ", key.key, " = ", key.preset, "\n");
    std::string doc = key.doc + ".";
    doc[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(doc[0])));
    out += wrapped(doc, "      ");
    out += wrapped(str_cat("Wants ", key.wants, "."), "      ");
  }
  return out;
}

} // namespace troupe
