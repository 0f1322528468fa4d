#include "graph/placement/internal/colocation.hpp"

#include <algorithm>
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

bool binds(const Node& node, int input) {
  DType t = node.input_types[static_cast<std::size_t>(input)];
  return is_ref(t) || (t == DType::resource && !node.has_role(Role::takes_any_handle));
}

bool uses_state(const Node& node) {
  for (int i = 0; i < node.num_inputs(); ++i)
    if (binds(node, i))
      return true;
  return false;
}

// Makes what others use: a variable or queue, but also a stack or TensorArray, of the size in an
// input.
bool owns_state(const Node& node) {
  return !uses_state(node) && std::ranges::any_of(node.output_types, [](DType t) {
    return is_ref(t) || t == DType::resource;
  });
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
      : graph_(graph), options_(options),
        requests_(static_cast<std::size_t>(graph.capacity()), nullptr) {}

  Result<Groups> build() {
    UnionFind sets(static_cast<std::size_t>(graph_.capacity()));
    unite_all(graph_, sets);
    std::vector<int> index(static_cast<std::size_t>(graph_.capacity()), -1);
    out_.of.assign(static_cast<std::size_t>(graph_.capacity()), -1);
    for (const Node* node : graph_.nodes()) {
      TROUPE_ASSIGN(requests_[static_cast<std::size_t>(node->id)], request_of(*node));
      int& group = index[static_cast<std::size_t>(sets.find(node->id))];
      if (group < 0) {
        group = static_cast<int>(out_.groups.size());
        out_.groups.emplace_back();
      }
      out_.of[static_cast<std::size_t>(node->id)] = group;
      out_.groups[static_cast<std::size_t>(group)].members.push_back(node->id);
    }
    for (Group& group : out_.groups)
      TROUPE_TRY(find_terms(group));
    return std::move(out_);
  }

private:
  // A graph asks for few devices by many nodes.
  Result<const DeviceName*> request_of(const Node& node) {
    auto known = parsed_.find(node.device);
    if (known != parsed_.end())
      return &known->second;
    auto parsed = DeviceName::parse(node.device);
    if (!parsed.ok())
      return parsed.status().with_context(
          str_cat("the device of node '", node.name, "' (", node.op_name(), ")"));
    return &parsed_.emplace(node.device, *std::move(parsed)).first->second;
  }

  Status find_terms(Group& group) {
    const Node& first = *graph_.node(group.members[0]);
    const bool is_alone = group.members.size() == 1 && first.assigned_device.empty();
    if (is_alone)
      if (auto like = alone_.find(first.op); like != alone_.end()) {
        const Node& other = *graph_.node(like->second.members[0]);
        if (other.device == first.device && other.attrs == first.attrs) {
          group.terms = like->second.terms;
          return {};
        }
      }
    Terms terms;
    TROUPE_TRY(find_assigned(group, terms));
    TROUPE_TRY(merge_requests(group, terms));
    if (terms.assigned.empty())
      TROUPE_TRY(intersect_types(group, terms));
    group.terms = static_cast<int>(out_.terms.size());
    out_.terms.push_back(std::move(terms));
    if (is_alone)
      alone_[first.op] = group;
    return {};
  }

  Status find_assigned(const Group& group, Terms& terms) const {
    NodeId first = -1;
    for (NodeId id : group.members) {
      const Node& node = *graph_.node(id);
      if (node.assigned_device.empty())
        continue;
      if (first < 0) {
        first = id;
        terms.assigned = node.assigned_device;
      } else if (node.assigned_device != terms.assigned) {
        return internal(str_cat("Cannot colocate nodes {{colocation_node ",
                                graph_.node(first)->name, "}} and {{colocation_node ", node.name,
                                "}}: they are already on '", terms.assigned, "' and '",
                                node.assigned_device, "'"));
      }
    }
    return {};
  }

  const DeviceName& request(NodeId id) const { return *requests_[static_cast<std::size_t>(id)]; }

  Status merge_requests(const Group& group, Terms& terms) const {
    if (!terms.assigned.empty())
      return {};
    for (NodeId id : group.members)
      if (owns_state(*graph_.node(id)))
        TROUPE_TRY(merge_one(group, id, terms.owners));
    terms.requested = terms.owners;
    for (NodeId id : group.members) {
      const Node& node = *graph_.node(id);
      if (owns_state(node))
        continue;
      if (uses_state(node) && !request(id).is_compatible_with(terms.owners))
        continue;
      TROUPE_TRY(merge_one(group, id, terms.requested));
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
        str_cat("Cannot colocate nodes {{colocation_node ", graph_.node(id)->name,
                "}} and {{colocation_node ", graph_.node(other)->name,
                "}}: Cannot merge devices with incompatible ",
                contradicting_part(request(id), request(other)), ": '", request(id), "' and '",
                request(other), "'. Give both the same device, or allow soft placement."));
  }

  Status intersect_types(const Group& group, Terms& terms) const {
    bool first = true;
    for (NodeId id : group.members) {
      const Node& node = *graph_.node(id);
      TROUPE_ASSIGN(auto types, options_.supported_types(node));
      if (types.empty())
        return invalid_argument(str_cat("No OpKernel was registered to support Op '",
                                        node.op_name(), "' used by node '", node.name, "'"));
      if (first) {
        terms.types = std::move(types);
        first = false;
        continue;
      }
      std::erase_if(terms.types, [&](const std::string& type) {
        return std::ranges::find(types, type) == types.end();
      });
      if (terms.types.empty())
        return invalid_argument(str_cat(
            "Cannot colocate nodes {{colocation_node ", node.name, "}} and {{colocation_node ",
            graph_.node(group.members[0])->name,
            "}} because no device type supports both of those nodes and the other nodes colocated "
            "with them"));
    }
    return {};
  }

  const Graph& graph_;
  const PlacementOptions& options_;
  std::unordered_map<std::string, DeviceName> parsed_; // by the text that nodes have
  std::vector<const DeviceName*> requests_;            // by node
  std::unordered_map<const OpSchema*, Group> alone_;   // of each op the last of one new node
  Groups out_;
};

} // namespace

Result<Groups> make_groups(const Graph& graph, const PlacementOptions& options) {
  return Builder(graph, options).build();
}

} // namespace troupe::placement
