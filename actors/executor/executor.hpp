// The EXECUTOR actor: runs one (step, device partition) as a StepRun. Protocol:
// actors/protocol/worker.hpp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "actors/executor/kernel_rendezvous.hpp"
#include "actors/executor/step_run.hpp"
#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

class SessionEnvironment;

struct ExecutorSetup {
  Services services;
  std::shared_ptr<SessionEnvironment> environment;
  NodeStates* node_states = nullptr; ///< part of the environment
  std::shared_ptr<const Executable> executable;
  std::uint64_t step_id = 0;
  std::shared_ptr<std::vector<Tensor>>
      args; ///< of the whole task, by _Arg index; shared with the other devices' executors
  RendezvousActor rendezvous; ///< null: no cut edges
  bool trace = false;
};

/// What kernels of the step may still use when the actor is gone; lives until the last of them has
/// ended.
Counter& executors_alive();
struct ExecutorEnvironment {
  explicit ExecutorEnvironment(ExecutorSetup s) : setup(std::move(s)) {}
  ExecutorSetup setup;
  Cancellation cancellation;
  std::optional<KernelRendezvous> rendezvous;
  ResourceManager step_resources;
  StepEnvironment step;
  std::atomic<std::thread::id> thread{}; ///< on which the actor's handler runs
  std::vector<Completion> own;           ///< finished on that thread, within the handler
  Counted counted{executors_alive()};
};

struct ExecutorState {
  static constexpr const char* name = "executor";
  std::shared_ptr<ExecutorEnvironment> environment;
  std::unique_ptr<StepRun> run;
  caf::typed_response_promise<ExecutorResult> promise;
  ExecutorState() = default;
  ~ExecutorState();
};

ExecutorActor::behavior_type executor(ExecutorActor::stateful_pointer<ExecutorState> self,
                                      ExecutorSetup setup);

} // namespace troupe
