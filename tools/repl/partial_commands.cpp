// Commands that run a step in pieces.
#include <algorithm>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "tools/repl/commands.hpp"
#include "tools/repl/signature.hpp"

namespace troupe {
namespace {

/// Elements of a value that are printed.
constexpr std::int64_t printed_elements = 64;

Outcome setup(const Statement& statement, Workspace& workspace, Printer& printer) {
  auto names = read_signature(statement); // feeds stand where a run has its fetches
  if (!names)
    return wrong_call(names.status().message());
  if (names->targets.empty())
    return wrong_call("`setup` lacks what is to be fetched; name it after `->`");
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(std::string handle, session->partial_run_setup(names->fetches, names->targets));
  printer.print(str_cat("step ", handle, " is set up; `part` feeds what `feed` has set of ",
                        str_join(names->fetches, ", "), ", and fetches\n"));
  workspace.partial_step() = {std::move(handle), std::move(names->fetches)};
  return {};
}

// What the step still wants of the present feeds.
Feeds next_feeds(const Workspace& workspace, const PartialStepAtPrompt& step) {
  Feeds out;
  for (const std::string& name : step.unfed)
    if (auto feed = workspace.feeds().find(name); feed != workspace.feeds().end())
      out.emplace_back(*feed);
  return out;
}

Outcome part(const Statement& statement, Workspace& workspace, Printer& printer) {
  StepCommand request;
  if (statement.arguments() > 0) {
    auto read = read_run(statement);
    if (!read)
      return wrong_call(read.status().message());
    request = *std::move(read);
  }
  if (!request.targets.empty() || request.trace || request.in_background)
    return wrong_call("`part` takes fetches and timeout=DURATION alone");
  TROUPE_ASSIGN(Session * session, workspace.session());
  PartialStepAtPrompt& step = workspace.partial_step();
  if (step.handle.empty())
    return failed_precondition("no step is set up; write `setup x -> y` first");
  const Feeds feeds = next_feeds(workspace, step);
  RunOptions options;
  options.timeout_ms = request.timeout_ms;
  TROUPE_ASSIGN(auto values, session->partial_run(step.handle, feeds, request.fetches, options));
  for (const auto& [name, value] : feeds)
    std::erase(step.unfed, name);
  for (std::size_t i = 0; i < values.size(); ++i)
    printer.print(str_cat(printer.styled(Style::name, request.fetches[i]), " = ",
                          to_literal(values[i], printed_elements), "\n"));
  return {};
}

} // namespace

std::vector<ReplCommand> partial_commands() {
  using enum ArgumentKind;
  return {
      {"setup",
       "FEED… -> FETCH…",
       "Sets up a step that `part` runs in pieces.",
       "setup x c -> y z",
       3,
       any_number,
       {node},
       setup},
      {"part",
       "[FETCH…] [timeout=DURATION]",
       "Continues the step of `setup`: feeds the values set since the last `part`, and prints the "
       "named fetches.",
       "part y",
       0,
       any_number,
       {node},
       part},
  };
}

} // namespace troupe
