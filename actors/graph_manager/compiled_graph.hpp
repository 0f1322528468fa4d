// CompiledGraph: a task's part of a client graph, cut up by device and compiled. Plain; made on a
// compute thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/executor/executable.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

/// What all graphs of one session share on a worker: devices (its own when isolated) and the state
/// of its nodes.
class SessionEnvironment {
public:
  SessionEnvironment(const NodeServices& services, bool isolate);
  /// Its devices are its own.
  bool is_isolated() const { return !own_.empty(); }
  /// The session has ended: what its own devices hold goes, and nothing more comes.
  void end(const Status& why);
  /// Null if the task has no device of that full name.
  Device* device(std::string_view full_name) const;
  /// The first whose values are in host memory; null if there is none.
  Device* host_device() const;
  NodeStates& node_states() { return node_states_; }

private:
  std::vector<std::unique_ptr<Device>> own_;
  std::vector<Device*> devices_;
  NodeStates node_states_;
};

struct CompiledGraph {
  std::vector<std::shared_ptr<const Executable>> executables; ///< one for each device that has work
  int num_args = 0;
  int num_retvals = 0;
  bool has_cut_edges = false;
  bool has_remote_edges = false;
  std::vector<CostNode> cost_nodes; ///< if asked for, of all devices, without times
};

/// Imports (unless the request holds a graph), partitions by device, optimises and compiles.
/// INVALID_ARGUMENT and others, naming the node.
Result<std::shared_ptr<const CompiledGraph>>
compile_graph(RegisterGraph request, const std::shared_ptr<SessionEnvironment>& environment,
              const Services& services);

} // namespace troupe
