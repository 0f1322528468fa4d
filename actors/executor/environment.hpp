// What a step's kernels use on one device, and how they tell the step's owner that they are done.
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

/// What the kernels of a step may still use when the step's owner is gone; lives until the last of
/// them has ended. A step that ended well leaves nothing in it, and the next step gets the same
/// one.
///
/// Its owner is an executor from its birth, or a caller's thread (DirectRunner). That thread may
/// hand it to an executor while kernels run; kernels that finish before wait in `early`.
struct ExecutorEnvironment {
  /// `owner` is an ExecutorActor; none means a caller's thread.
  ExecutorEnvironment(Services services, std::shared_ptr<NodeStates> node_states,
                      caf::actor_addr owner);
  /// Makes it the environment of a step.
  void begin(std::shared_ptr<const Executable> executable, std::uint64_t step_id,
             KernelRendezvous* rendezvous);
  /// For StepHooks::completed.
  static void completed(void* keep_alive, Completion completion);
  /// Moves it from a caller's thread to an executor; kernels that have finished since the thread
  /// last ran the step are in `own`.
  void hand_to(caf::actor_addr executor);
  /// The step is given up.
  void abandon();
  /// Whether the next step may have it: nothing of this one can use it any more.
  bool rests(const std::shared_ptr<ExecutorEnvironment>& self);

  Services services;
  std::shared_ptr<NodeStates> node_states;
  std::shared_ptr<const Executable> executable;
  /// Of this step. Whoever cancels it holds it too: a kernel that runs within the executor's
  /// handler hears of no message. Set before `begin`.
  std::shared_ptr<Cancellation> cancellation;
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

/// Completes kernels that were finished on this thread and runs the step, until neither makes
/// progress. To be called while an OwnThread lives.
StepRun::Progress run_slice(ExecutorEnvironment& environment, StepRun& run, bool may_compute);

} // namespace troupe
