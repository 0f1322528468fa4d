// Workload: what a client does while faults happen. One session at a time, opened again when it
// breaks; steps of several signatures, some at the same time; each call is written down with its
// answer.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/sim/fault_cluster.hpp"

namespace troupe::testing {

/// One request of the client and how it was answered.
struct Call {
  std::string what; ///< "bump"
  SimTime asked{0};
  SimTime answered{0};
  int answers = 0;
  Status status; ///< of the last answer; INTERNAL when a good answer held wrong values
};

class Workload {
public:
  /// Uses the cluster's random numbers.
  explicit Workload(FaultCluster& cluster);
  ~Workload();

  /// Goes through `actions` random actions; opens sessions as it needs them.
  void start(int actions);
  /// Goes through every kind of step once, on a session of its own; each must succeed.
  void start_check();
  /// Opens a session in place of the one that is there.
  void start_session();
  /// Takes one step on the session that is there, whatever became of it.
  void start_step();
  /// Closes what is open, and lets the session actors go.
  void finish();
  /// Nothing is asked for any more and every call is answered.
  bool is_done() const { return script_.empty() && open_calls_ == 0 && !waiting_; }

  const std::vector<Call>& calls() const { return calls_; }
  /// The counter as the last check read it; negative if it was not read.
  std::int64_t counter_value() const { return counter_value_; }
  /// Updates of the counter that the present ps must have seen, and that it may have seen.
  std::int64_t least() const;
  std::int64_t most() const;

private:
  enum class Action {
    open,
    init,
    bump,
    bumps,
    exchange,
    loop,
    big,
    reduce,
    mixed,
    callable,
    extend,
    explain,
    cancel,
    devices,
    deadline,
    read,
    close,
    abandon
  };
  struct History {
    bool initialised = false;
    int init_attempts = 0;
    std::int64_t attempted = 0, acknowledged = 0;
  };

  void next();
  void perform(Action action);
  /// No budget by default: a session that never answers must fail the schedule, not this request.
  template <class Answer, class Handle, class Message>
  void call(std::string what, const Handle& peer, Message message,
            std::function<Status(Answer&)> check, caf::duration budget = caf::infinite);
  void answered(std::size_t index, Status status);
  void later(SimTime pause);
  void open();
  void drop_session();
  void step(std::string what, RunStep run, std::function<Status(RunStepResult&)> check);
  void bump();
  void exchange(float x);
  void loop(std::int64_t rounds);
  void big(std::size_t elements);
  void reduce(std::size_t elements);
  void callable();
  void node_status(const std::string& task);
  History& history();

  FaultCluster& cluster_;
  caf::actor driver_;
  std::map<std::uint64_t, std::function<void(caf::event_based_actor*)>> requests_;
  std::vector<Action> script_; ///< last first
  std::vector<Call> calls_;
  std::size_t open_calls_ = 0;
  bool waiting_ = false; ///< for time to pass
  int failed_opens_ = 0;
  bool checking_ = false;
  SessionActor session_;
  bool broken_ = false; ///< the session has answered with a loss
  bool extended_ = false;
  std::map<std::uint64_t, History> histories_; ///< by incarnation of the ps
  std::int64_t counter_value_ = -1;
};

} // namespace troupe::testing
