// From a session's full graph to what each task runs of it for one signature. Plain; done on a
// compute thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/family/services.hpp"
#include "actors/protocol/master.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/prune.hpp"

namespace troupe {

/// A worker that a session may use.
struct SessionWorker {
  std::string task;
  caf::strong_actor_ptr worker;  ///< WorkerActor
  caf::strong_actor_ptr session; ///< WorkerSessionActor
  std::vector<DeviceAttributes> devices;
};

/// One task's part, not yet registered.
struct ClientPart {
  std::string task;
  std::string graph_def;
  std::vector<int> feed_of;         ///< by the part's _Arg index: index into the signature's feeds
  std::vector<int> fetch_of;        ///< by the part's _Retval index
  std::vector<std::string> retvals; ///< by the part's _Retval index: the node's name
};

struct ClientGraphParts {
  std::shared_ptr<const Graph> placed; ///< the full graph with devices, for the next signature
  std::vector<ClientPart> parts;
  std::vector<DType> feed_types;
  std::vector<PartialShape> feed_shapes; ///< as their placeholders say
};

struct ClientGraphRequest {
  std::shared_ptr<const Graph> full;   ///< the session's graph
  std::shared_ptr<const Graph> placed; ///< of an earlier signature of the same graph; may be null
  std::map<std::string, std::string>
      assigned; ///< devices that stateful nodes have already, by node
  Signature signature;
  std::vector<DeviceAttributes> devices;
  SessionSettings settings;
};

/// Places the full graph unless that was done, prunes to the signature, optimises, cuts by task.
/// Errors name the node.
Result<ClientGraphParts> build_client_graph(const ClientGraphRequest& request,
                                            const NodeServices& services);

/// Only the first step of it: every node of the result has an assigned device.
Result<std::shared_ptr<const Graph>> place_full_graph(const ClientGraphRequest& request,
                                                      const NodeServices& services);

} // namespace troupe
