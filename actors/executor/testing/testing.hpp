// What the executor's tests and benchmark share: a small op library, a rendezvous in memory, and a
// rig that runs steps.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "actors/executor/step_run.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe::testing {

/// Values and waiters in memory. Any thread.
class LocalRendezvous final : public Rendezvous {
public:
  Status send(const std::string& key, EdgeValue value) override;
  void recv(const std::string& key, std::function<void(Result<EdgeValue>)> done) override;
  BufferRef memory_of(const std::string& task, std::uint64_t bytes) override;
  /// The memory that each task gave, by the task that was asked.
  std::map<std::string, std::vector<BufferRef>> memory;
  bool gives_memory = true;
  /// Answers all who wait, and all who come, with `why`.
  void abort(const Status& why);
  std::size_t num_waiting();

private:
  using Done = std::function<void(Result<EdgeValue>)>;
  std::mutex lock_;
  Status aborted_;
  std::map<std::string, std::deque<EdgeValue>> values_;
  std::map<std::string, std::deque<Done>> waiters_;
};

/// TensorFlow's control flow, _Arg, _Retval, Const, NoOp, _Send and _Recv; the elementwise ops; and
///   Fail(x)          INVALID_ARGUMENT "told to fail" (attr message)
///   Exhaust(x)       RESOURCE_EXHAUSTED "no memory"
///   Throw()          throws bad_alloc
///   Unset(), WrongType()   break the rules for outputs
///   Costly(x)        identity, flagged expensive
///   Meet(x)          identity, expensive: returns once two of its kind run at the same time
///   Elsewhere(x)     identity, asynchronous: done on a compute thread
///   AtOnce(x)        identity, asynchronous: done before it returns
///   Fork, Choose, Join, Hand, Begin, Again, Leave, GoOn   control flow by other names
///   Variable(), Assign(ref, value), Accumulate(ref, value)   reference edges
const OpLibrary& library();

/// One device and whatever else a step needs.
class Rig {
public:
  explicit Rig(int threads = 2);
  ~Rig();

  Graph parse(std::string_view text);
  std::shared_ptr<const Executable> compile(std::string_view text);
  StepEnvironment& environment() { return *environment_; }
  /// A new step: new cancellation and rendezvous.
  std::unique_ptr<StepRun> start(std::shared_ptr<const Executable> executable,
                                 std::vector<Tensor> args = {}, bool trace = false);
  /// Runs and completes until nothing is ready and no completion has come; true when finished.
  bool advance(StepRun& run, Duration slice = Duration::max());
  /// Waits for completions too, until finished.
  Status finish(StepRun& run);

  struct Outcome {
    Status status;
    std::vector<Tensor> retvals;
    StepCounters counters;
  };
  Outcome run(const std::shared_ptr<const Executable>& executable, std::vector<Tensor> args = {});
  Outcome run(std::string_view graph, std::vector<Tensor> args = {}) {
    return run(compile(graph), std::move(args));
  }

  /// What the device's allocator has given and not got back.
  std::int64_t bytes_in_use() const;

  DeviceHost host;
  /// When all else of the rig is gone, checks that no step, however it ended, has kept memory.
  /// Tensors that a test holds must not outlive the rig.
  struct Account {
    const Rig& rig;
    ~Account();
  } account{*this};
  std::unique_ptr<Device> device;
  NodeStates node_states;
  ResourceManager step_resources;
  std::shared_ptr<Cancellation> cancellation;
  std::shared_ptr<LocalRendezvous> rendezvous;
  std::size_t completions_seen = 0;
  bool report_allocations = false; ///< of steps that start from now on
  bool wants_turn = false;         ///< what steps are told before an expensive kernel

private:
  bool drain(StepRun& run, bool wait);

  // Shared with the hooks, which threads may still be leaving when the rig has gone on.
  struct Mailbox {
    std::mutex lock;
    std::condition_variable arrived;
    std::vector<Completion> completions;
    const bool* wants_turn = nullptr; // the rig's, asked by its own thread alone
  };
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::shared_ptr<StepEnvironment> environment_ =
      std::make_shared<StepEnvironment>(); ///< of the last step; one that was given up has its own
};

/// The one value of a step that has to have ended well.
std::int64_t only(const Rig::Outcome& outcome);

inline Tensor i64(std::int64_t x) {
  return Tensor::scalar(x);
}

} // namespace troupe::testing
