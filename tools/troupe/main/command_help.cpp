// troupe help [COMMAND]: what `troupe COMMAND --help` prints. main.cpp makes the one of the other
// before it reads the line; this says so to whoever lists the commands.
#include "tools/troupe/command.hpp"

namespace troupe {
namespace {

class HelpCommand final : public Command {
public:
  std::string summary() const override { return "Shows what a command does, with examples"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe help", "lists the commands"},
            {"troupe help run", "the options of `troupe run`, with examples"}};
  }
  void declare(Options& options) override {
    options.text("COMMAND", command_, "a command; without it all are listed");
  }
  int run() override {
    return called_wrongly("write `troupe help` or `troupe help COMMAND`, nothing else");
  }

private:
  std::string command_;
};

} // namespace

std::unique_ptr<Command> make_command_help() {
  return std::make_unique<HelpCommand>();
}

} // namespace troupe
