// troupe man [COMMAND]: a manual page, as man(1) reads it.
#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "tools/troupe/main/commands.hpp"
#include "tools/troupe/man_page.hpp"

namespace troupe {
namespace {

class ManCommand final : public Command {
public:
  std::string summary() const override { return "Prints a manual page, for man(1)"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe man run | man -l -", "shows the page of `troupe run`"},
            {"troupe man > troupe.1", "the page that lists the commands"}};
  }
  void declare(Options& options) override {
    options.text("COMMAND", command_, "a command; without it the page that lists them");
  }
  int run() override {
    std::vector<CommandInfo> commands = describe_all_commands();
    if (command_.empty()) {
      print(man_page_of_all(commands));
      return exit_ok;
    }
    std::vector<std::string> names;
    for (const CommandInfo& command : commands) {
      if (command.name == command_) {
        print(man_page(command));
        return exit_ok;
      }
      names.push_back(command.name);
    }
    return called_wrongly(
        str_cat("there is no command '", command_, "'", did_you_mean(command_, names)));
  }

private:
  std::string command_;
};

} // namespace

std::unique_ptr<Command> make_command_man() {
  return std::make_unique<ManCommand>();
}

} // namespace troupe
