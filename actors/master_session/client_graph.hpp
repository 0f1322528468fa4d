// From a session's full graph to what each task runs of it for one signature. Plain; done on a
// compute thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/family/services.hpp"
#include "actors/master_session/session_record.hpp"
#include "actors/protocol/local/master.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/prune.hpp"

namespace troupe {

/// A worker that a session may use.
struct SessionWorker {
  std::string task;
  WorkerActor worker;
  WorkerSessionActor session;
  std::vector<DeviceAttributes> devices;
  Status lost; ///< not OK: it holds nothing of the session, and there is no worker session
  bool is_foreign = false; ///< the task is TensorFlow's
};

/// One task's part, not yet registered.
struct ClientPart {
  std::string task;
  std::shared_ptr<Graph> graph;     ///< of a task in this process, else null
  std::string graph_def;            ///< of the others
  std::vector<int> feed_of;         ///< by the part's _Arg index: index into the signature's feeds
  std::vector<int> fetch_of;        ///< by the part's _Retval index
  std::vector<std::string> retvals; ///< by the part's _Retval index: the node's name
  bool is_final = false; ///< optimised as it will be run: all of the graph, on one device
};

/// The devices of the nodes of a graph that was placed.
struct PlacedDevices {
  std::shared_ptr<const Graph> graph; ///< the full graph with its function calls lowered
  std::vector<std::string> names;
  std::vector<std::int32_t> of; ///< by node id: index into `names`; -1: no such node
};

struct ClientGraphParts {
  /// Of the full graph, for the next signature; null where each is placed by itself.
  std::shared_ptr<const PlacedDevices> placed;
  /// If the placement is new: its stateful nodes and their devices.
  std::vector<std::pair<std::string, std::string>> assigned;
  std::vector<ClientPart> parts;
  std::size_t num_nodes = 0; ///< of all parts
  std::vector<DType> feed_types;
  std::vector<PartialShape> feed_shapes; ///< as their placeholders say
  /// Of a partial run, rendezvous keys by number; empty: nothing reads the feed.
  std::vector<std::string> feed_keys, fetch_keys;
};

struct ClientGraphRequest {
  std::shared_ptr<const Graph> full; ///< the session's graph
  std::shared_ptr<const PlacedDevices>
      placed; ///< of an earlier signature of the same graph; may be null
  std::shared_ptr<const SessionRecord::Assigned> assigned =
      std::make_shared<const SessionRecord::Assigned>(); ///< where state is already
  Signature signature;
  std::optional<ClientEnds> client_ends; ///< of a partial run
  bool is_watched = false;               ///< by a debugger: every node stays as the client made it
  /// What nodes have taken in steps whose costs were told, in µs; null: no such step yet.
  std::shared_ptr<const std::map<std::string, std::int64_t>> costs;
  std::vector<DeviceAttributes> devices;
  std::shared_ptr<const SessionSettings> settings = std::make_shared<const SessionSettings>();
  /// Some tasks are TensorFlow's: each worker rewrites its part alone, and names of edges end with
  /// this, by which a task of troupe knows the session that a TensorFlow task wants a value of
  /// (actors/family/edge_mark.hpp). Empty: none is.
  std::string edge_mark;
  std::string own_task; ///< its part is handed over as a graph; empty: all are bytes
  /// Set when nobody waits for the build; it then ends CANCELLED. Null: it is always wanted.
  std::shared_ptr<const std::atomic<bool>> unwanted;
};

/// A graph's nodes placed, and of stateful ones the devices that are new.
struct PlacedGraph {
  std::shared_ptr<const PlacedDevices> placed;
  std::vector<std::pair<std::string, std::string>> assigned;
};
/// Lowers and places the full graph. Errors name the node.
Result<PlacedGraph> place_for_later(const ClientGraphRequest& request,
                                    const NodeServices& services);

/// Lowers and places the full graph unless that was done, prunes to the signature, optimises, cuts
/// by task. Errors name the node.
Result<ClientGraphParts> build_client_graph(const ClientGraphRequest& request,
                                            const NodeServices& services);

/// Whether a run of the signature is known to need the task, before its graph is built: a node that
/// it depends on stands there, as it was placed, or as its device says. Names that the graph does
/// not have need nothing.
bool needs_task(const Graph& full, const PlacedDevices* placed, const Signature& signature,
                std::string_view task);

/// Only the first step of it: a copy of the full graph, lowered, whose every node has an assigned
/// device.
Result<Graph> place_full_graph(const ClientGraphRequest& request, const NodeServices& services);

} // namespace troupe
