// Supervisor: the tasks of one host as child processes: started, watched, restarted within a
// budget, ended in order.
//
//   starting ──all ready──▶ running ──signal, or nobody left──▶ ending ──all ended──▶ done
//      └── a task dies, a signal, or the time is up ──────────────▲
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "net/cluster/node_config.hpp"
#include "tools/troupe/child_process.hpp"
#include "tools/troupe/restart_budget.hpp"

namespace troupe {

/// Made before any other thread that takes signals; takes over SIGCHLD and the signals of
/// stop_signal_set(). Lines of its tasks are passed on without waiting for whoever reads ours, so
/// an unread pipe keeps neither them nor us from ending.
class Supervisor {
public:
  Supervisor(const ClusterConfig& config, std::vector<NodeConfig> tasks);
  ~Supervisor();
  /// Returns the exit code, when no child is left.
  int run();

private:
  struct Task {
    NodeConfig config;
    std::string prefix; ///< "worker/1 | "
    RestartBudget budget;
    std::unique_ptr<ChildProcess> child;
    bool is_ready = false;
  };
  enum class Phase { starting, running, ending };

  bool start(Task& task);
  void wait_for_events();
  void handle_signals();
  void read(Task& task);
  void handle_end(Task& task);
  void announce_when_ready();
  void end_all(const std::string& why);
  void check_deadline();
  bool anyone_running() const;

  std::string file_;
  std::vector<Task> tasks_;
  Phase phase_ = Phase::starting;
  std::chrono::milliseconds end_budget_;           ///< for all tasks to end in order
  std::chrono::steady_clock::time_point deadline_; ///< of starting and of ending
  int signals_ = -1;                               ///< a signalfd
  int exit_code_ = 0;
  bool was_interrupted_ = false;
};

} // namespace troupe
