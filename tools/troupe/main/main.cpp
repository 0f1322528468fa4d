// The executable `troupe`: finds the subcommand, reads its command line, runs it.
#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>

#include "core/base/strings.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/main/commands.hpp"

namespace troupe {
namespace {

class CliOptions final : public Options {
public:
  explicit CliOptions(CLI::App& app) : app_(app) {}
  void text(const std::string& name, std::string& to, const std::string& help,
            bool required) override {
    finish(app_.add_option(name, to, help), name, required);
  }
  void number(const std::string& name, int& to, const std::string& help, bool required) override {
    finish(app_.add_option(name, to, help), name, required);
  }
  void texts(const std::string& name, std::vector<std::string>& to,
             const std::string& help) override {
    finish(app_.add_option(name, to, help)
               ->expected(1)
               ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll),
           name, false);
  }
  void flag(const std::string& name, bool& to, const std::string& help) override {
    app_.add_flag(name, to, help);
  }

private:
  static void finish(CLI::Option* option, const std::string& name, bool required) {
    option->required(required);
    if (name[0] != '-')
      option->option_text(required ? "" : "(optional)");
  }
  CLI::App& app_;
};

std::string footer(const Command& command) {
  std::string out = "Examples:";
  for (const auto& [line, what] : command.examples())
    str_append(out, "\n  ", line, "\n      ", what);
  return out;
}

int main_of(int argc, char** argv) {
  CLI::App app("troupe: TensorFlow graphs on actors.");
  app.set_version_flag("--version", "troupe 0.1.0");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 called wrongly. `troupe COMMAND --help` shows examples.");
  std::map<CLI::App*, std::unique_ptr<Command>> commands;
  for (const auto& [name, make] : all_commands) {
    auto command = make();
    CLI::App* sub = app.add_subcommand(name, command->summary());
    CliOptions options(*sub);
    command->declare(options);
    sub->footer(footer(*command));
    commands[sub] = std::move(command);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_called_wrongly;
  }
  return commands[app.get_subcommands().front()]->run();
}

} // namespace
} // namespace troupe

int main(int argc, char** argv) {
  return troupe::main_of(argc, argv);
}
