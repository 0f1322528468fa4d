// The GRAPH MANAGER actor: compiled graphs by handle, executors of running steps. Protocol:
// actors/protocol/worker.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/drain.hpp"
#include "actors/family/services.hpp"
#include "actors/graph_manager/compiled_graph.hpp"
#include "actors/protocol/worker.hpp"

namespace troupe {

struct GraphManagerState {
  static constexpr const char* name = "graph-manager";
  std::string task; ///< for people
  std::shared_ptr<SessionEnvironment> environment;
  std::map<std::string, std::shared_ptr<const CompiledGraph>> graphs;
  std::map<std::uint64_t, caf::typed_response_promise<GraphRegistered>> compiling;
  std::map<std::uint64_t, std::vector<ExecutorActor>> steps; ///< executors by step
  std::map<std::uint64_t, caf::typed_response_promise<GraphRun>>
      unanswered; ///< of those steps; answered at our end, whatever it is
  std::uint64_t next_handle = 1;
  IdleWaiters idle; ///< of the steps

  ~GraphManagerState();
};

GraphManagerActor::behavior_type
graph_manager(GraphManagerActor::stateful_pointer<GraphManagerState> self, Services services,
              std::string session_handle, bool isolate, TransportActor transport);

} // namespace troupe
