// The prompt: reads statements from a terminal, a script or the command line, and runs them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/repl/printer.hpp"
#include "tools/repl/statement.hpp"
#include "tools/repl/workspace.hpp"

namespace troupe {

struct ReplOptions {
  std::string target;                  ///< empty or "local", or "caf://host:port"
  std::optional<std::string> commands; ///< run these and end
  std::string history_file;            ///< empty: none
};

/// Where the history is kept: ~/.troupe_history; empty without a home.
std::string default_history_file();

/// Connects and runs: `commands`, else what a person types if standard input is a terminal, else
/// standard input as a script. Commands and scripts end at the first error. Returns 0 when all went
/// well, 1 when something failed, 2 when something was called wrongly; at a terminal only failing
/// to connect counts. On the main thread.
int run_repl(const ReplOptions& options);

/// A script, line by line, until its end, `quit` or the first error, which is printed with
/// its place if `name` is not empty. `next_line` gives false at the end. Exit code as above.
int run_script(const std::function<bool(std::string&)>& next_line, std::string_view name,
               Workspace& workspace, Printer& printer);

} // namespace troupe
