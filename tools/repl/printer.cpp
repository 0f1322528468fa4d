#include "tools/repl/printer.hpp"

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

const char* code_of(Style style) {
  switch (style) {
  case Style::heading:
    return "\033[1m";
  case Style::name:
    return "\033[36m";
  case Style::faint:
    return "\033[2m";
  case Style::good:
    return "\033[32m";
  case Style::bad:
    return "\033[31m";
  case Style::plain:
    break;
  }
  return "";
}

Printer::Sink to_file(std::FILE* file) {
  return [file](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
  };
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && !(no_colour && *no_colour) && term &&
         std::string_view(term) != "dumb";
}

} // namespace

Printer Printer::standard() {
  return {to_file(stdout), to_file(stderr), wants_colour()};
}

void Printer::error(std::string_view sentence) {
  error_(str_cat(styled(Style::bad, "error:"), " ", sentence, "\n"));
}

std::string Printer::styled(Style style, std::string_view text) const {
  if (!colour_ || style == Style::plain || text.empty())
    return std::string(text);
  return str_cat(code_of(style), text, "\033[0m");
}

} // namespace troupe
