// The EXECUTOR actor: runs one (step, device partition) at a time as a StepRun. Protocol:
// actors/protocol/executor.hpp.
#pragma once

#include <memory>
#include <optional>

#include "actors/executor/environment.hpp"
#include "actors/executor/step_run.hpp"
#include "actors/family/children.hpp"
#include "actors/family/services.hpp"

namespace troupe {

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
