// Workspace: what a prompt is connected to and what it holds: a session, the graph loaded so far,
// feeds, steps in the background, the last trace.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/session.hpp"
#include "graph/ir/graph.hpp"
#include "tools/troupe/node_watch.hpp"

namespace troupe {

/// What `run` was told.
struct StepCommand {
  std::vector<std::string> fetches;
  std::vector<std::string> targets;
  std::int64_t timeout_ms = 0; ///< 0: none
  bool trace = false;
  bool in_background = false;
};

struct StepAnswer {
  Result<std::vector<Tensor>> values;
  StepStats trace; ///< if it was asked for
  std::int64_t duration_us = 0;
};

/// A step that runs while the prompt goes on.
struct BackgroundStep {
  int number = 0; ///< 1, 2 … in this prompt
  StepCommand request;
  PendingRun pending; ///< asked to end by `cancel`
  std::future<StepAnswer> outcome;
};

/// A step that runs in pieces.
struct PartialStepAtPrompt {
  std::string handle;             ///< empty: none is set up
  std::vector<std::string> unfed; ///< as they were written
};

/// For the prompt's one thread. Closing a connection cancels its steps.
class Workspace {
public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;

  /// Opens a session at the target and a line to its node; what was open before is closed first,
  /// its graph, feeds and trace are forgotten. Fails as Session::open; then nothing is open, but
  /// for a target of another form everything stays.
  Status connect(const std::string& target);
  bool is_connected() const { return session_.has_value(); }
  const std::string& target() const { return target_; } ///< "local" or "caf://…"
  /// FAILED_PRECONDITION "not connected …" before connect().
  Result<Session*> session();
  Result<NodeWatch*> watch();

  /// Adds the file's nodes to the session's graph; returns how many it has gained.
  Result<std::size_t> load(const std::string& path);
  const Graph& graph() const { return *graph_; }

  std::map<std::string, Tensor>& feeds() { return feeds_; }
  const std::map<std::string, Tensor>& feeds() const { return feeds_; }

  /// Starts a step with the present feeds.
  Result<BackgroundStep> start(StepCommand request);
  /// Waits for its end. Nothing if `interrupted` becomes true first. Calls `when_long`, once, if
  /// people begin to wonder and could interrupt the wait.
  std::optional<StepAnswer> wait(BackgroundStep& step, const std::atomic<bool>& interrupted,
                                 const std::function<void()>& when_long = {});
  /// The prompt does not wait for it.
  int put_in_background(BackgroundStep step);
  std::size_t background_steps() const { return background_.size(); }
  const std::list<BackgroundStep>& background() const { return background_; }
  /// One that has ended, or the oldest once it has (`block`), unless `interrupted` becomes true.
  std::optional<std::pair<BackgroundStep, StepAnswer>>
  take_finished(bool block, const std::atomic<bool>& interrupted);

  /// The one that was set up last.
  PartialStepAtPrompt& partial_step() { return partial_step_; }

  void keep_trace(StepStats trace) { trace_ = std::move(trace); }
  const std::optional<StepStats>& last_trace() const { return trace_; }

  /// Set by the interrupt key while a command runs; commands that can wait long look at it.
  std::atomic<bool>& interrupted() { return interrupted_; }
  /// Somebody sits at the keys.
  void set_interruptible(bool value) { is_interruptible_ = value; }
  /// An interrupt ends the script, and with it the step that runs; else the step stays in the
  /// background.
  bool ends_on_interrupt() const { return ends_on_interrupt_; }
  void set_ends_on_interrupt(bool value) { ends_on_interrupt_ = value; }

private:
  void disconnect();

  std::string target_;
  std::optional<Session> session_;
  std::optional<NodeWatch> watch_;
  std::unique_ptr<Graph> graph_; // what this prompt has loaded
  std::map<std::string, Tensor> feeds_;
  std::list<BackgroundStep> background_;
  int next_step_ = 1;
  PartialStepAtPrompt partial_step_;
  std::optional<StepStats> trace_;
  std::atomic<bool> interrupted_ = false;
  bool is_interruptible_ = false;
  bool ends_on_interrupt_ = false;
};

} // namespace troupe
