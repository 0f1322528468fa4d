// troupe status TARGET: what a node is at, or every task of a config file.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>

#include <unistd.h>

#include "core/base/json.hpp"
#include "core/base/strings.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/node_report.hpp"
#include "tools/troupe/node_targets.hpp"
#include "tools/troupe/stop_signals.hpp"

namespace troupe {
namespace {

class StatusCommand final : public Command {
public:
  std::string summary() const override {
    return "Shows a node or all tasks: devices, variables, peers, sessions, steps, counters";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe status caf://127.0.0.1:7271", "for people"},
            {"troupe status --json caf://127.0.0.1:7271", "for a program"},
            {"troupe status --config=cluster.conf", "every task; 1 if one does not answer"},
            {"troupe status --watch caf://127.0.0.1:7271", "again every two seconds, until Ctrl-C"},
            {"troupe status --steps caf://127.0.0.1:7271", "why its steps do not end"}};
  }
  void declare(Options& options) override {
    targets_.declare(options);
    options.flag("--json", json_, "print JSON; with --watch a line for each look");
    options.flag("--steps", steps_, "what each running step waits for, down to the cause");
    options.flag("--watch", watch_, "again every two seconds");
  }

  int run() override {
    auto budget = targets_.timeout();
    if (!budget)
      return called_wrongly(budget.status().message());
    bool in_file = false;
    auto nodes = targets_.read(in_file);
    if (!nodes)
      return in_file ? failed_in_file(nodes.status()) : called_wrongly(nodes.status().message());
    std::vector<Line> lines(nodes->size());
    if (!watch_)
      return look(*nodes, lines, *budget);
    StopSignals signals;
    std::mutex lock;
    std::condition_variable changed;
    bool stopped = false;
    signals.on_stop([&](const std::string&) {
      std::scoped_lock guard(lock);
      stopped = true;
      changed.notify_all();
    });
    bool is_screen = isatty(STDOUT_FILENO) != 0 && !json_;
    std::unique_lock guard(lock);
    while (!stopped && std::ferror(stdout) == 0) {
      guard.unlock();
      std::string text;
      look(*nodes, lines, *budget, &text);
      print(str_cat(is_screen ? "\033[H\033[J" : "", text));
      std::fflush(stdout);
      guard.lock();
      changed.wait_for(guard, std::chrono::seconds(2), [&] { return stopped; });
    }
    guard.unlock();
    signals.forget();
    return exit_ok;
  }

private:
  /// To one node, kept between looks.
  struct Line {
    std::optional<NodeWatch> watch;
  };

  // What one node tells, as text or JSON; its status if it does not answer.
  Status ask(const NodeTarget& node, Line& line, std::chrono::milliseconds budget,
             std::string& out) const {
    if (!line.watch) {
      auto dialled = NodeWatch::dial(node.address, budget);
      TROUPE_TRY(dialled.status());
      line.watch.emplace(*std::move(dialled));
    } else {
      line.watch->limit(budget);
    }
    JsonWriter json;
    if (steps_) {
      auto why = ask_for_why(*line.watch);
      if (!why)
        line.watch.reset();
      TROUPE_TRY(why.status());
      write_why(json, *why);
      out = json_ ? json.text() : format_why(*why);
      return {};
    }
    auto report = ask_for_report(*line.watch);
    if (!report)
      line.watch.reset();
    TROUPE_TRY(report.status());
    write_report(json, *report, node.address);
    out = json_ ? json.text() : format_report(*report, node.address);
    return {};
  }

  // Prints, or writes to `to`. Failed if a node does not answer.
  int look(const std::vector<NodeTarget>& nodes, std::vector<Line>& lines,
           std::chrono::milliseconds budget, std::string* to = nullptr) const {
    std::vector<std::string> texts(nodes.size());
    std::vector<Status> failures(nodes.size());
    for_each_node(nodes.size(),
                  [&](std::size_t i) { failures[i] = ask(nodes[i], lines[i], budget, texts[i]); });
    if (!targets_.has_config() && !failures[0].ok() && !to)
      return failed(failures[0]);
    bool all_answered = true;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (failures[i].ok())
        continue;
      all_answered = false;
      if (json_) {
        JsonWriter json;
        json.open('{').key("task").value(nodes[i].name);
        json.key("address").value(nodes[i].address.to_string());
        json.key("error").value(failures[i].to_string()).close('}');
        texts[i] = json.text();
      } else {
        texts[i] = str_cat(nodes[i].name, " at ", nodes[i].address, ": ", failures[i], "\n");
      }
    }
    std::string text = !json_ ? str_join(texts, "\n")
                       : targets_.has_config()
                           ? str_cat("{\"tasks\":[", str_join(texts, ","), "]}\n")
                           : str_cat(texts[0], "\n");
    if (to)
      *to = std::move(text);
    else
      print(text);
    return all_answered ? exit_ok : exit_failed;
  }

  NodeTargets targets_;
  bool json_ = false, steps_ = false, watch_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_status() {
  return std::make_unique<StatusCommand>();
}

} // namespace troupe
