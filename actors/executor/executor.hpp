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
#include "actors/graph_manager/compiled_graph.hpp"
#include "actors/protocol/worker.hpp"

namespace troupe {

struct ExecutorSetup {
  Services services;
  std::shared_ptr<SessionEnvironment> environment;
  std::shared_ptr<const Executable> executable;
  std::uint64_t step_id = 0;
  std::shared_ptr<std::vector<Tensor>>
      args; ///< of the whole task, by _Arg index; shared with the other devices' executors
  RendezvousActor rendezvous; ///< null: no cut edges
  bool trace = false;
};

struct ExecutorState {
  static constexpr const char* name = "executor";
  ExecutorSetup setup;
  Cancellation cancellation;
  std::optional<KernelRendezvous> rendezvous;
  std::optional<ResourceManager> resources;
  std::unique_ptr<StepRun> run;
  caf::typed_response_promise<ExecutorResult> promise;
  ~ExecutorState();
};

ExecutorActor::behavior_type executor(ExecutorActor::stateful_pointer<ExecutorState> self,
                                      ExecutorSetup setup);

} // namespace troupe
