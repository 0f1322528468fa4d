#include "graph/placement/internal/colocation.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "core/base/strings.hpp"

namespace troupe::placement {
namespace {

class UnionFind {
public:
  explicit UnionFind(std::size_t size) : parent_(size), size_(size, 1) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int find(int i) {
    while (parent_[static_cast<std::size_t>(i)] != i) {
      int& parent = parent_[static_cast<std::size_t>(i)];
      parent = parent_[static_cast<std::size_t>(parent)];
      i = parent;
    }
    return i;
  }
  void unite(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    if (size_[static_cast<std::size_t>(a)] < size_[static_cast<std::size_t>(b)])
      std::swap(a, b);
    parent_[static_cast<std::size_t>(b)] = a;
    size_[static_cast<std::size_t>(a)] += size_[static_cast<std::size_t>(b)];
  }

private:
  std::vector<int> parent_;
  std::vector<int> size_;
};

// Ops that take resources of any device and care for the rest themselves.
bool takes_distant_resources(const Node& node) {
  static constexpr std::array names = {
      "PartitionedCall", "StatefulPartitionedCall", "If",     "StatelessIf", "While",
      "StatelessWhile",  "ReduceDataset",           "_Retval"};
  return std::ranges::find(names, node.op_name()) != names.end();
}

bool binds(const Node& node, int input) {
  DType t = node.input_types[static_cast<std::size_t>(input)];
  return is_ref(t) || (t == DType::resource && !takes_distant_resources(node));
}

bool uses_state(const Node& node) {
  for (int i = 0; i < node.num_inputs(); ++i)
    if (binds(node, i))
      return true;
  return false;
}

bool owns_state(const Node& node) {
  return node.inputs.empty() && node.num_outputs() == 1 &&
         (is_ref(node.output_types[0]) || node.output_types[0] == DType::resource);
}

void unite_all(const Graph& graph, UnionFind& sets) {
  std::unordered_map<std::string_view, NodeId> by_class;
  for (const Node* node : graph.nodes()) {
    const AttrValue* attr = node->attrs.find("_class");
    const auto* classes = attr ? std::get_if<std::vector<std::string>>(attr) : nullptr;
    if (classes)
      for (const std::string& text : *classes) {
        if (!text.starts_with("loc:@"))
          continue;
        std::string_view name = std::string_view(text).substr(5);
        auto [entry, is_new] = by_class.emplace(name, node->id);
        if (const Node* target = graph.find(name); is_new && target)
          sets.unite(target->id, node->id);
        sets.unite(entry->second, node->id);
      }
    for (int i = 0; i < node->num_inputs(); ++i)
      if (binds(*node, i) && node->inputs[static_cast<std::size_t>(i)].node >= 0)
        sets.unite(node->inputs[static_cast<std::size_t>(i)].node, node->id);
  }
}

std::string_view contradicting_part(const DeviceName& a, const DeviceName& b) {
  if (a.job && b.job && a.job != b.job)
    return "jobs";
  if (a.replica && b.replica && a.replica != b.replica)
    return "replicas";
  if (a.task && b.task && a.task != b.task)
    return "tasks";
  if (a.type && b.type && a.type != b.type)
    return "types";
  return "ids";
}

class Builder {
public:
  Builder(const Graph& graph, const PlacementOptions& options)
      : graph_(graph), options_(options), requests_(static_cast<std::size_t>(graph.capacity())) {}

  Result<Groups> build() {
    UnionFind sets(static_cast<std::size_t>(graph_.capacity()));
    unite_all(graph_, sets);
    std::vector<int> index(static_cast<std::size_t>(graph_.capacity()), -1);
    out_.of.assign(static_cast<std::size_t>(graph_.capacity()), -1);
    for (const Node* node : graph_.nodes()) {
      TROUPE_ASSIGN(requests_[static_cast<std::size_t>(node->id)], parse_request(*node));
      int& group = index[static_cast<std::size_t>(sets.find(node->id))];
      if (group < 0) {
        group = static_cast<int>(out_.groups.size());
        out_.groups.emplace_back();
      }
      out_.of[static_cast<std::size_t>(node->id)] = group;
      out_.groups[static_cast<std::size_t>(group)].members.push_back(node->id);
    }
    for (Group& group : out_.groups) {
      TROUPE_TRY(find_assigned(group));
      TROUPE_TRY(merge_requests(group));
      if (group.assigned.empty())
        TROUPE_TRY(intersect_types(group));
    }
    return std::move(out_);
  }

private:
  static Result<DeviceName> parse_request(const Node& node) {
    auto parsed = DeviceName::parse(node.device);
    if (!parsed.ok())
      return parsed.status().with_context(
          str_cat("the device of node '", node.name, "' (", node.op_name(), ")"));
    return parsed;
  }

  Status find_assigned(Group& group) const {
    NodeId first = -1;
    for (NodeId id : group.members) {
      const Node& node = *graph_.node(id);
      if (node.assigned_device.empty())
        continue;
      if (first < 0) {
        first = id;
        group.assigned = node.assigned_device;
      } else if (node.assigned_device != group.assigned) {
        return internal(str_cat("Cannot colocate nodes '", graph_.node(first)->name, "' and '",
                                node.name, "': they are already on '", group.assigned, "' and '",
                                node.assigned_device, "'"));
      }
    }
    return {};
  }

  const DeviceName& request(NodeId id) const { return requests_[static_cast<std::size_t>(id)]; }

  Status merge_requests(Group& group) const {
    if (!group.assigned.empty())
      return {};
    for (NodeId id : group.members)
      if (owns_state(*graph_.node(id)))
        TROUPE_TRY(merge_one(group, id, group.owners));
    group.requested = group.owners;
    for (NodeId id : group.members) {
      const Node& node = *graph_.node(id);
      if (owns_state(node))
        continue;
      if (uses_state(node) && !request(id).is_compatible_with(group.owners))
        continue;
      TROUPE_TRY(merge_one(group, id, group.requested));
    }
    return {};
  }

  Status merge_one(const Group& group, NodeId id, DeviceName& into) const {
    if (auto merged = request(id).merge(into)) {
      into = *merged;
      return {};
    }
    if (options_.allow_soft_placement)
      return {};
    NodeId other = id;
    for (NodeId member : group.members)
      if (!request(member).is_compatible_with(request(id))) {
        other = member;
        break;
      }
    return invalid_argument(
        str_cat("Cannot colocate nodes '", graph_.node(id)->name, "' and '",
                graph_.node(other)->name, "': Cannot merge devices with incompatible ",
                contradicting_part(request(id), request(other)), ": '", request(id), "' and '",
                request(other), "'. Give both the same device, or allow soft placement."));
  }

  Status intersect_types(Group& group) const {
    bool first = true;
    for (NodeId id : group.members) {
      const Node& node = *graph_.node(id);
      TROUPE_ASSIGN(auto types, options_.supported_types(node));
      if (types.empty())
        return invalid_argument(str_cat("No OpKernel was registered to support Op '",
                                        node.op_name(), "' used by node '", node.name, "'"));
      if (first) {
        group.types = std::move(types);
        first = false;
        continue;
      }
      std::erase_if(group.types, [&](const std::string& type) {
        return std::ranges::find(types, type) == types.end();
      });
      if (group.types.empty())
        return invalid_argument(str_cat(
            "Cannot colocate nodes '", node.name, "' and '", graph_.node(group.members[0])->name,
            "' because no device type supports both of those nodes and the other nodes colocated "
            "with them"));
    }
    return {};
  }

  const Graph& graph_;
  const PlacementOptions& options_;
  std::vector<DeviceName> requests_; // by node
  Groups out_;
};

} // namespace

Result<Groups> make_groups(const Graph& graph, const PlacementOptions& options) {
  return Builder(graph, options).build();
}

} // namespace troupe::placement
