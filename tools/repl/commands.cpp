#include "tools/repl/commands.hpp"

#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"

namespace troupe {

Outcome wrong_call(std::string sentence) {
  Outcome out{invalid_argument(std::move(sentence))};
  out.called_wrongly = true;
  return out;
}

const std::vector<ReplCommand>& repl_commands() {
  static const std::vector<ReplCommand> all = [] {
    std::vector<ReplCommand> out;
    for (auto* group : {node_commands, graph_commands, step_commands, partial_commands,
                        why_commands, help_commands})
      for (ReplCommand& command : group())
        out.push_back(std::move(command));
    return out;
  }();
  return all;
}

const ReplCommand* find_repl_command(std::string_view name) {
  if (name == "exit") // what other prompts call it
    name = "quit";
  for (const ReplCommand& command : repl_commands())
    if (name == command.name)
      return &command;
  return nullptr;
}

std::vector<std::string> repl_command_names() {
  std::vector<std::string> out;
  for (const ReplCommand& command : repl_commands())
    out.emplace_back(command.name);
  return out;
}

Outcome run_statement(const Statement& statement, Workspace& workspace, Printer& printer) {
  const ReplCommand* command = find_repl_command(statement.name());
  if (!command) {
    std::string hint = did_you_mean(statement.name(), repl_command_names());
    return wrong_call(str_cat("there is no command '", statement.name(), "'",
                              hint.empty() ? "; `help` lists them" : hint));
  }
  std::size_t count = statement.arguments();
  if (count < command->min_arguments || count > command->max_arguments)
    return wrong_call(str_cat(
        "`", command->name, "` ", count < command->min_arguments ? "wants more" : "wants fewer",
        " arguments than ", count, "; call it as `", command->name, *command->arguments ? " " : "",
        command->arguments, "`, for example `", command->example, "`"));
  return command->run(statement, workspace, printer);
}

} // namespace troupe
