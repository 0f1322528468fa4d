#include "graph/placement/place.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/base/log.hpp"
#include "core/base/prints.hpp"
#include "core/base/strings.hpp"
#include "graph/placement/internal/colocation.hpp"

namespace troupe {
namespace {

using placement::Group;
using placement::Groups;
using placement::Terms;

constexpr std::size_t max_listed = 20; // devices or nodes in a message

// Such a node is placed beside its input.
bool is_metadata(const Node& node) {
  return node.op->roles.has_any({Role::metadata, Role::result}) && !node.inputs.empty();
}

bool is_generator(const Node& node) {
  return node.inputs.empty() && node.num_outputs() == 1 && !is_ref(node.output_types[0]);
}

class Placer {
public:
  Placer(Graph& graph, const PlacementOptions& options) : graph_(graph), options_(options) {}

  Status run() {
    sort_devices();
    TROUPE_ASSIGN(groups_, placement::make_groups(graph_, options_));
    chosen_.assign(groups_.groups.size(), nullptr);
    best_of_terms_.assign(groups_.terms.size(), nullptr);
    TROUPE_ASSIGN(auto order, graph_.topological_order());
    std::vector<NodeId> generators;
    for (NodeId id : order) {
      const Node& node = *graph_.node(id);
      if (!is_open(id))
        continue;
      if (is_alone(id) && is_generator(node))
        generators.push_back(id);
      else
        TROUPE_TRY(decide(id, is_alone(id) && is_metadata(node) ? device_of(node.inputs[0].node)
                                                                : nullptr));
    }
    for (NodeId id : generators)
      TROUPE_TRY(decide(id, device_of_readers(*graph_.node(id))));
    for (Node* node : graph_.nodes()) {
      node->assigned_device = names_.at(device_of(node->id));
      if (options_.log_device_placement)
        print(PrintStream::error,
              str_cat(node->name, ": (", node->op_name(), "): ", node->assigned_device), "\n");
    }
    return {};
  }

private:
  void sort_devices() {
    for (const PlacementDevice& device : options_.devices) {
      devices_.push_back(&device);
      names_.emplace(&device, device.name.to_string());
    }
    std::ranges::sort(devices_, {}, [&](const PlacementDevice* d) {
      const std::string& name = names_.at(d);
      return std::pair(task_of_device(name) != options_.own_task, std::string_view(name));
    });
    for (const PlacementDevice* device : devices_)
      by_name_.emplace(names_.at(device), device);
  }

  std::size_t group_index(NodeId id) const {
    return static_cast<std::size_t>(groups_.of[static_cast<std::size_t>(id)]);
  }
  const Group& group_of(NodeId id) const { return groups_.groups[group_index(id)]; }
  const Terms& terms_of(const Group& group) const {
    return groups_.terms[static_cast<std::size_t>(group.terms)];
  }
  bool is_open(NodeId id) const { return !chosen_[group_index(id)]; }
  bool is_alone(NodeId id) const { return group_of(id).members.size() == 1; }
  /// Null while undecided.
  const PlacementDevice* device_of(NodeId id) const {
    return id < 0 ? nullptr : chosen_[group_index(id)];
  }

  const PlacementDevice* device_of_readers(const Node& node) const {
    const PlacementDevice* common = nullptr;
    for (const OutEdge& edge : node.outs) {
      if (edge.is_control())
        continue;
      const PlacementDevice* device = device_of(edge.dst);
      if (!device || (common && device != common))
        return nullptr;
      common = device;
    }
    return common;
  }

  Status decide(NodeId id, const PlacementDevice* preferred) {
    const Group& group = group_of(id);
    const Terms& terms = terms_of(group);
    const PlacementDevice*& chosen = chosen_[group_index(id)];
    if (!terms.assigned.empty()) {
      auto found = by_name_.find(terms.assigned);
      if (found == by_name_.end())
        return internal(str_cat("Assigned device '", terms.assigned, "' of node '",
                                graph_.node(id)->name,
                                "' does not match any device; available "
                                "devices are [ ",
                                list_devices(), " ]"));
      chosen = found->second;
      return {};
    }
    if (preferred && terms.requested.matches(preferred->name) &&
        std::ranges::find(terms.types, preferred->type) != terms.types.end()) {
      chosen = preferred;
      return {};
    }
    const PlacementDevice*& usual = best_of_terms_[static_cast<std::size_t>(group.terms)];
    if (!usual)
      usual = best(terms.requested, terms.types);
    chosen = usual;
    if (!chosen && options_.allow_soft_placement)
      chosen = settle(group);
    return chosen ? Status{} : explain(id, group);
  }

  // Soft placement ignores type and id of requests; requests of state owners are tried first.
  const PlacementDevice* settle(const Group& group) {
    const Terms& terms = terms_of(group);
    DeviceName anywhere = terms.requested.task_part();
    if (auto kept = anywhere.merge(terms.owners))
      if (const PlacementDevice* device = best(*kept, terms.types))
        return device;
    const PlacementDevice* device = best(anywhere, terms.types);
    if (device && !terms.owners.empty() && !terms.owners.matches(device->name))
      log_info("soft placement puts '", graph_.node(group.members[0])->name, "' and ",
               group.members.size() - 1, " nodes colocated with it on ", names_.at(device),
               " although ", terms.owners, " was asked for");
    return device;
  }

  // First by the order of `types`, then as devices_ are sorted. Remembered, as most nodes ask for
  // the same.
  const PlacementDevice* best(const DeviceName& spec, const std::vector<std::string>& types) {
    std::string key = str_cat(spec, "|", str_join(types, ","));
    auto [entry, is_new] = best_.try_emplace(std::move(key), nullptr);
    if (!is_new)
      return entry->second;
    for (const std::string& type : types)
      for (const PlacementDevice* device : devices_)
        if (device->type == type && spec.matches(device->name))
          return entry->second = device;
    return nullptr;
  }

  std::string list_devices() const {
    std::string out;
    for (std::size_t i = 0; i < devices_.size() && i < max_listed; ++i)
      str_append(out, i ? ", " : "", names_.at(devices_[i]));
    if (devices_.size() > max_listed)
      str_append(out, ", and ", devices_.size() - max_listed, " more");
    return out;
  }

  Status explain(NodeId id, const Group& group) const {
    const Terms& terms = terms_of(group);
    // Named after a member that asked for something, if any did.
    const Node* node = graph_.node(id);
    for (NodeId member : group.members)
      if (node->device.empty() && !graph_.node(member)->device.empty())
        node = graph_.node(member);
    std::string out = str_cat("Cannot assign a device for operation ", node->name, ": ");
    bool exists = std::ranges::any_of(
        devices_, [&](const PlacementDevice* d) { return terms.requested.matches(d->name); });
    if (!exists && !terms.requested.empty())
      str_append(out, "{{node ", node->name, "}} was explicitly assigned to ", terms.requested,
                 " but available devices are [ ", list_devices(),
                 " ]. Make sure the device specification refers to a valid device.");
    else if (!terms.requested.empty())
      str_append(out, "Could not satisfy explicit device specification '", terms.requested,
                 "' because no supported kernel for ", terms.requested.type.value_or("its"),
                 " devices is available; ", node->op_name(), " has kernels for ",
                 str_join(terms.types, ", "), ". Ask for such a device, or allow soft placement.");
    else
      str_append(out, node->op_name(), " has kernels for ", str_join(terms.types, ", "),
                 " only, and available devices are [ ", list_devices(), " ]");
    if (group.members.size() > 1) {
      out += " It must share a device with:";
      for (std::size_t i = 0; i < group.members.size() && i < max_listed; ++i) {
        const Node& member = *graph_.node(group.members[i]);
        str_append(out, i ? ", '" : " '", member.name, "' (", member.op_name(), ")",
                   member.device.empty() ? "" : " on ", member.device);
      }
    }
    str_append(out, "\n\t [[", node->name, "]]"); // TensorFlow's Python finds the node by it
    return invalid_argument(std::move(out));
  }

  Graph& graph_;
  const PlacementOptions& options_;
  std::vector<const PlacementDevice*> devices_; // the own ones first, then by name
  std::unordered_map<const PlacementDevice*, std::string> names_;
  std::unordered_map<std::string, const PlacementDevice*> by_name_;
  std::unordered_map<std::string, const PlacementDevice*> best_;
  Groups groups_;
  std::vector<const PlacementDevice*> chosen_;        // by group
  std::vector<const PlacementDevice*> best_of_terms_; // null: not known, or none
};

} // namespace

Status place(Graph& graph, const PlacementOptions& options) {
  return Placer(graph, options).run();
}

} // namespace troupe
