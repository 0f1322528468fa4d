// The commands of the prompt. Each is a row: how it is called, what it does, an example, and the
// function that does it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "tools/repl/printer.hpp"
#include "tools/repl/statement.hpp"
#include "tools/repl/workspace.hpp"

namespace troupe {

/// How a command ended.
struct Outcome {
  Status status;
  bool called_wrongly = false; ///< the status says how it is called
  bool quit = false;

  Outcome() = default;
  Outcome(Status why) : status(std::move(why)) {}
};
Outcome wrong_call(std::string sentence);

/// What may stand in the place of an argument, for completion.
enum class ArgumentKind {
  none,
  file,
  node,
  op,
  device,
  actor,
  command,
  target,
  session,
  step,
  step_verb
};

struct ReplCommand {
  const char* name;
  const char* arguments; ///< "FETCH… [-> TARGET…]", or ""
  const char* summary;   ///< one line, a sentence
  const char* example;   ///< a complete line
  std::size_t min_arguments;
  std::size_t max_arguments;
  std::vector<ArgumentKind> kinds; ///< by position; the last one stands for all that follow
  Outcome (*run)(const Statement& statement, Workspace& workspace, Printer& printer);
};
inline constexpr std::size_t any_number = static_cast<std::size_t>(-1);

/// All, in the order in which help shows them.
const std::vector<ReplCommand>& repl_commands();
const ReplCommand* find_repl_command(std::string_view name);
std::vector<std::string> repl_command_names();

/// Finds the command, checks the number of its arguments, runs it. An unknown command is told with
/// the nearest ones, a wrong number of arguments with the right call.
Outcome run_statement(const Statement& statement, Workspace& workspace, Printer& printer);

/// Prints the ends of background steps. Errors of theirs are printed, not returned.
void report_background_steps(Workspace& workspace, Printer& printer);

/// The groups, each in a file of its name.
std::vector<ReplCommand> graph_commands();
std::vector<ReplCommand> step_commands();
std::vector<ReplCommand> partial_commands();
std::vector<ReplCommand> why_commands();
std::vector<ReplCommand> node_commands();
std::vector<ReplCommand> help_commands();

} // namespace troupe
