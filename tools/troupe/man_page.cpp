#include "tools/troupe/man_page.hpp"

#include <cctype>

#include "core/base/strings.hpp"
#include "core/base/version.hpp"

namespace troupe {
namespace {

// Text as roff takes it for text.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      str_append(out, "\\&", std::string_view(&c, 1));
    else
      out.push_back(c);
  }
  return out;
}

std::string header(std::string_view name, std::string_view summary) {
  std::string upper(name);
  for (char& c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return str_cat(".TH ", upper, " 1 \"\" \"troupe ", version, "\" \"troupe\"\n.SH NAME\n",
                 roff(name), " \\- ", roff(summary), "\n");
}

constexpr std::string_view exit_codes =
    ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nfailed\n.TP\n2\ncalled wrongly\n.TP\n130\n"
    "interrupted\n";

} // namespace

std::string man_page_of_all(std::span<const CommandInfo> commands) {
  std::string out = header("troupe", "runs TensorFlow graphs on a cluster of actors");
  out += ".SH SYNOPSIS\n.B troupe\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n.SH COMMANDS\n";
  for (const CommandInfo& command : commands)
    str_append(out, ".TP\n.BR troupe\\-", roff(command.name), " (1)\n", roff(command.summary),
               "\n");
  return str_cat(out, exit_codes);
}

std::string man_page(const CommandInfo& command) {
  std::string out = header(str_cat("troupe-", command.name), command.summary);
  str_append(out, ".SH SYNOPSIS\n.B ", roff(usage_of(command)), "\n.SH OPTIONS\n");
  for (const OptionInfo& option : command.options)
    str_append(out, ".TP\n.B ", roff(str_join(option.names, ", ")),
               option.is_position() || !option.takes_value ? "" : " \\fIVALUE\\fR", "\n",
               roff(option.help), option.required ? " (required)" : "", "\n");
  out += ".TP\n.B \\-h, \\-\\-help\nshows this\n.SH EXAMPLES\n";
  for (const auto& [line, what] : command.examples)
    str_append(out, ".TP\n.B ", roff(line), "\n", roff(what), "\n");
  return str_cat(out, exit_codes, ".SH SEE ALSO\n.BR troupe (1)\n");
}

} // namespace troupe
