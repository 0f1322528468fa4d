// When nodes of a graph are likely to start, and receives that begin by it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

/// By node id: how long after the step's begin its inputs are there, if every node runs as soon as
/// it can. `cost_of` says how long one takes; 1 at least is taken. What a loop gives back is not
/// waited for, as if each ran once. Linear.
std::vector<std::int64_t> estimate_starts(const Graph& graph,
                                          const std::function<std::int64_t(const Node&)>& cost_of);

/// A receive of a part, and the earliest of its readers' starts.
struct TimedReceive {
  NodeId node = -1;
  std::int64_t start = 0;
};
/// A node of a part that receives may be made to wait for: outside of loops.
struct TimedNode {
  NodeId node = -1;
  std::int64_t start = 0;
};

/// Makes each receive wait, by a control edge, for work that is estimated to start shortly before
/// its readers do, so that values that are needed late do not take memory early. All times are
/// those of one estimate for the whole graph, which is why no part waits for another one's receives
/// in a circle. A ControlTrigger (its name from `new_name`) stands between, so that a dead node is
/// as good as one that has run.
Status schedule_receives(Graph& part, std::vector<TimedNode> nodes,
                         const std::vector<TimedReceive>& receives,
                         const std::function<std::string(std::string_view)>& new_name);

} // namespace troupe
