#include "graph/partition/partition.hpp"

#include <memory>
#include <optional>
#include <unordered_map>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "graph/partition/frames.hpp"
#include "graph/partition/internal/control_loops.hpp"
#include "graph/partition/recv_schedule.hpp"

namespace troupe {
namespace {

constexpr std::size_t max_repeated_bytes = 1024;

struct Part {
  explicit Part(const Graph& whole) : graph(whole.registry()) {
    graph.versions = whole.versions;
    graph.functions = whole.functions;
  }
  Graph graph;
  std::map<NodeId, std::int64_t>
      receives; ///< outside of loops, with the earliest start of their readers
};

Status without_device(const Node& node) {
  return internal(str_cat("node '", node.name, "' (", node.op_name(),
                          ") has no device; a graph is placed before it is cut"));
}

// Where all nodes are, if that is one place.
Result<std::optional<std::string>> only_location(const Graph& graph,
                                                 const PartitionOptions& options) {
  std::optional<std::string> out;
  const std::string* last = nullptr; // a device that is there
  for (const Node* node : graph.nodes()) {
    if (node->assigned_device.empty())
      return without_device(*node);
    if (last && *last == node->assigned_device)
      continue;
    last = &node->assigned_device;
    std::string name = options.location ? options.location(*node) : node->assigned_device;
    if (!out)
      out = std::move(name);
    else if (*out != name)
      return std::optional<std::string>{};
  }
  return out;
}

// Where a value of the whole graph is found again.
struct Copy {
  Part* part = nullptr;
  NodeId id = -1;
};

// A value that travels: from an output (slot -1: a control edge) to a partition.
struct Crossing {
  NodeId src = -1;
  int slot = 0;
  const Part* to = nullptr;
  friend bool operator==(const Crossing&, const Crossing&) = default;
};
struct CrossingHash {
  std::size_t operator()(const Crossing& c) const {
    std::size_t seed = std::hash<const void*>{}(c.to);
    seed = seed * 1000003U + static_cast<std::size_t>(c.src);
    return seed * 1000003U + static_cast<std::size_t>(c.slot + 1);
  }
};

// The receiving half of a pair: the node that readers read, and the _Recv behind it.
struct Arrival {
  NodeId value = -1;
  NodeId recv = -1;
};

class Cutter {
public:
  Cutter(const Graph& whole, const PartitionOptions& options, const partitioning::NewName& new_name)
      : whole_(whole), options_(options), new_name_(new_name) {}

  Result<std::map<std::string, Graph>> run() {
    TROUPE_TRY(copy_nodes());
    if (!options_.starts.empty()) {
      TROUPE_ASSIGN(frames_, find_frames(whole_));
    }
    for (const Node* dst : whole_.nodes())
      TROUPE_TRY(connect(*dst));
    if (!options_.starts.empty())
      TROUPE_TRY(schedule());
    std::map<std::string, Graph> out;
    for (auto& [name, part] : parts_)
      out.emplace(name, std::move(part->graph));
    return out;
  }

private:
  Status copy_nodes() {
    copies_.resize(static_cast<std::size_t>(whole_.capacity()));
    for (const Node* node : whole_.nodes()) {
      if (node->assigned_device.empty())
        return without_device(*node);
      std::string name = options_.location ? options_.location(*node) : node->assigned_device;
      auto& part = parts_[name];
      if (!part)
        part = std::make_unique<Part>(whole_);
      TROUPE_ASSIGN(Node * copy, part->graph.add_unconnected(node->name, *node->op, node->attrs));
      copy->device = node->device;
      copy->assigned_device = node->assigned_device;
      copies_[static_cast<std::size_t>(node->id)] = {part.get(), copy->id};
    }
    return {};
  }

  // 0 of nodes that were added since the starts were estimated.
  std::int64_t start_of(NodeId id) const {
    auto at = static_cast<std::size_t>(id);
    return at < options_.starts.size() ? options_.starts[at] : 0;
  }

  Status schedule() {
    for (auto& [name, part] : parts_) {
      std::vector<TimedNode> nodes;
      for (const Node* node : whole_.nodes())
        if (const Copy& copy = copy_of(node->id); copy.part == part.get() &&
                                                  frames_.of_inputs(*node) == 0 &&
                                                  frames_.of_outputs(*node) == 0)
          nodes.push_back({copy.id, start_of(node->id)});
      std::vector<TimedReceive> receives;
      for (const auto& [node, start] : part->receives)
        receives.push_back({node, start});
      TROUPE_TRY(schedule_receives(part->graph, std::move(nodes), receives, new_name_));
    }
    return {};
  }

  // One reader more; inside of a loop a receive begins with each iteration.
  void note_receive(Part& part, NodeId receive, const Node& reader) {
    if (options_.starts.empty())
      return;
    if (frames_.of_inputs(reader) != 0) {
      part.receives.erase(receive);
      return;
    }
    auto [entry, is_new] = part.receives.try_emplace(receive, start_of(reader.id));
    entry->second = std::min(entry->second, start_of(reader.id));
  }

  const Copy& copy_of(NodeId id) const { return copies_[static_cast<std::size_t>(id)]; }

  Status connect(const Node& dst) {
    Part& here = *copy_of(dst.id).part;
    NodeId mine = copy_of(dst.id).id;
    NodeId loop = -1; // Merge of the control loop that paces what dst receives
    for (NodeId from : dst.control_inputs)
      if (partitioning::is_control_loop_merge(*whole_.node(from)))
        loop = from;
    std::vector<NodeId> ref_recvs;    // read only after all that follows
    std::vector<NodeId> other_inputs; // in this partition
    for (int i = 0; i < dst.num_inputs(); ++i) {
      Endpoint e = dst.inputs[static_cast<std::size_t>(i)];
      if (e.node < 0)
        continue;
      const Node& src = *whole_.node(e.node);
      bool ref = is_ref(src.output_types[static_cast<std::size_t>(e.slot)]);
      if (copy_of(e.node).part == &here) {
        here.graph.set_input(mine, i, {copy_of(e.node).id, e.slot});
        if (!ref)
          other_inputs.push_back(copy_of(e.node).id);
        continue;
      }
      if (is_ref(dst.input_types[static_cast<std::size_t>(i)]))
        return invalid_argument(
            str_cat("node '", dst.name, "' (", dst.op_name(), ") on ", dst.assigned_device,
                    " needs a reference to '", src.name, "', which is on ", src.assigned_device,
                    "; references do not travel, so both must be on one device"));
      TROUPE_ASSIGN(Arrival arrival, arrive(src, e.slot, dst, ref, loop));
      here.graph.set_input(mine, i, {arrival.value, 0});
      (ref ? ref_recvs : other_inputs).push_back(ref ? arrival.recv : arrival.value);
    }
    for (NodeId from : dst.control_inputs) {
      NodeId here_id = copy_of(from).id;
      if (copy_of(from).part != &here) {
        TROUPE_ASSIGN(Arrival arrival, arrive(*whole_.node(from), -1, dst, false, loop));
        here_id = arrival.value;
      }
      here.graph.add_control_edge(here_id, mine);
      other_inputs.push_back(here_id);
    }
    for (NodeId recv : ref_recvs)
      for (NodeId input : other_inputs)
        here.graph.add_control_edge(input, recv);
    return {};
  }

  // The value (or, for slot -1, the completion) of `src` in the partition of `dst`.
  Result<Arrival> arrive(const Node& src, int slot, const Node& dst, bool ref, NodeId loop) {
    Part& here = *copy_of(dst.id).part;
    Crossing key{src.id, slot, &here};
    if (!ref)
      if (auto found = arrivals_.find(key); found != arrivals_.end()) {
        if (here.receives.contains(found->second.recv))
          note_receive(here, found->second.recv, dst);
        return found->second;
      }
    DType type =
        slot < 0 ? DType::float32 : remove_ref(src.output_types[static_cast<std::size_t>(slot)]);
    bool narrow = options_.send_floats_as_bfloat16 && slot >= 0 && type == DType::float32;
    DType wire = narrow ? DType::bfloat16 : type;
    if (is_small_constant(src, slot)) {
      TROUPE_ASSIGN(Arrival copy, repeat_constant(src, dst));
      arrivals_.emplace(key, copy);
      return copy;
    }
    std::string name = str_cat("edge_", ++edges_, "_", src.name, options_.edge_mark);
    TROUPE_TRY(add_send(src, slot, dst, name, wire));
    TROUPE_ASSIGN(Arrival arrival, add_recv(src, slot, dst, name, wire, type));
    note_receive(here, arrival.recv, dst);
    if (loop >= 0 && copy_of(loop).part == &here)
      here.graph.add_control_edge(copy_of(loop).id, arrival.recv);
    if (!ref)
      arrivals_.emplace(key, arrival);
    return arrival;
  }

  bool is_small_constant(const Node& src, int slot) const {
    if (slot != 0 || !src.has_role(Role::constant) || !src.control_inputs.empty())
      return false;
    const Node& copy = *copy_of(src.id).part->graph.node(copy_of(src.id).id);
    auto value = copy.attrs.get<Tensor>("value");
    return value.ok() && value->byte_size() <= max_repeated_bytes;
  }

  Result<Arrival> repeat_constant(const Node& src, const Node& dst) {
    const Node& copy = *copy_of(src.id).part->graph.node(copy_of(src.id).id);
    TROUPE_ASSIGN(Node * again,
                  add(*copy_of(dst.id).part, dst, src.name, src.op_name(), {}, copy.attrs));
    return Arrival{again->id, again->id};
  }

  AttrMap pair_attrs(const char* type_attr, DType type, const std::string& name, const Node& src,
                     const Node& dst) const {
    std::uint64_t incarnation =
        options_.incarnation ? options_.incarnation(src.assigned_device) : 0;
    return {{type_attr, type},
            {"tensor_name", name},
            {"send_device", src.assigned_device},
            {"send_device_incarnation", static_cast<std::int64_t>(incarnation)},
            {"recv_device", dst.assigned_device},
            {"client_terminated", false}};
  }

  Result<Node*> add(Part& part, const Node& beside, std::string_view prefix, std::string_view op,
                    std::vector<Endpoint> inputs, AttrMap attrs,
                    std::vector<NodeId> control_inputs = {}) {
    std::string name = part.graph.unique_name(new_name_(prefix));
    TROUPE_ASSIGN(Node * node, part.graph.add(name, op, std::move(inputs), std::move(attrs),
                                              std::move(control_inputs)));
    node->assigned_device = beside.assigned_device;
    return node;
  }

  static AttrMap cast_attrs(DType from, DType to, bool truncate) {
    return {{"SrcT", from}, {"DstT", to}, {"Truncate", truncate}};
  }

  Status add_send(const Node& src, int slot, const Node& dst, const std::string& name, DType wire) {
    Part& there = *copy_of(src.id).part;
    Endpoint value{copy_of(src.id).id, slot};
    if (slot < 0) {
      TROUPE_ASSIGN(Node * dummy, add(there, src, src.name, "Const", {},
                                      {{"value", TensorBox{Tensor::make(DType::float32, Shape{0})}},
                                       {"dtype", DType::float32}},
                                      {value.node}));
      value = {dummy->id, 0};
    }
    DType type = remove_ref(
        there.graph.node(value.node)->output_types[static_cast<std::size_t>(value.slot)]);
    if (wire != type) {
      TROUPE_ASSIGN(Node * cast,
                    add(there, src, src.name, "Cast", {value}, cast_attrs(type, wire, true)));
      value = {cast->id, 0};
    }
    TROUPE_ASSIGN(Node * send, add(there, src, src.name, "_Send", {value},
                                   pair_attrs("T", wire, name, src, dst)));
    static_cast<void>(send);
    return {};
  }

  Result<Arrival> add_recv(const Node& src, int slot, const Node& dst, const std::string& name,
                           DType wire, DType type) {
    Part& here = *copy_of(dst.id).part;
    TROUPE_ASSIGN(Node * recv, add(here, dst, src.name, "_Recv", {},
                                   pair_attrs("tensor_type", wire, name, src, dst)));
    Node* value = recv;
    if (slot < 0) {
      TROUPE_ASSIGN(value, add(here, dst, src.name, "Identity", {{recv->id, 0}}, {{"T", wire}}));
    } else if (wire != type) {
      TROUPE_ASSIGN(
          value, add(here, dst, src.name, "Cast", {{recv->id, 0}}, cast_attrs(wire, type, false)));
    }
    return Arrival{value->id, recv->id};
  }

  const Graph& whole_;
  const PartitionOptions& options_;
  const partitioning::NewName& new_name_;
  std::map<std::string, std::unique_ptr<Part>> parts_;
  std::vector<Copy> copies_; // by node of the whole graph
  std::unordered_map<Crossing, Arrival, CrossingHash> arrivals_;
  std::int64_t edges_ = 0;
  Frames frames_; // if starts are given
};

} // namespace

std::string task_location(const Node& node) {
  return task_of_device(node.assigned_device);
}

std::string device_location(const Node& node) {
  return node.assigned_device;
}

Result<std::map<std::string, Graph>> partition(Graph graph, const PartitionOptions& options) {
  partitioning::NewName new_name = options.new_name;
  if (!new_name)
    new_name = [count = 0](std::string_view prefix) mutable {
      return str_cat(prefix, "/_", ++count);
    };
  if (!options.control_flow_added) {
    TROUPE_TRY(partitioning::colocate_control_flow(graph));
    TROUPE_TRY(partitioning::add_control_loops(graph, new_name));
  }
  TROUPE_ASSIGN(std::optional<std::string> place, only_location(graph, options));
  if (place) { // nothing to cut
    std::map<std::string, Graph> out;
    out.emplace(*std::move(place), std::move(graph));
    return out;
  }
  return Cutter(graph, options, new_name).run();
}

} // namespace troupe
