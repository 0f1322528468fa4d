// troupe completion SHELL: a script that completes our command line.
#include "tools/troupe/main/commands.hpp"
#include "tools/troupe/shell_completion.hpp"

namespace troupe {
namespace {

class CompletionCommand final : public Command {
public:
  std::string summary() const override { return "Prints the completion script of a shell"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe completion bash > ~/.local/share/bash-completion/completions/troupe",
             "for bash, from its next start on; an installed troupe has brought it already"},
            {"troupe completion zsh > ~/.zsh/_troupe",
             "for zsh, if ~/.zsh is in fpath before compinit; or source it after compinit"},
            {"troupe completion fish > ~/.config/fish/completions/troupe.fish", "for fish"}};
  }
  void declare(Options& options) override {
    options.text("SHELL", shell_, "bash, zsh or fish", true);
  }
  int run() override {
    auto script = completion_script(shell_, describe_all_commands());
    if (!script)
      return called_wrongly(script.status().message());
    print(*script);
    return exit_ok;
  }

private:
  std::string shell_;
};

} // namespace

std::unique_ptr<Command> make_command_completion() {
  return std::make_unique<CompletionCommand>();
}

} // namespace troupe
