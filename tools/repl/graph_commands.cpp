// Commands on the session's graph and on the op library.
#include <algorithm>

#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tools/repl/commands.hpp"
#include "tools/repl/signature.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

/// Elements of a constant that one line of `graph` shows.
constexpr std::int64_t shown_elements = 8;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Outcome load(const Statement& statement, Workspace& workspace, Printer& printer) {
  const std::string& path = statement.argument(0);
  TROUPE_ASSIGN(std::size_t added, workspace.load(path));
  printer.print(
      str_cat(path, ": ", added, " nodes; the graph has ", workspace.graph().num_nodes(), "\n"));
  return {};
}

Outcome graph(const Statement& statement, Workspace& workspace, Printer& printer) {
  std::string filter = statement.arguments() > 0 ? statement.argument(0) : "";
  std::size_t shown = 0;
  for (const Node* node : std::as_const(workspace.graph()).nodes()) {
    if (!contains(node->name, filter) && !contains(node->op_name(), filter) &&
        !contains(node->device, filter))
      continue;
    ++shown;
    std::string line = to_text(workspace.graph(), *node, shown_elements);
    // The name comes first.
    std::size_t name = line.find(' ');
    printer.print(
        str_cat(printer.styled(Style::name, line.substr(0, name)), line.substr(name), "\n"));
  }
  std::size_t all = workspace.graph().num_nodes();
  if (all == 0)
    printer.print("The graph is empty; `load FILE` adds to it.\n");
  else if (filter.empty())
    printer.print(printer.styled(Style::faint, str_cat(all, " nodes")) + "\n");
  else
    printer.print(
        printer.styled(Style::faint, str_cat(shown, " of ", all, " nodes match '", filter, "'")) +
        "\n");
  return {};
}

Outcome place(const Statement& statement, Workspace& workspace, Printer& printer) {
  std::string filter = statement.arguments() > 0 ? statement.argument(0) : "";
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(Placement placement, session->explain());
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, std::size_t> counts;
  for (const auto& [node, device] : placement.devices) {
    if (!contains(node, filter) && !contains(device, filter))
      continue;
    rows.push_back({node, device});
    ++counts[device];
  }
  printer.print(format_table(rows));
  rows.clear();
  for (const auto& [device, count] : counts)
    rows.push_back({device, str_cat(count, count == 1 ? " node" : " nodes")});
  printer.print(rows.empty() ? "No node to place.\n"
                             : printer.styled(Style::faint, format_table(rows)));
  return {};
}

Outcome partitions(const Statement& statement, Workspace& workspace, Printer& printer) {
  auto signature = read_signature(statement);
  if (!signature)
    return wrong_call(signature.status().message());
  TROUPE_ASSIGN(Session * session, workspace.session());
  std::vector<std::string> feeds;
  for (const auto& [name, tensor] : workspace.feeds())
    feeds.push_back(name);
  TROUPE_ASSIGN(Placement placement,
                session->explain(feeds, signature->fetches, signature->targets));
  for (const auto& [task, text] : placement.partitions)
    printer.print(str_cat(printer.styled(Style::heading, task), "\n", text,
                          text.ends_with('\n') ? "" : "\n"));
  return {};
}

Outcome ops(const Statement& statement, Workspace&, Printer& printer) {
  if (statement.arguments() == 0) {
    std::vector<std::vector<std::string>> rows;
    for (const OpSchema* op : op_library().ops.all())
      rows.push_back({op->name, op->doc.substr(0, op->doc.find('\n'))});
    printer.print(str_cat(format_table(rows),
                          printer.styled(Style::faint, str_cat(rows.size(), " ops")), "\n"));
    return {};
  }
  const OpSchema* op = op_library().ops.find(statement.argument(0));
  if (!op) {
    std::vector<std::string> names;
    for (const OpSchema* known : op_library().ops.all())
      names.push_back(known->name);
    return not_found(str_cat("there is no op '", statement.argument(0), "'",
                             did_you_mean(statement.argument(0), names)));
  }
  printer.print(str_cat(printer.styled(Style::heading, op->signature()), "\n"));
  if (!op->doc.empty())
    printer.print(str_cat("  ", op->doc, "\n"));
  std::vector<std::string> devices;
  for (const KernelDef* kernel : op_library().kernels.of(op->name))
    if (std::find(devices.begin(), devices.end(), kernel->device_type) == devices.end())
      devices.push_back(kernel->device_type);
  std::vector<std::vector<std::string>> rows = {
      {"kernels", devices.empty() ? "none in this build" : str_join(devices, ", ")},
      {"gradient", op->gradient ? "yes" : str_cat("none: ", op->not_differentiable)},
      {"stateful", op->is_stateful ? "yes" : "no"}};
  printer.print(format_table(rows, "  "));
  return {};
}

} // namespace

std::vector<ReplCommand> graph_commands() {
  using enum ArgumentKind;
  return {
      {"load",
       "FILE",
       "Adds a graph to the session: GraphDef (binary or text), text form, SavedModel.",
       "load model.graph",
       1,
       1,
       {file},
       load},
      {"graph",
       "[FILTER]",
       "Shows the nodes whose name, op or requested device holds FILTER.",
       "graph MatMul",
       0,
       1,
       {node, device},
       graph},
      {"place",
       "[FILTER]",
       "Shows on which device each node runs.",
       "place /job:ps",
       0,
       1,
       {device},
       place},
      {"partitions",
       "FETCH… [-> TARGET…]",
       "Shows how the graph is cut up for a run with these fetches and the present feeds.",
       "partitions loss -> train",
       1,
       any_number,
       {node},
       partitions},
      {"ops",
       "[NAME]",
       "Lists the ops, or tells the signature and meaning of one.",
       "ops MatMul",
       0,
       1,
       {op},
       ops},
  };
}

} // namespace troupe
