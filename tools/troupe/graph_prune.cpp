#include "tools/troupe/graph_prune.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "graph/ir/graph.hpp"
#include "proto/graph.pb.h"
#include "tools/troupe/internal/parse_message.hpp"

namespace troupe {
namespace {

class GraphPruner {
public:
  explicit GraphPruner(tensorflow::GraphDef& graph) : graph_(graph) {
    for (int i = 0; i < graph.node_size(); ++i)
      nodes_.emplace(graph.node(i).name(), i);
  }

  /// Marks what the ops or tensors of these names are computed from.
  Status take_all(const std::vector<std::string>& names) {
    needed_.assign(static_cast<std::size_t>(graph_.node_size()), false);
    uses_.clear();
    for (const std::string& text : names) {
      TROUPE_ASSIGN(TensorName name, parse_tensor_name(text));
      TROUPE_TRY(find(name.node).status());
      take(name);
    }
    while (!open_.empty()) {
      int node = open_.back();
      open_.pop_back();
      for (const std::string& input : graph_.node(node).input())
        if (auto name = parse_tensor_name(input); name.ok())
          take(*name);
    }
    return {};
  }

  /// If nothing but output 0 of the fed node is used, cuts it off its inputs; true if it was.
  Result<bool> cut(const FedTensor& fed) {
    TROUPE_ASSIGN(TensorName name, parse_tensor_name(fed.name));
    TROUPE_ASSIGN(int at, find(name.node));
    tensorflow::NodeDef& node = *graph_.mutable_node(at);
    auto uses = uses_.find(at);
    bool only_first = uses == uses_.end() || uses->second == std::set<int>{0};
    if (name.slot != 0 || !only_first || node.op() == "Placeholder")
      return false;
    node.set_op("Placeholder");
    node.clear_input();
    node.clear_attr();
    (*node.mutable_attr())["dtype"].set_type(static_cast<tensorflow::DataType>(fed.dtype));
    return true;
  }

  const std::vector<bool>& needed() const { return needed_; }

private:
  Result<int> find(std::string_view name) const {
    if (auto at = nodes_.find(name); at != nodes_.end())
      return at->second;
    std::vector<std::string> names;
    for (const auto& node : graph_.node())
      names.push_back(node.name());
    return not_found(str_cat("the graph has no node '", name, "'", did_you_mean(name, names)));
  }

  void take(const TensorName& name) {
    auto at = nodes_.find(name.node);
    if (at == nodes_.end()) // an input that is not there is told when the graph is read
      return;
    uses_[at->second].insert(name.slot);
    auto i = static_cast<std::size_t>(at->second);
    if (needed_[i])
      return;
    needed_[i] = true;
    open_.push_back(at->second);
  }

  tensorflow::GraphDef& graph_;
  std::unordered_map<std::string_view, int> nodes_;
  std::vector<bool> needed_;
  std::unordered_map<int, std::set<int>> uses_; // outputs by node, -1: as a control input
  std::vector<int> open_;                       // needed, inputs not looked at yet
};

} // namespace

Result<std::string> needed_part_of_graph(const std::string& bytes,
                                         const std::vector<std::string>& wanted,
                                         const std::vector<FedTensor>& fed) {
  tensorflow::GraphDef graph;
  TROUPE_TRY(parse_message(bytes, "GraphDef", graph));
  GraphPruner pruner(graph);
  std::vector<std::string> all = wanted;
  for (const FedTensor& tensor : fed)
    all.push_back(tensor.name);
  TROUPE_TRY(pruner.take_all(all));
  bool has_cut = false;
  for (const FedTensor& tensor : fed) {
    TROUPE_ASSIGN(bool cut, pruner.cut(tensor));
    has_cut |= cut;
  }
  if (has_cut)
    TROUPE_TRY(pruner.take_all(all));
  const std::vector<bool>& needed = pruner.needed();
  if (!has_cut && std::find(needed.begin(), needed.end(), false) == needed.end())
    return bytes;
  tensorflow::GraphDef out;
  for (int i = 0; i < graph.node_size(); ++i)
    if (needed[static_cast<std::size_t>(i)])
      out.add_node()->Swap(graph.mutable_node(i));
  out.mutable_library()->Swap(graph.mutable_library());
  if (graph.has_versions())
    *out.mutable_versions() = graph.versions();
  out.set_version(graph.version());
  return out.SerializeAsString();
}

} // namespace troupe
