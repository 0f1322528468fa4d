// Lines as the terminal gives them: for builds without GNU Readline.
#include <cstdio>
#include <iostream>

#include "tools/repl/line_input.hpp"

namespace troupe {
namespace {

class PlainInput final : public LineInput {
public:
  std::optional<Line> read(const std::string& prompt, const std::string&) override {
    std::fputs(prompt.c_str(), stdout);
    std::fflush(stdout);
    Line line;
    if (!std::getline(std::cin, line.text))
      return std::nullopt;
    return line;
  }
  void remember(const std::string&) override {}
};

} // namespace

std::unique_ptr<LineInput> make_line_input(LineInputOptions) {
  return std::make_unique<PlainInput>();
}

} // namespace troupe
