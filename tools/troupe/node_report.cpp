#include "tools/troupe/node_report.hpp"

#include "actors/step/step_text.hpp"
#include "core/base/strings.hpp"
#include "net/data/tensor_path.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {

Result<NodeReport> ask_for_report(NodeWatch& watch) {
  NodeReport out;
  out.welcome = watch.welcome();
  TROUPE_ASSIGN(out.node, watch.status());
  TROUPE_ASSIGN(SessionList sessions, watch.sessions());
  for (SessionInfo& info : sessions.sessions) {
    SessionReport report{std::move(info), {}};
    if (auto steps = watch.steps(report.info.session_handle))
      report.steps = std::move(steps->steps);
    else if (steps.status().code() == Code::aborted)
      continue; // it has ended since
    out.sessions.push_back(std::move(report));
  }
  return out;
}

std::string format_report(const NodeReport& report, const Address& address) {
  const NodeStatus& node = report.node;
  std::string out =
      str_cat(node.task, " at ", address, ": ", report.welcome.software, ", up ",
              format_micros(node.uptime_us), ", ", node.resident_bytes >> 20, " MiB resident\n");
  std::vector<std::vector<std::string>> rows;
  for (const DeviceAttributes& device : node.devices)
    rows.push_back({device.name,
                    device.memory_limit > 0 ? str_cat(device.memory_limit >> 20, " MiB") : "",
                    device.description});
  str_append(out, "devices\n", format_table(rows, "  "));
  rows.clear();
  for (const ContainerInfo& c : node.containers)
    rows.push_back({c.container,
                    str_cat(c.resources, c.resources == 1 ? " resource" : " resources"),
                    format_bytes(static_cast<std::uint64_t>(c.bytes))});
  out += rows.empty() ? "variables: none\n"
                      : str_cat("variables, by container\n", format_table(rows, "  "));
  rows.clear();
  for (const PeerInfo& peer : node.peers)
    rows.push_back({peer.task, peer.address, peer.to_string()});
  out += rows.empty() ? "peers: none\n" : str_cat("peers\n", format_table(rows, "  "));
  if (!node.paths.empty())
    str_append(out, "tensors\n  ", str_join(node.paths, "\n  "), "\n");
  out += report.sessions.empty() ? "sessions: none\n" : "sessions\n";
  for (const SessionReport& session : report.sessions) {
    const SessionInfo& s = session.info;
    str_append(out, "  ", s.session_handle, ": ", s.nodes, " nodes, ", s.client_graphs,
               " client graphs, ", s.running_steps, " steps running, ", s.finished_steps,
               " finished, ", format_micros(s.age_us), " old\n");
    rows.clear();
    for (const StepInfo& step : session.steps)
      rows.push_back({str_cat("step ", step.step_id), step.state, format_micros(step.duration_us),
                      step.signature,
                      step.waiting_for.empty()
                          ? ""
                          : str_cat("waits for ", str_join(step.waiting_for, ", "))});
    out += format_table(rows, "    ");
  }
  rows.clear();
  for (const auto& [name, value] : node.counters)
    rows.push_back({name, str_cat(value)});
  return str_cat(out, "counters\n", format_table(rows, "  "));
}

namespace {

void write_session(JsonWriter& w, const SessionReport& session) {
  const SessionInfo& s = session.info;
  w.open('{').key("handle").value(s.session_handle).key("nodes").value(s.nodes);
  w.key("client_graphs").value(s.client_graphs).key("running_steps").value(s.running_steps);
  w.key("finished_steps").value(s.finished_steps).key("age_us").value(s.age_us);
  w.key("steps").open('[');
  for (const StepInfo& step : session.steps) {
    w.open('{').key("id").value(step.step_id).key("state").value(step.state);
    w.key("signature").value(step.signature).key("duration_us").value(step.duration_us);
    w.key("waiting_for").open('[');
    for (const std::string& task : step.waiting_for)
      w.value(task);
    w.close(']').close('}');
  }
  w.close(']').close('}');
}

} // namespace

void write_report(JsonWriter& w, const NodeReport& report, const Address& address) {
  const NodeStatus& node = report.node;
  w.open('{').key("task").value(node.task).key("address").value(address.to_string());
  w.key("incarnation").value(hex16(node.incarnation));
  w.key("software").value(report.welcome.software).key("uptime_us").value(node.uptime_us);
  w.key("resident_bytes").value(node.resident_bytes).key("devices").open('[');
  for (const DeviceAttributes& device : node.devices) {
    w.open('{').key("name").value(device.name).key("type").value(device.type);
    w.key("memory_limit").value(device.memory_limit).close('}');
  }
  w.close(']').key("containers").open('[');
  for (const ContainerInfo& c : node.containers) {
    w.open('{').key("container").value(c.container).key("resources").value(c.resources);
    w.key("bytes").value(c.bytes).close('}');
  }
  w.close(']').key("peers").open('[');
  for (const PeerInfo& peer : node.peers) {
    w.open('{').key("task").value(peer.task).key("address").value(peer.address);
    w.key("state").value(peer.state());
    if (peer.is_connected)
      w.key("silent_us").value(peer.silent_us);
    if (peer.last_loss)
      w.key("last_loss").value(to_string(*peer.last_loss));
    w.close('}');
  }
  w.close(']').key("tensors").open('[');
  for (const std::string& path : node.paths)
    w.value(path);
  w.close(']').key("sessions").open('[');
  for (const SessionReport& session : report.sessions)
    write_session(w, session);
  w.close(']').key("counters").open('{');
  for (const auto& [name, value] : node.counters)
    w.key(name).value(value);
  w.close('}').close('}');
}

Result<WhyReport> ask_for_why(NodeWatch& watch) {
  WhyReport out;
  out.welcome = watch.welcome();
  TROUPE_ASSIGN(SessionList sessions, watch.sessions());
  for (const SessionInfo& info : sessions.sessions) {
    SessionWhy why{info.session_handle, {}};
    if (auto explained = watch.why(info.session_handle))
      why.explained = *std::move(explained);
    else if (explained.status().code() == Code::aborted)
      continue; // it has ended since
    else        // the other sessions are still worth telling
      why.explained.remarks.push_back(
          str_cat("its steps cannot be explained: ", explained.status().to_string()));
    out.sessions.push_back(std::move(why));
  }
  return out;
}

std::string format_why(const WhyReport& report) {
  std::string out;
  for (const SessionWhy& session : report.sessions) {
    if (session.explained.steps.empty() && session.explained.remarks.empty())
      continue;
    str_append(out, "session ", session.handle, "\n");
    for (const StepExplained& step : session.explained.steps)
      out += format_step(step, "  ");
    for (const std::string& remark : session.explained.remarks)
      str_append(out, "  ", remark, "\n");
  }
  return out.empty() ? str_cat("no step is running in a session of ", report.welcome.task, "\n")
                     : out;
}

void write_why(JsonWriter& w, const WhyReport& report) {
  w.open('{').key("task").value(report.welcome.task).key("sessions").open('[');
  for (const SessionWhy& session : report.sessions) {
    w.open('{').key("handle").value(session.handle).key("steps").open('[');
    for (const StepExplained& step : session.explained.steps) {
      w.open('{').key("id").value(step.step_id).key("signature").value(step.signature);
      w.key("running_us").value(step.running_us).key("cause").value(step.cause);
      w.key("tree").open('[');
      for (const std::string& line : step.tree)
        w.value(line);
      w.close(']').close('}');
    }
    w.close(']').key("remarks").open('[');
    for (const std::string& remark : session.explained.remarks)
      w.value(remark);
    w.close(']').close('}');
  }
  w.close(']').close('}');
}

} // namespace troupe
