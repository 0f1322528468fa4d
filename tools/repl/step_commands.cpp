// Commands that run steps and look at them.
#include <algorithm>
#include <fstream>

#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "core/trace/chrome.hpp"
#include "graph/ir/graph.hpp"
#include "storage/npy/npy.hpp"
#include "tools/repl/commands.hpp"
#include "tools/repl/signature.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

/// Elements of a value that are printed, and of a feed in the list of feeds.
constexpr std::int64_t printed_elements = 64, listed_elements = 8;
/// Nodes of a trace that are shown, the longest first.
constexpr std::size_t shown_spans = 20;

std::string name_of(const StepCommand& request) {
  std::string out = str_join(request.fetches, " ");
  if (!request.targets.empty())
    str_append(out, out.empty() ? "-> " : " -> ", str_join(request.targets, " "));
  return out;
}

// Of the loaded graph, unless the graph is not known here.
Status check_node(const Workspace& workspace, const std::string& tensor) {
  TROUPE_ASSIGN(TensorName name, parse_tensor_name(tensor));
  const Graph& graph = workspace.graph();
  if (graph.num_nodes() == 0 || graph.find(name.node))
    return {};
  std::vector<std::string> names;
  for (const Node* node : graph.nodes())
    names.push_back(node->name);
  return not_found(
      str_cat("the graph has no node '", name.node, "'", did_you_mean(name.node, names)));
}

Outcome list_feeds(Workspace& workspace, Printer& printer) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, tensor] : workspace.feeds())
    rows.push_back({name, to_literal(tensor, listed_elements)});
  printer.print(rows.empty() ? "No feeds; `feed NAME LITERAL` sets one.\n" : format_table(rows));
  return {};
}

Outcome feed(const Statement& statement, Workspace& workspace, Printer& printer) {
  if (statement.arguments() == 0)
    return list_feeds(workspace, printer);
  if (statement.arguments() == 1)
    return wrong_call(
        str_cat("`feed ", statement.argument(0),
                "` lacks a value; write a literal such as f32[2] 1 2, or a .npy file"));
  const std::string& name = statement.argument(0);
  TROUPE_TRY(check_node(workspace, name));
  bool is_file = statement.arguments() == 2 && statement.argument(1).ends_with(".npy");
  auto tensor = is_file ? read_npy(statement.argument(1)) : parse_literal(statement.rest_from(1));
  if (!tensor)
    return tensor.status().with_context(str_cat("feed ", name));
  printer.print(str_cat(name, " = ", to_literal(*tensor, listed_elements), "\n"));
  workspace.feeds().insert_or_assign(name, *std::move(tensor));
  return {};
}

Outcome unfeed(const Statement& statement, Workspace& workspace, Printer&) {
  if (statement.arguments() == 0)
    workspace.feeds().clear();
  for (std::size_t i = 0; i < statement.arguments(); ++i)
    if (workspace.feeds().erase(statement.argument(i)) == 0)
      return not_found(str_cat("'", statement.argument(i), "' is not fed; `feed` lists what is"));
  return {};
}

Status print_outcome(const StepCommand& request, StepAnswer& outcome, Workspace& workspace,
                     Printer& printer) {
  if (!outcome.values)
    return outcome.values.status();
  for (std::size_t i = 0; i < outcome.values->size(); ++i)
    printer.print(str_cat(printer.styled(Style::name, request.fetches[i]), " = ",
                          to_literal((*outcome.values)[i], printed_elements), "\n"));
  std::string note = str_cat("ran in ", format_micros(outcome.duration_us));
  if (request.trace) {
    workspace.keep_trace(std::move(outcome.trace));
    note.append("; `timeline` shows the trace");
  }
  printer.print(printer.styled(Style::faint, note) + "\n");
  return {};
}

// Nothing can be fetched of them; whoever names one wants it to run.
void run_ops_without_outputs(const Workspace& workspace, StepCommand& request) {
  std::erase_if(request.fetches, [&](const std::string& fetch) {
    const Node* node = workspace.graph().find(fetch);
    bool has_none = node && node->num_outputs() == 0;
    if (has_none)
      request.targets.push_back(fetch);
    return has_none;
  });
}

Outcome cancel(const Statement& statement, Workspace& workspace, Printer& printer) {
  std::vector<std::string> running;
  for (const BackgroundStep& step : workspace.background()) {
    if (statement.argument(0) == std::to_string(step.number) ||
        statement.argument(0) == str_cat("[", step.number, "]")) {
      step.pending.cancel();
      printer.print(str_cat("[", step.number, "] ", name_of(step.request), " is asked to end\n"));
      return {};
    }
    running.push_back(str_cat("[", step.number, "] ", name_of(step.request)));
  }
  return not_found(str_cat("there is no step '", statement.argument(0), "' in the background; ",
                           running.empty() ? "there is none at all"
                                           : str_cat("there are ", str_join(running, ", "))));
}

Outcome run(const Statement& statement, Workspace& workspace, Printer& printer) {
  auto request = read_run(statement);
  if (!request)
    return wrong_call(request.status().message());
  if (workspace.is_connected() && workspace.graph().num_nodes() == 0)
    return failed_precondition("no graph is loaded; `load FILE` first");
  for (const auto* names : {&request->fetches, &request->targets})
    for (const std::string& name : *names)
      TROUPE_TRY(check_node(workspace, name));
  run_ops_without_outputs(workspace, *request);
  TROUPE_ASSIGN(BackgroundStep step, workspace.start(*request));
  std::optional<StepAnswer> outcome;
  if (!request->in_background)
    outcome = workspace.wait(step, workspace.interrupted(), [&] {
      printer.print(printer.styled(Style::faint, "still runs; Ctrl-C leaves it in the background") +
                    "\n");
    });
  if (outcome)
    return print_outcome(*request, *outcome, workspace, printer);
  if (!request->in_background && workspace.ends_on_interrupt()) {
    step.pending.cancel();
    return cancelled("interrupted; the step is cancelled");
  }
  int number = workspace.put_in_background(std::move(step));
  printer.print(str_cat("[", number, "] ", name_of(*request),
                        " runs in the background; `wait` waits for it, `cancel ", number,
                        "` ends it, `steps` shows it\n"));
  return {};
}

Status report(BackgroundStep& step, StepAnswer& outcome, Workspace& workspace, Printer& printer) {
  printer.print(str_cat("[", step.number, "] ", name_of(step.request), "\n"));
  return print_outcome(step.request, outcome, workspace, printer);
}

Outcome wait(const Statement&, Workspace& workspace, Printer& printer) {
  Status first;
  while (auto ended = workspace.take_finished(true, workspace.interrupted())) {
    Status status = report(ended->first, ended->second, workspace, printer);
    if (first.ok())
      first = status;
  }
  return first;
}

Outcome steps(const Statement& statement, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  std::string handle = statement.arguments() > 0 ? statement.argument(0) : session->handle();
  TROUPE_ASSIGN(StepList list, watch->steps(handle));
  std::vector<std::vector<std::string>> rows;
  for (const StepInfo& step : list.steps)
    rows.push_back(
        {str_cat("step ", step.step_id), step.state, format_micros(step.duration_us),
         step.signature,
         step.waiting_for.empty() ? "" : str_cat("waits for ", str_join(step.waiting_for, ", "))});
  printer.print(rows.empty() ? "No step yet.\n" : format_table(rows));
  return {};
}

void print_trace(const StepStats& stats, Printer& printer) {
  for (const DeviceStats& device : stats.devices) {
    std::vector<const NodeStats*> nodes;
    std::int64_t begin = device.nodes.empty() ? 0 : device.nodes[0].start_us;
    for (const NodeStats& node : device.nodes) {
      nodes.push_back(&node);
      begin = std::min(begin, node.start_us);
    }
    std::stable_sort(nodes.begin(), nodes.end(), [](auto* a, auto* b) {
      return a->end_us - a->start_us > b->end_us - b->start_us;
    });
    std::vector<std::vector<std::string>> rows;
    for (const NodeStats* node : nodes)
      if (rows.size() < shown_spans)
        rows.push_back({node->node, node->op, str_cat("at ", format_micros(node->start_us - begin)),
                        str_cat("for ", format_micros(node->end_us - node->start_us)),
                        str_cat(node->bytes, " bytes"), node->detail});
    printer.print(str_cat(printer.styled(Style::heading, device.device), ": ", nodes.size(),
                          " kernels, the longest first\n", format_table(rows, "  ")));
  }
}

Outcome timeline(const Statement& statement, Workspace& workspace, Printer& printer) {
  if (!workspace.last_trace())
    return failed_precondition("no run was traced yet; add the word trace to one: `run y trace`");
  const StepStats& stats = *workspace.last_trace();
  if (statement.arguments() == 0) {
    print_trace(stats, printer);
    return {};
  }
  const std::string& path = statement.argument(0);
  std::ofstream out(path, std::ios::binary);
  out << to_chrome_trace(stats);
  out.close();
  if (!out)
    return unavailable(str_cat(path, ": cannot be written"));
  printer.print(str_cat(path, " is written; open it in chrome://tracing or ui.perfetto.dev\n"));
  return {};
}

} // namespace

void report_background_steps(Workspace& workspace, Printer& printer) {
  while (auto ended = workspace.take_finished(false, workspace.interrupted())) {
    Status status = report(ended->first, ended->second, workspace, printer);
    if (!status.ok())
      printer.error(status.to_string());
  }
}

std::vector<ReplCommand> step_commands() {
  using enum ArgumentKind;
  return {
      {"feed",
       "[NAME LITERAL | NAME FILE.npy]",
       "Sets the value of a tensor for later runs; without arguments, lists the values that are "
       "set.",
       "feed x f32[2,2] 1 2 3 4",
       0,
       any_number,
       {node, file},
       feed},
      {"unfeed",
       "[NAME…]",
       "Forgets values set with feed, all of them without names.",
       "unfeed x",
       0,
       any_number,
       {node},
       unfeed},
      {"run",
       "FETCH… [-> TARGET…] [timeout=DURATION] [trace] [&]",
       "Runs one step and prints the fetched values; & leaves it in the background, as Ctrl-C "
       "does.",
       "run loss -> train timeout=10s trace",
       1,
       any_number,
       {node},
       run},
      {"cancel",
       "NUMBER",
       "Ends a step in the background, by the number in brackets under which it runs.",
       "cancel 1",
       1,
       1,
       {none},
       cancel},
      {"wait",
       "",
       "Waits for the steps in the background and prints their values.",
       "wait",
       0,
       0,
       {},
       wait},
      {"steps",
       "[SESSION]",
       "Shows running and recent steps, and which tasks they wait for.",
       "steps",
       0,
       1,
       {session},
       steps},
      {"timeline",
       "[FILE]",
       "Shows the last traced run, or writes it for chrome://tracing and Perfetto.",
       "timeline step.json",
       0,
       1,
       {file},
       timeline},
  };
}

} // namespace troupe
