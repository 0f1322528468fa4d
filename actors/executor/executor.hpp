// The EXECUTOR actor: runs one (step, device partition) at a time as a StepRun. Protocol:
// actors/protocol/executor.hpp.
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

/// What kernels of a step may still use when the actor is gone; lives until the last of them has
/// ended. Of a step that ended well nothing is left, and the next one gets the same.
Counter& executors_alive();
struct ExecutorEnvironment {
  ExecutorEnvironment(Services services, std::shared_ptr<NodeStates> node_states,
                      caf::actor_addr owner)
      : services(std::move(services)), node_states(std::move(node_states)),
        owner(std::move(owner)) {}
  Services services;
  std::shared_ptr<NodeStates> node_states;
  caf::actor_addr owner; ///< the ExecutorActor
  std::shared_ptr<const Executable> executable;
  Cancellation cancellation;
  std::optional<KernelRendezvous> rendezvous;
  ResourceManager step_resources;
  StepEnvironment step;
  std::atomic<std::thread::id> thread{}; ///< on which the actor's handler runs
  std::vector<Completion> own;           ///< finished on that thread, within the handler
  std::optional<Counted> counted;        ///< while a step has it
};

struct ExecutorState {
  static constexpr const char* name = "executor";
  std::shared_ptr<ExecutorEnvironment> environment; ///< null before the first step
  std::optional<StepRun> run;
  GraphManagerActor manager; ///< waits for the end of `run`
  std::size_t index = 0;     ///< by which it knows the part
  bool trace = false;
  bool awaits_turn = false; ///< a NextSlice is on its way
  ExecutorState() = default;
  ~ExecutorState();
};

/// `node_states` are the session's, and keep the devices of its parts.
ExecutorActor::behavior_type executor(ExecutorActor::stateful_pointer<ExecutorState> self,
                                      Services services, std::shared_ptr<NodeStates> node_states);

} // namespace troupe
