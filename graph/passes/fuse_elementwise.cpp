// Elementwise ops that only each other read become one node, _FusedElementwise: what one leaves for
// the next then never goes through memory. The single operations and their order stay, so results
// are the same bit by bit. Its `_members` name the node of each line.
#include <unordered_map>

#include "core/base/strings.hpp"
#include "graph/op/elementwise_ops.hpp"
#include "graph/op/members.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

constexpr std::size_t max_instructions = 32, max_inputs = 24;

/// A tree of nodes around the one whose result is read outside.
struct Group {
  std::vector<NodeId> members; // the root first, producers after their consumers
};

class Fuser {
public:
  Fuser(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  Status run() {
    TROUPE_ASSIGN(auto order, graph_.topological_order());
    group_of_.assign(static_cast<std::size_t>(graph_.capacity()), -1);
    for (std::size_t i = order.size(); i-- > 0;)
      join(*graph_.node(order[i]));
    for (const Group& group : groups_)
      if (group.members.size() > 1)
        TROUPE_TRY(fuse(group));
    return {};
  }

private:
  bool is_elementwise(const Node& node) {
    auto [at, is_new] = known_.try_emplace(node.op, false);
    if (is_new)
      at->second = find_elementwise_op(node.op_name()) != nullptr;
    return at->second;
  }

  bool is_candidate(const Node& node) {
    if (!is_elementwise(node) || !is_free(node, context_) || !node.control_inputs.empty() ||
        node.inputs.size() > max_inputs)
      return false;
    if (node.output_types[0] != DType::float32 && node.output_types[0] != DType::float64)
      return false;
    return node.attrs.get_or<std::string>("data_format", "NHWC") == "NHWC" &&
           on_cpu(node.assigned_device);
  }

  static bool on_cpu(const std::string& device) {
    return device.empty() || device.find("/device:CPU:") != std::string::npos;
  }

  /// The only group that reads the node, or -1.
  int only_reader(const Node& node) const {
    int group = -1;
    for (const OutEdge& edge : node.outs) {
      const int reader = edge.is_control() ? -1 : group_of_[static_cast<std::size_t>(edge.dst)];
      if (reader < 0 || (group >= 0 && reader != group))
        return -1;
      group = reader;
    }
    return group;
  }

  void join(const Node& node) {
    context_.looked_at(1 + static_cast<std::int64_t>(node.outs.size()));
    if (!is_candidate(node))
      return;
    const int reader = only_reader(node);
    if (reader >= 0) {
      Group& group = groups_[static_cast<std::size_t>(reader)];
      const Node& root = *graph_.node(group.members.front());
      if (group.members.size() < max_instructions && root.device == node.device &&
          root.assigned_device == node.assigned_device &&
          root.output_types[0] == node.output_types[0]) {
        group.members.push_back(node.id);
        group_of_[static_cast<std::size_t>(node.id)] = reader;
        return;
      }
    }
    group_of_[static_cast<std::size_t>(node.id)] = static_cast<int>(groups_.size());
    groups_.push_back({{node.id}});
  }

  Status fuse(const Group& group) {
    std::vector<Endpoint> inputs;
    std::unordered_map<NodeId, std::size_t> result; // of members: position in the program
    for (std::size_t i = 0; i < group.members.size(); ++i)
      result[group.members[i]] = group.members.size() - 1 - i;
    const auto input_number = [&](Endpoint e) {
      std::size_t i = 0;
      while (i < inputs.size() && inputs[i] != e)
        ++i;
      if (i == inputs.size())
        inputs.push_back(e);
      return i;
    };
    for (NodeId id : group.members)
      for (Endpoint e : graph_.node(id)->inputs)
        if (!result.contains(e.node))
          input_number(e);
    if (inputs.empty() || inputs.size() > max_inputs)
      return {};
    std::vector<std::string> program, members;
    for (std::size_t i = group.members.size(); i-- > 0;) {
      const Node& node = *graph_.node(group.members[i]);
      std::string line = node.op_name();
      for (Endpoint e : node.inputs) {
        auto member = result.find(e.node);
        str_append(line, " ",
                   member == result.end() ? input_number(e) : inputs.size() + member->second);
      }
      program.push_back(std::move(line));
      members.push_back(member_line(node.op_name(), node.name));
    }
    const Node& root = *graph_.node(group.members.front());
    const std::string name = root.name;
    TROUPE_ASSIGN(Node * added, graph_.add(graph_.unique_name(str_cat(name, "/fused")),
                                           "_FusedElementwise", std::move(inputs),
                                           {{"program", std::move(program)},
                                            {members_attr, std::move(members)}}));
    added->device = root.device;
    added->assigned_device = root.assigned_device;
    graph_.replace_node(root.id, added->id);
    for (NodeId id : group.members)
      graph_.remove(id);
    graph_.rename(added->id, name);
    context_.changed();
    return {};
  }

  Graph& graph_;
  PassContext& context_;
  std::unordered_map<const OpSchema*, bool> known_;
  std::vector<int> group_of_; // by node
  std::vector<Group> groups_;
};

Status fuse_elementwise(Graph& graph, PassContext& context) {
  if (!graph.lookup_op("_FusedElementwise").ok()) // nobody here could run it
    return {};
  return Fuser(graph, context).run();
}

} // namespace

Pass pass_fuse_elementwise() {
  return {"fuse_elementwise", 80, fuse_elementwise};
}

} // namespace troupe
