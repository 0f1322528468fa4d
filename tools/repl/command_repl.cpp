// troupe repl [TARGET]: the prompt.
#include "core/base/strings.hpp"
#include "tools/repl/repl.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/target.hpp"

namespace troupe {
namespace {

class ReplSubcommand final : public Command {
public:
  std::string summary() const override {
    return "A prompt: load graphs, run them, watch actors, kill one and see";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {
        {"troupe repl", "a session in this process"},
        {"troupe repl caf://127.0.0.1:7271", "a session on the cluster of that node"},
        {"troupe repl local -c 'load half.graph; feed x f32[2] 1 2; run y'",
         "runs these commands and ends"},
        {"troupe repl caf://127.0.0.1:7271 < look.txt", "runs a script; the first error ends it"}};
  }
  void declare(Options& options) override {
    options.text("TARGET", target_, str_cat(session_target_help, "; local without it"));
    options.texts("-c,--commands", commands_,
                  "run these commands, separated by `;` or line ends, and end; may be given again");
    options.text("--history", history_,
                 "the file that keeps what was typed; ~/.troupe_history "
                 "without it");
  }
  int run() override {
    ReplOptions options;
    options.target = target_;
    options.history_file = history_.empty() ? default_history_file() : history_;
    for (const std::string& text : commands_)
      options.commands = options.commands ? *options.commands + "\n" + text : text;
    return run_repl(options);
  }

private:
  std::string target_, history_;
  std::vector<std::string> commands_;
};

} // namespace

std::unique_ptr<Command> make_command_repl() {
  return std::make_unique<ReplSubcommand>();
}

} // namespace troupe
