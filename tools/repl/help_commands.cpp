// Commands about the prompt itself.
#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "tools/repl/commands.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

Outcome help(const Statement& statement, Workspace&, Printer& printer) {
  if (statement.arguments() == 0) {
    std::vector<std::vector<std::string>> rows;
    for (const ReplCommand& command : repl_commands())
      rows.push_back({command.name, command.summary});
    printer.print(
        str_cat(format_table(rows),
                printer.styled(
                    Style::faint,
                    "`help COMMAND` shows an example. A `;` parts commands, `#` begins a comment; "
                    "a line goes on after a backslash and within brackets and quotes."),
                "\n"));
    return {};
  }
  const ReplCommand* command = find_repl_command(statement.argument(0));
  if (!command)
    return not_found(str_cat("there is no command '", statement.argument(0), "'",
                             did_you_mean(statement.argument(0), repl_command_names())));
  printer.print(str_cat(printer.styled(Style::heading, command->name),
                        *command->arguments ? " " : "", command->arguments, "\n  ",
                        command->summary, "\n  example: ", command->example, "\n"));
  return {};
}

Outcome quit(const Statement&, Workspace&, Printer&) {
  Outcome out;
  out.quit = true;
  return out;
}

} // namespace

std::vector<ReplCommand> help_commands() {
  return {
      {"help",
       "[COMMAND]",
       "Lists the commands, or shows how one is called.",
       "help run",
       0,
       1,
       {ArgumentKind::command},
       help},
      {"quit",
       "",
       "Leaves; Ctrl-D does as well. Steps in the background are cancelled.",
       "quit",
       0,
       0,
       {},
       quit},
  };
}

} // namespace troupe
