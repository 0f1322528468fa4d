// The GRAPH MANAGER actor: compiled graphs by handle, executors of running steps. Protocol:
// actors/protocol/graph_manager.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/drain.hpp"
#include "actors/family/services.hpp"
#include "actors/family/step_table.hpp"
#include "actors/graph_manager/compiled_graph.hpp"
#include "actors/graph_manager/part_outcome.hpp"
#include "actors/protocol/local/worker.hpp"
#include "kernels/framework/cancellation.hpp"

namespace troupe {

class Collectives;

/// An executor with the Cancellation of its part, which reaches a kernel that holds the executor's
/// thread.
struct PartRunner {
  ExecutorActor executor;
  std::shared_ptr<Cancellation> cancellation;
};

/// A step's executors on their way to one answer.
struct RunningGraph {
  std::shared_ptr<const CompiledGraph> graph;
  std::vector<PartRunner> runners; ///< by executable; null once its part has ended
  GraphRun result;
  PartOutcome outcome;
  std::int64_t asked_us = 0; ///< of a traced step
  caf::strong_actor_ptr receiver;
  caf::typed_response_promise<GraphRun> promise; ///< answered when the step ends, in every case

  void clear();
};

struct GraphManagerState {
  static constexpr const char* name = "graph-manager";
  std::string task; ///< for people
  std::shared_ptr<SessionEnvironment> environment;
  std::map<std::string, std::shared_ptr<const CompiledGraph>> graphs;
  std::map<std::uint64_t, caf::typed_response_promise<GraphRegistered>> compiling;
  StepTable<RunningGraph> steps;
  std::unordered_map<caf::actor_id, std::uint64_t> step_of; ///< by executor that runs a part
  std::vector<PartRunner> resting;                          ///< watched like those that run
  std::uint64_t next_handle = 1;
  Status refusal;   ///< of new steps: the node is about to end
  IdleWaiters idle; ///< of the steps

  ~GraphManagerState();
};

GraphManagerActor::behavior_type
graph_manager(GraphManagerActor::stateful_pointer<GraphManagerState> self, Services services,
              bool isolate, TransportActor transport, std::shared_ptr<Collectives> collectives);

} // namespace troupe
