// Commands on the connection, and on the node and its actors.
#include <algorithm>

#include "core/base/strings.hpp"
#include "tools/repl/commands.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

Outcome connect(const Statement& statement, Workspace& workspace, Printer& printer) {
  Status opened = workspace.connect(statement.arguments() > 0 ? statement.argument(0) : "local");
  if (opened.code() == Code::invalid_argument)
    return wrong_call(opened.message());
  TROUPE_TRY(opened);
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  printer.print(str_cat("connected to ", workspace.target(), " (", watch->welcome().task, ", ",
                        watch->welcome().software, "), session ", session->handle(), "\n"));
  return {};
}

Outcome devices(const Statement&, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(auto list, session->devices());
  std::vector<std::vector<std::string>> rows;
  for (const DeviceAttributes& device : list)
    rows.push_back({device.name, device.type,
                    device.memory_limit > 0 ? str_cat(device.memory_limit >> 20, " MiB") : "",
                    device.description});
  printer.print(format_table(rows));
  return {};
}

Outcome sessions(const Statement&, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(Session * session, workspace.session());
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  TROUPE_ASSIGN(SessionList list, watch->sessions());
  std::vector<std::vector<std::string>> rows;
  for (const SessionInfo& info : list.sessions)
    rows.push_back({info.session_handle == session->handle() ? "*" : "", info.session_handle,
                    str_cat(info.nodes, " nodes"), str_cat(info.client_graphs, " client graphs"),
                    str_cat(info.running_steps, " steps running"),
                    str_cat(info.finished_steps, " finished"),
                    str_cat(format_micros(info.age_us), " old")});
  printer.print(rows.empty() ? "No sessions.\n" : format_table(rows));
  return {};
}

Outcome actors(const Statement&, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  TROUPE_ASSIGN(ActorTree tree, watch->actors());
  std::vector<std::vector<std::string>> rows;
  for (const ActorInfo& actor : tree.actors) {
    auto depth = std::count(actor.path.begin(), actor.path.end(), '/');
    std::size_t slash = actor.path.rfind('/');
    rows.push_back({std::string(static_cast<std::size_t>(2 * depth), ' ') +
                        (slash == std::string::npos ? actor.path : actor.path.substr(slash + 1)),
                    str_cat(actor.id), str_cat(actor.mailbox, " waiting"), actor.detail});
  }
  printer.print(str_cat(
      format_table(rows),
      printer.styled(Style::faint, str_cat(rows.size(), " actors; a path joins the names by "
                                                        "slashes, as in guardian/master")),
      "\n"));
  return {};
}

Outcome kill(const Statement& statement, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  TROUPE_TRY(watch->kill(statement.argument(0)));
  printer.print(str_cat(statement.argument(0), " is killed\n"));
  return {};
}

Outcome status(const Statement&, Workspace& workspace, Printer& printer) {
  TROUPE_ASSIGN(NodeWatch * watch, workspace.watch());
  TROUPE_ASSIGN(NodeStatus node, watch->status());
  printer.print(str_cat(printer.styled(Style::heading, node.task), " at ", workspace.target(), ": ",
                        watch->welcome().software, ", up ", format_micros(node.uptime_us), ", ",
                        node.resident_bytes >> 20, " MiB resident\n"));
  std::vector<std::vector<std::string>> rows;
  for (const PeerInfo& peer : node.peers)
    rows.push_back({peer.task, peer.address, peer.to_string()});
  printer.print(rows.empty() ? "peers: none\n" : str_cat("peers\n", format_table(rows, "  ")));
  rows.clear();
  for (const ContainerInfo& c : node.containers)
    rows.push_back({c.container, str_cat(c.resources), str_cat(c.bytes, " bytes")});
  if (!rows.empty())
    printer.print(str_cat("variables, by container\n", format_table(rows, "  ")));
  rows.clear();
  for (const auto& [name, value] : node.counters)
    rows.push_back({name, str_cat(value)});
  printer.print(rows.empty() ? "counters: none yet\n"
                             : str_cat("counters\n", format_table(rows, "  ")));
  return {};
}

} // namespace

std::vector<ReplCommand> node_commands() {
  using enum ArgumentKind;
  return {
      {"connect",
       "[TARGET]",
       "Opens a new session: local, or at the node whose address is caf://HOST:PORT.",
       "connect caf://127.0.0.1:7271",
       0,
       1,
       {target},
       connect},
      {"devices", "", "Lists the devices that the session may use.", "devices", 0, 0, {}, devices},
      {"sessions",
       "",
       "Lists the master's sessions; a star marks this one.",
       "sessions",
       0,
       0,
       {},
       sessions},
      {"actors",
       "",
       "Shows the node's living actors and how many messages wait for each.",
       "actors",
       0,
       0,
       {},
       actors},
      {"kill",
       "PATH",
       "Ends an actor the way a crash would; without its master, worker, membership or "
       "transport the whole node ends, and the variables that it holds are lost.",
       "kill guardian/worker",
       1,
       1,
       {actor},
       kill},
      {"status", "", "Shows the node's memory, peers and counters.", "status", 0, 0, {}, status},
  };
}

} // namespace troupe
