#include "graph/partition/recv_schedule.hpp"

#include <algorithm>
#include <map>

#include "graph/partition/frames.hpp"

namespace troupe {

namespace {

/// A step's time in so many pieces; a receive begins so many before its readers.
constexpr std::int64_t num_pieces = 100, pieces_before = 6;

} // namespace

std::vector<std::int64_t> estimate_starts(const Graph& graph,
                                          const std::function<std::int64_t(const Node&)>& cost_of) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(graph.capacity()), 0);
  std::vector<int> missing(starts.size(), 0);
  std::vector<NodeId> ready;
  auto waits_for = [&](const Node& node, const Node& source) {
    return !is_next_iteration(source) || !is_merge(node);
  };
  for (const Node* node : graph.nodes()) {
    int& count = missing[static_cast<std::size_t>(node->id)];
    for (Endpoint e : node->inputs)
      count += e.node >= 0 && waits_for(*node, *graph.node(e.node));
    count += static_cast<int>(node->control_inputs.size());
    if (count == 0)
      ready.push_back(node->id);
  }
  while (!ready.empty()) {
    const Node& node = *graph.node(ready.back());
    ready.pop_back();
    const std::int64_t end =
        starts[static_cast<std::size_t>(node.id)] + std::max<std::int64_t>(cost_of(node), 1);
    for (const OutEdge& edge : node.outs) {
      const Node& reader = *graph.node(edge.dst);
      if (!edge.is_control() && !waits_for(reader, node))
        continue;
      auto at = static_cast<std::size_t>(reader.id);
      starts[at] = std::max(starts[at], end);
      if (--missing[at] == 0)
        ready.push_back(reader.id);
    }
  }
  return starts;
}

Status schedule_receives(Graph& part, std::vector<TimedNode> nodes,
                         const std::vector<TimedReceive>& receives,
                         const std::function<std::string(std::string_view)>& new_name) {
  if (nodes.empty())
    return {};
  std::ranges::stable_sort(nodes, {}, &TimedNode::start);
  std::int64_t last = nodes.back().start;
  for (const TimedReceive& receive : receives)
    last = std::max(last, receive.start);
  const std::int64_t piece = last / num_pieces + 1;
  std::map<std::int64_t, NodeId> triggers; // by the piece that they stand for
  for (const TimedReceive& receive : receives) {
    const std::int64_t number = receive.start / piece - pieces_before;
    auto later = std::ranges::lower_bound(nodes, number * piece, {}, &TimedNode::start);
    if (number <= 0 || later == nodes.begin())
      continue;
    auto [trigger, is_new] = triggers.try_emplace(number);
    if (is_new) {
      const Node& before = *part.node(std::prev(later)->node);
      const std::string device = before.assigned_device;
      TROUPE_ASSIGN(Node * added, part.add(part.unique_name(new_name("receive_later")),
                                           "ControlTrigger", {}, {}, {before.id}));
      added->assigned_device = device;
      trigger->second = added->id;
    }
    part.add_control_edge(trigger->second, receive.node);
  }
  return {};
}

} // namespace troupe
