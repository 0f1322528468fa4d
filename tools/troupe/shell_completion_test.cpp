#include "tools/troupe/shell_completion.hpp"

#include <doctest/doctest.h>

#include "tools/troupe/man_page.hpp"

namespace troupe {
namespace {

const std::vector<CommandInfo> two_commands = {
    {"run",
     "Runs steps",
     {{"troupe run local a.pb", "it's one step"}},
     {{{"TARGET"}, "local, or a node", true, false, true},
      {{"--feed", "-f"}, "NAME=[0]", true, true, false},
      {{"--json"}, "print JSON", false, false, false}}},
    {"help", "Shows what's what", {}, {{{"COMMAND"}, "a command", true, false, false}}},
};

bool has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

TEST_CASE("shell completion: each shell's script has every command and option") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    CAPTURE(shell);
    auto script = completion_script(shell, two_commands);
    REQUIRE(script.ok());
    for (const char* piece : {"run", "help", "feed", "json", "local"})
      CHECK(has(*script, piece));
  }
  CHECK(completion_script("tcsh", two_commands).status().code() == Code::invalid_argument);
}

TEST_CASE("shell completion: what a shell would take for its own is quoted") {
  CHECK(has(*completion_script("zsh", two_commands), "'help:Shows what'\\''s what'"));
  CHECK(has(*completion_script("zsh", two_commands), "[NAME=\\[0\\]]"));
  CHECK(has(*completion_script("fish", two_commands), "-d 'Shows what\\'s what'"));
}

TEST_CASE("man page: synopsis, options and examples, with roff's own signs hidden") {
  std::string page = man_page(two_commands[0]);
  CHECK(has(page, ".TH TROUPE-RUN 1"));
  CHECK(has(page, ".B troupe run TARGET [OPTIONS]\n"));
  CHECK(has(page, ".B \\-\\-feed, \\-f \\fIVALUE\\fR\n"));
  CHECK(has(page, "\nit's one step\n"));
  CHECK(has(man_page_of_all(two_commands), ".BR troupe\\-help (1)\nShows what's what\n"));
}

} // namespace
} // namespace troupe
