// What a step's kernels use on one device, and how they tell whoever runs the step that they are done.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "actors/executor/kernel_rendezvous.hpp"
#include "actors/executor/step_run.hpp"
#include "actors/family/services.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

/// Executors at work.
Counter& executors_alive();

/// What kernels of a step may still use when whoever ran it is gone; lives until the last of them
/// has ended. Of a step that ended well nothing is left, and the next one gets the same.
///
/// It belongs to an executor from its birth, or to a caller's thread (DirectRunner), which may hand
/// it to an executor while kernels run: what they have finished until then waits in `early`.
struct ExecutorEnvironment {
  /// `owner` is an ExecutorActor, or none: a caller's thread has it.
  ExecutorEnvironment(Services services, std::shared_ptr<NodeStates> node_states,
                      caf::actor_addr owner);
  /// Makes it the environment of a step.
  void begin(std::shared_ptr<const Executable> executable, std::uint64_t step_id,
             KernelRendezvous* rendezvous);
  /// For StepHooks::completed.
  static void completed(void* keep_alive, Completion completion);
  /// From a caller's thread to an executor; what has been finished since it last ran is in `own`.
  void hand_to(caf::actor_addr executor);
  /// Nobody goes on with the step.
  void abandon();
  /// Whether the next step may have it: nothing of this one can use it any more.
  bool rests(const std::shared_ptr<ExecutorEnvironment>& self);

  Services services;
  std::shared_ptr<NodeStates> node_states;
  std::shared_ptr<const Executable> executable;
  Cancellation cancellation;
  std::optional<KernelRendezvous> rendezvous;
  ResourceManager step_resources;
  StepEnvironment step;
  std::atomic<std::thread::id> thread{}; ///< that runs the step just now
  std::vector<Completion> own;           ///< finished on that thread
  std::optional<Counted> counted;        ///< while an executor's step has it

private:
  enum class Owner : int { caller, executor, nobody };
  std::atomic<Owner> owner_;
  caf::actor_addr executor_; ///< set before `owner_` says so
  std::mutex lock_;          ///< orders a change of owners and what comes meanwhile
  std::vector<Completion> early_;
};

/// While it lives, this thread runs the step.
class OwnThread {
public:
  explicit OwnThread(ExecutorEnvironment& environment);
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

private:
  ExecutorEnvironment& environment_;
};

/// Completes what was finished on this thread and runs the step, until neither leads on. Between the
/// two ends of an OwnThread.
StepRun::Progress run_slice(ExecutorEnvironment& environment, StepRun& run, bool may_compute);

} // namespace troupe
