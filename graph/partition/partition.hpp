// partition: cuts a placed graph into one graph for each location, and joins them by pairs of _Send
// and _Recv. A master cuts by task, each worker cuts its part again by device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

struct PartitionOptions {
  /// Names a node's partition. Empty function: the assigned device.
  std::function<std::string(const Node&)> location;
  /// Incarnation of a device, 0 if unknown; recorded in each pair so that a value from a task's
  /// earlier life is never taken. Empty function: 0.
  std::function<std::uint64_t(std::string_view device)> incarnation;
  /// Names new nodes from a prefix, differently each time; counts when empty. Whoever cuts several
  /// graphs for one session lets it go on counting.
  std::function<std::string(std::string_view prefix)> new_name;
  /// What the name of each new edge ends with.
  std::string edge_mark;
  /// The graph comes out of an earlier cut, which added the control loops.
  bool control_flow_added = false;
  /// Sends float32 as bfloat16 (truncated), and casts it back.
  bool send_floats_as_bfloat16 = false;
  /// By id of a node: its estimated start (estimate_starts). Receives outside of loops begin by it;
  /// empty: each as soon as its part does.
  std::vector<std::int64_t> starts;
};

/// The task part of a node's assigned device: `location` of the first cut.
std::string task_location(const Node& node);
/// The whole assigned device: `location` of the second.
std::string device_location(const Node& node);

/// Every node goes to its partition under its own name. An edge between two partitions becomes a
/// _Send beside its source and a _Recv beside its reader, one pair for each (output, partition)
/// except for reference outputs, which are read anew by each reader, after all its other inputs. A
/// control edge travels as an empty constant. A loop that crosses devices gets a control loop
/// (nodes named
/// "_cloop…") on each device that receives inside of it, so that its _Recvs run once per iteration.
/// Switch goes to its data input's device, Exit to its input's, Enter and NextIteration to their
/// first reader's.
///
/// Errors: INTERNAL for a node without device, INVALID_ARGUMENT for a malformed loop, one across
/// devices that has no LoopCond, and a reader that needs a reference from another partition.
/// Linear.
Result<std::map<std::string, Graph>> partition(Graph graph, const PartitionOptions& options);

} // namespace troupe
