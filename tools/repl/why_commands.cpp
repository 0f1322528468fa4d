// Commands that say why a step does not end.
#include <algorithm>

#include "actors/step/step_text.hpp"
#include "core/base/strings.hpp"
#include "tools/repl/commands.hpp"

namespace troupe {
namespace {

Result<std::uint64_t> read_step_id(const std::string& text) {
  bool is_number =
      !text.empty() && text.size() < 20 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || std::stoull(text) == 0)
    return invalid_argument(str_cat(
        "'", text, "' is no step id; `steps` lists them, and `why` alone takes every step"));
  return std::stoull(text);
}

void print(const StepsExplained& explained, Printer& printer) {
  for (const StepExplained& step : explained.steps)
    printer.print(format_step(step));
  for (const std::string& remark : explained.remarks)
    printer.print(remark + "\n");
}

// The session's steps; if none runs there, or the step is not among them, those of the master's
// other sessions.
Outcome explain(std::uint64_t step_id, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  TROUPE_ASSIGN(StepsExplained own, watch->why(session->handle(), step_id));
  if (!own.steps.empty() || (step_id == 0 && !own.remarks.empty())) {
    print(own, printer);
    return {};
  }
  TROUPE_ASSIGN(SessionList sessions, watch->sessions());
  bool has_found = false;
  for (const SessionInfo& other : sessions.sessions) {
    if (other.session_handle == session->handle())
      continue;
    auto explained = watch->why(other.session_handle, step_id);
    if (!explained || explained->steps.empty())
      continue; // it has ended since, or is idle
    has_found = true;
    printer.print(str_cat("in session ", other.session_handle, "\n"));
    print(*explained, printer);
  }
  if (has_found)
    return {};
  if (step_id == 0)
    printer.print("No step is running.\n");
  else
    print(own, printer);
  return {};
}

Outcome run_why(const Statement& statement, Workspace& workspace, Printer& printer) {
  std::uint64_t step_id = 0;
  if (statement.arguments() > 0) {
    auto id = read_step_id(statement.argument(0));
    if (!id)
      return wrong_call(id.status().message());
    step_id = *id;
  }
  return explain(step_id, workspace, printer);
}

Outcome run_step(const Statement& statement, Workspace& workspace, Printer& printer) {
  if (statement.argument(0) != "why")
    return wrong_call(str_cat("`step` knows `step why` only, not `step ", statement.argument(0),
                              "`; `steps` lists the steps"));
  std::uint64_t step_id = 0;
  if (statement.arguments() > 1) {
    auto id = read_step_id(statement.argument(1));
    if (!id)
      return wrong_call(id.status().message());
    step_id = *id;
  }
  return explain(step_id, workspace, printer);
}

} // namespace

std::vector<ReplCommand> why_commands() {
  using enum ArgumentKind;
  return {
      {"why",
       "[STEP_ID]",
       "Shows what running steps wait for, as a tree that ends in the cause.",
       "why",
       0,
       1,
       {step},
       run_why},
      {"step", "why [STEP_ID]", "The same as why.", "step why", 1, 2, {step_verb, step}, run_step},
  };
}

} // namespace troupe
