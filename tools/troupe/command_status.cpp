// troupe status TARGET: what a node is at.
#include "actors/step/step_text.hpp"
#include "core/base/json.hpp"
#include "core/base/strings.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/node_watch.hpp"
#include "tools/troupe/table.hpp"
#include "tools/troupe/target.hpp"

namespace troupe {
namespace {

struct SessionReport {
  SessionInfo info;
  std::vector<StepInfo> steps;
};
struct Report {
  Welcome welcome;
  NodeStatus node;
  std::vector<SessionReport> sessions;
};

Result<Report> ask_node(NodeWatch& watch) {
  Report out;
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

struct SessionWhy {
  std::string handle;
  StepsExplained explained;
};
struct WhyReport {
  Welcome welcome;
  std::vector<SessionWhy> sessions;
};

Result<WhyReport> ask_why(NodeWatch& watch) {
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

class StatusCommand final : public Command {
public:
  std::string summary() const override {
    return "Shows a node: devices, peers, sessions, steps, counters";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe status caf://127.0.0.1:7271", "for people"},
            {"troupe status --json caf://127.0.0.1:7271", "for a program"},
            {"troupe status --steps caf://127.0.0.1:7271", "why its steps do not end"}};
  }
  void declare(Options& options) override {
    options.text("TARGET", target_, node_target_help, true);
    options.text("--timeout", timeout_, "the longest wait for an answer; 5s without it");
    options.flag("--json", json_, "print JSON");
    options.flag("--steps", steps_, "what each running step waits for, down to the cause");
  }

  int run() override {
    auto address = parse_node_target(target_);
    if (!address)
      return called_wrongly(address.status().message());
    auto budget = parse_duration(timeout_);
    if (!budget)
      return called_wrongly(
          str_cat("--timeout '", timeout_, "' is no duration; write 500ms, 10s or 2min"));
    auto watch = NodeWatch::dial(*address, *budget);
    if (!watch)
      return failed(watch.status());
    if (steps_) {
      auto why = ask_why(*watch);
      if (!why)
        return failed(why.status());
      json_ ? print_why_json(*why) : print_why(*why);
      return exit_ok;
    }
    auto report = ask_node(*watch);
    if (!report)
      return failed(report.status());
    json_ ? print_json(*report) : print_text(*report, *address);
    return exit_ok;
  }

private:
  static void print_why(const WhyReport& report) {
    bool has_any = false;
    for (const SessionWhy& session : report.sessions) {
      if (session.explained.steps.empty() && session.explained.remarks.empty())
        continue;
      has_any = true;
      print(str_cat("session ", session.handle, "\n"));
      for (const StepExplained& step : session.explained.steps)
        print(format_step(step, "  "));
      for (const std::string& remark : session.explained.remarks)
        print(str_cat("  ", remark, "\n"));
    }
    if (!has_any)
      print(str_cat("no step is running in a session of ", report.welcome.task, "\n"));
  }

  static void print_why_json(const WhyReport& report) {
    JsonWriter w;
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
    print(w.close(']').close('}').text() + "\n");
  }

  static void print_text(const Report& report, const Address& address) {
    const NodeStatus& node = report.node;
    print(str_cat(node.task, " at ", address, ": ", report.welcome.software, ", up ",
                  format_micros(node.uptime_us), ", ", node.resident_bytes >> 20,
                  " MiB resident\n"));
    std::vector<std::vector<std::string>> rows;
    for (const DeviceAttributes& device : node.devices)
      rows.push_back({device.name,
                      device.memory_limit > 0 ? str_cat(device.memory_limit >> 20, " MiB") : "",
                      device.description});
    print(str_cat("devices\n", format_table(rows, "  ")));
    print(node.peers.empty() ? "peers: none yet\n"
                             : str_cat("peers\n  ", str_join(node.peers, "\n  "), "\n"));
    if (!node.paths.empty())
      print(str_cat("tensors\n  ", str_join(node.paths, "\n  "), "\n"));
    print(report.sessions.empty() ? "sessions: none\n" : "sessions\n");
    for (const SessionReport& session : report.sessions) {
      const SessionInfo& s = session.info;
      print(str_cat("  ", s.session_handle, ": ", s.nodes, " nodes, ", s.client_graphs,
                    " client graphs, ", s.running_steps, " steps running, ", s.finished_steps,
                    " finished, ", format_micros(s.age_us), " old\n"));
      rows.clear();
      for (const StepInfo& step : session.steps)
        rows.push_back({str_cat("step ", step.step_id), step.state, format_micros(step.duration_us),
                        step.signature,
                        step.waiting_for.empty()
                            ? ""
                            : str_cat("waits for ", str_join(step.waiting_for, ", "))});
      print(format_table(rows, "    "));
    }
    rows.clear();
    for (const auto& [name, value] : node.counters)
      rows.push_back({name, str_cat(value)});
    print(str_cat("counters\n", format_table(rows, "  ")));
  }

  static void print_json(const Report& report) {
    const NodeStatus& node = report.node;
    JsonWriter w;
    w.open('{')
        .key("task")
        .value(node.task)
        .key("incarnation")
        .value(hex16(node.incarnation))
        .key("software")
        .value(report.welcome.software);
    w.key("uptime_us")
        .value(node.uptime_us)
        .key("resident_bytes")
        .value(node.resident_bytes)
        .key("devices")
        .open('[');
    for (const DeviceAttributes& device : node.devices)
      w.open('{')
          .key("name")
          .value(device.name)
          .key("type")
          .value(device.type)
          .key("memory_limit")
          .value(device.memory_limit)
          .close('}');
    w.close(']').key("peers").open('[');
    for (const std::string& peer : node.peers)
      w.value(peer);
    w.close(']').key("tensors").open('[');
    for (const std::string& path : node.paths)
      w.value(path);
    w.close(']').key("sessions").open('[');
    for (const SessionReport& session : report.sessions) {
      const SessionInfo& s = session.info;
      w.open('{')
          .key("handle")
          .value(s.session_handle)
          .key("nodes")
          .value(s.nodes)
          .key("client_graphs")
          .value(s.client_graphs);
      w.key("running_steps")
          .value(s.running_steps)
          .key("finished_steps")
          .value(s.finished_steps)
          .key("age_us")
          .value(s.age_us)
          .key("steps")
          .open('[');
      for (const StepInfo& step : session.steps) {
        w.open('{')
            .key("id")
            .value(step.step_id)
            .key("state")
            .value(step.state)
            .key("signature")
            .value(step.signature);
        w.key("duration_us").value(step.duration_us).key("waiting_for").open('[');
        for (const std::string& task : step.waiting_for)
          w.value(task);
        w.close(']').close('}');
      }
      w.close(']').close('}');
    }
    w.close(']').key("counters").open('{');
    for (const auto& [name, value] : node.counters)
      w.key(name).value(value);
    print(w.close('}').close('}').text() + "\n");
  }

  std::string target_, timeout_ = "5s";
  bool json_ = false, steps_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_status() {
  return std::make_unique<StatusCommand>();
}

} // namespace troupe
