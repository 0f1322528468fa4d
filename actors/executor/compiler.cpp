#include "actors/executor/internal/compiler.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "graph/partition/frames.hpp"

namespace troupe::program {

namespace {

struct OpTraits {
  Kind kind = Kind::kernel;
  int flags = 0;
};

OpTraits traits_of(std::string_view op) {
  static const std::unordered_map<std::string_view, OpTraits> table = {
      {"NoOp", {Kind::no_op, 0}},
      {"ControlTrigger", {Kind::no_op, runs_when_dead}},
      {"Const", {Kind::constant, 0}},
      {"_Arg", {Kind::arg, 0}},
      {"_Retval", {Kind::retval, 0}},
      {"Identity", {Kind::forward, 0}},
      {"RefIdentity", {Kind::forward, 0}},
      {"StopGradient", {Kind::forward, 0}},
      {"LoopCond", {Kind::forward, 0}},
      {"Switch", {Kind::select, may_leave_unset}},
      {"RefSwitch", {Kind::select, may_leave_unset}},
      {"_SwitchN", {Kind::kernel, may_leave_unset}},
      {"Merge", {Kind::merge, 0}},
      {"RefMerge", {Kind::merge, 0}},
      {"Enter", {Kind::enter, 0}},
      {"RefEnter", {Kind::enter, 0}},
      {"Exit", {Kind::exit, 0}},
      {"RefExit", {Kind::exit, 0}},
      {"NextIteration", {Kind::next_iteration, 0}},
      {"RefNextIteration", {Kind::next_iteration, 0}},
      {"_Send", {Kind::kernel, runs_when_dead}},
      {"_HostSend", {Kind::kernel, runs_when_dead}},
      {"_Recv", {Kind::kernel, runs_when_dead | may_leave_unset}},
      {"_HostRecv", {Kind::kernel, runs_when_dead | may_leave_unset}},
  };
  auto it = table.find(op);
  return it == table.end() ? OpTraits{} : it->second;
}

std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// Waits: a graph is compiled once, and not on a thread that others wait for.
Result<Tensor> copy_to_device(Device& device, const Tensor& host) {
  struct Answer {
    std::mutex lock;
    std::condition_variable there;
    std::optional<Result<Tensor>> value;
  };
  auto answer = std::make_shared<Answer>();
  device.copy_to_device(host, [answer](Result<Tensor> copied) {
    std::scoped_lock guard(answer->lock);
    answer->value = std::move(copied);
    answer->there.notify_one();
  });
  std::unique_lock guard(answer->lock);
  answer->there.wait(guard, [&] { return answer->value.has_value(); });
  return *std::move(answer->value);
}

// Compiles one graph. Steps in order: place (which node goes where), fill each node, connect.
class Compiler {
public:
  Compiler(const Graph& graph, Device& device, const KernelRegistry& kernels)
      : graph_(graph), device_(device), kernels_(kernels), program_(new Program) {}

  Result<std::unique_ptr<Program>> run() {
    TROUPE_TRY(lay_out());
    for (const Node* node : order_)
      if (Status status = fill(*node); !status.ok())
        return status.with_origin({node->name, node->op_name(), device_.name(), 0});
    for (const Node* node : order_)
      connect(*node);
    for (ProgramNode& node : program_->nodes)
      choose_direct(node);
    count_inputs();
    TROUPE_TRY(collect_indices());
    return std::move(program_);
  }

private:
  static constexpr std::int32_t absent = -1;

  std::int32_t index(NodeId id) const { return index_[static_cast<std::size_t>(id)]; }
  std::int32_t folded(NodeId id) const { return folded_[static_cast<std::size_t>(id)]; }
  ProgramNode& at(std::int32_t n) { return program_->nodes[static_cast<std::size_t>(n)]; }

  // A Const that nothing delays is an input like any other, there from the start. A Merge counts
  // values as they come, so what feeds one stays a node.
  static bool is_foldable(const Graph& graph, const Node& node) {
    if (!node.is_op("Const") || !node.control_inputs.empty())
      return false;
    return std::none_of(node.outs.begin(), node.outs.end(),
                        [&](const OutEdge& edge) { return is_merge(*graph.node(edge.dst)); });
  }

  Result<std::int32_t> materialise(const Node& node) {
    TROUPE_ASSIGN(Tensor value, node.attrs.get<Tensor>("value"));
    if (!value.has_value() || value.dtype() != node.output_types[0])
      return invalid_argument(str_cat("constant '", node.name, "' is declared ",
                                      to_string(node.output_types[0]), ", its value is ",
                                      to_string(value.dtype())));
    if (device_.has_own_memory() && !is_object(value.dtype())) {
      auto kernel = kernels_.find("Const", node.attrs, device_.type(), node.name);
      if (!kernel.ok() || (*kernel)->options.host_outputs.empty()) {
        TROUPE_ASSIGN(value, copy_to_device(device_, value));
      }
    }
    program_->constants.push_back(std::move(value));
    return static_cast<std::int32_t>(program_->constants.size()) - 1;
  }

  Status lay_out() {
    TROUPE_ASSIGN(std::vector<NodeId> sorted, graph_.topological_order());
    TROUPE_ASSIGN(Frames frames, find_frames(graph_));
    program_->device = &device_;
    program_->has_frames = frames.has_loops();
    index_.assign(static_cast<std::size_t>(graph_.capacity()), absent);
    folded_.assign(static_cast<std::size_t>(graph_.capacity()), absent);
    std::vector<std::vector<const Node*>> by_frame(frames.frames.size());
    for (NodeId id : sorted) {
      const Node& node = *graph_.node(id);
      auto frame = static_cast<std::size_t>(frames.of_inputs(node));
      if (frame == 0 && is_foldable(graph_, node)) {
        TROUPE_ASSIGN(folded_[static_cast<std::size_t>(id)], materialise(node));
        continue;
      }
      by_frame[frame].push_back(&node);
    }
    std::int32_t slots = 0;
    for (std::size_t i = 0; i < by_frame.size(); ++i) {
      FrameLayout layout;
      layout.name = frames.frames[i].name;
      layout.name_hash = hash_name(layout.name);
      layout.first_node = static_cast<std::int32_t>(order_.size());
      layout.num_nodes = static_cast<std::int32_t>(by_frame[i].size());
      layout.first_slot = slots;
      layout.parallel_iterations = std::max(1, frames.frames[i].parallel_iterations);
      for (const Node* node : by_frame[i]) {
        index_[static_cast<std::size_t>(node->id)] = static_cast<std::int32_t>(order_.size());
        order_.push_back(node);
        slots += node->num_inputs();
      }
      layout.num_slots = slots - layout.first_slot;
      program_->frames.push_back(std::move(layout));
    }
    for (const Node* node : order_)
      if (is_enter(*node)) {
        enters_[node->id] = frames.of_node(*node);
        ++program_->frames[static_cast<std::size_t>(frames.of_node(*node))].num_enters;
      }
    auto nodes = order_.size();
    program_->nodes.resize(nodes);
    program_->initial.resize(nodes);
    program_->info.resize(nodes);
    program_->costs.reset(new std::atomic<std::uint32_t>[nodes]());
    program_->slot_constant.assign(static_cast<std::size_t>(slots), absent);
    program_->slot_source.resize(static_cast<std::size_t>(slots));
    program_->max_outputs = 2;
    return {};
  }

  // Everything about a node but its edges.
  Status fill(const Node& node) {
    ProgramNode& to = at(index(node.id));
    KernelNode& info = program_->info[static_cast<std::size_t>(index(node.id))];
    OpTraits traits = traits_of(node.op_name());
    to.kind = traits.kind;
    to.flags = static_cast<std::uint8_t>(traits.flags);
    to.num_inputs = node.num_inputs();
    to.num_outputs = node.num_outputs();
    to.first_input = next_slot_;
    next_slot_ += to.num_inputs;
    if (to.num_outputs > 0)
      to.output_type = node.output_types[0];
    program_->max_outputs = std::max(program_->max_outputs, to.num_outputs);
    info.name = node.name;
    info.schema = node.op;
    info.attrs = node.attrs;
    info.types = {node.input_types, node.output_types};
    if (node.op->allows_uninitialized_input)
      to.flags |= accepts_uninitialized;
    TROUPE_TRY(connect_inputs(node, to));
    switch (to.kind) {
    case Kind::kernel:
      return find_kernel(node, to, info);
    case Kind::constant: {
      TROUPE_ASSIGN(to.aux, materialise(node));
      return {};
    }
    case Kind::arg:
    case Kind::retval: {
      TROUPE_ASSIGN(std::int64_t number, node.attrs.get<std::int64_t>("index"));
      if (number < 0 || number > 1'000'000)
        return invalid_argument(str_cat("node '", node.name, "' has index ", number,
                                        ", expected one from 0 to 1000000"));
      to.aux = static_cast<std::int32_t>(number);
      return {};
    }
    case Kind::enter: {
      to.aux = enters_[node.id];
      if (node.attrs.get_or<bool>("is_constant", false))
        to.flags |= invariant;
      return {};
    }
    case Kind::select:
      if (to.num_inputs != 2 || to.num_outputs != 2)
        return invalid_argument(str_cat("Switch '", node.name, "' has not two inputs and outputs"));
      return {};
    default:
      return {};
    }
  }

  Status connect_inputs(const Node& node, ProgramNode& to) {
    for (std::int32_t i = 0; i < to.num_inputs; ++i) {
      Endpoint src = node.inputs[static_cast<std::size_t>(i)];
      if (src.node < 0)
        return invalid_argument(
            str_cat("input ", i, " of node '", node.name, "' is not connected"));
      auto slot = static_cast<std::size_t>(to.first_input + i);
      const Node& source = *graph_.node(src.node);
      program_->slot_source[slot] = {index(src.node), src.slot};
      if (is_ref(source.output_types[static_cast<std::size_t>(src.slot)]))
        to.flags |= reference_inputs;
      if (std::int32_t constant = folded(src.node); constant >= 0) {
        to.flags |= constant_inputs;
        program_->slot_constant[slot] = constant;
        program_->prefilled.push_back({static_cast<std::int32_t>(slot), constant});
      }
    }
    return {};
  }

  Status find_kernel(const Node& node, ProgramNode& to, KernelNode& info) {
    TROUPE_ASSIGN(info.kernel,
                  kernels_.find(node.op_name(), node.attrs, device_.type(), node.name));
    const KernelDef& kernel = *info.kernel;
    if (kernel.compute_async) {
      to.kind = Kind::async_kernel;
      to.compute_async = kernel.compute_async;
    } else {
      to.compute = kernel.compute;
      if (kernel.options.expensive)
        to.flags |= expensive;
    }
    if (kernel.options.prepare) {
      PrepareContext context(node.name, *node.op, node.attrs, info.types, device_.name());
      TROUPE_ASSIGN(info.prepared, kernel.options.prepare(context));
    }
    if (device_.has_own_memory()) {
      TROUPE_ASSIGN(info.output_in_host_memory,
                    in_host_memory(node.op->outputs, kernel.options.host_outputs, node.attrs,
                                   info.types.outputs));
    }
    return {};
  }

  // Edges out of a node, in order of output so that the last reader of each is known.
  void connect(const Node& node) {
    ProgramNode& from = at(index(node.id));
    auto& edges = program_->edges;
    from.first_edge = static_cast<std::int32_t>(edges.size());
    from.first_control = static_cast<std::int32_t>(program_->controls.size());
    for (const OutEdge& out : node.outs) {
      std::int32_t dst = index(out.dst);
      if (dst == absent)
        continue;
      bool to_merge = at(dst).kind == Kind::merge;
      if (out.is_control()) {
        program_->controls.push_back({static_cast<std::uint32_t>(dst), to_merge});
        continue;
      }
      if (from.kind == Kind::merge && out.src_slot == 1)
        from.flags |= needs_value_index;
      edges.push_back({dst, at(dst).first_input + out.dst_slot,
                       static_cast<std::uint32_t>(out.src_slot), to_merge, 0});
    }
    from.end_edge = static_cast<std::int32_t>(edges.size());
    from.end_control = static_cast<std::int32_t>(program_->controls.size());
    std::stable_sort(edges.begin() + from.first_edge, edges.end(),
                     [](const Edge& a, const Edge& b) { return a.src_slot < b.src_slot; });
    for (std::int32_t i = from.first_edge; i < from.end_edge; ++i) {
      Edge& edge = edges[static_cast<std::size_t>(i)];
      edge.last = i + 1 == from.end_edge ||
                  edges[static_cast<std::size_t>(i) + 1].src_slot != edge.src_slot;
    }
  }

  // With one reader only, a kernel's output is written where it will be read.
  void choose_direct(ProgramNode& node) {
    bool writes = node.kind == Kind::kernel || node.kind == Kind::forward;
    if (!writes || node.num_outputs != 1 || node.end_edge - node.first_edge != 1 ||
        (node.flags & may_leave_unset))
      return;
    const Edge& edge = program_->edges[static_cast<std::size_t>(node.first_edge)];
    if (!edge.to_merge)
      node.direct_slot = edge.slot;
  }

  void count_inputs() {
    auto& sources = program_->control_sources;
    for (const Node* node : order_) {
      std::int32_t n = index(node->id);
      program_->control_first.push_back(static_cast<std::int32_t>(sources.size()));
      std::int32_t controls = 0;
      for (NodeId source : node->control_inputs)
        if (index(source) != absent) {
          sources.push_back(index(source));
          ++controls;
        }
      std::int32_t data = 0;
      for (const Endpoint& input : node->inputs)
        data += folded(input.node) == absent;
      Counts& counts = program_->initial[static_cast<std::size_t>(n)];
      counts.pending = at(n).kind == Kind::merge ? 2 * controls + 1 : data + controls;
      if (counts.pending > 0)
        continue;
      if (at(n).kind == Kind::arg)
        program_->args.push_back(n);
      else
        program_->roots.push_back(n);
    }
    program_->control_first.push_back(static_cast<std::int32_t>(sources.size()));
  }

  // A _Retval's index becomes its position among those of the partition.
  Status collect_indices() {
    auto& args = program_->arg_indices;
    auto& retvals = program_->retval_indices;
    for (const ProgramNode& node : program_->nodes)
      if (node.kind == Kind::arg)
        args.push_back(node.aux);
      else if (node.kind == Kind::retval)
        retvals.push_back(node.aux);
    std::sort(args.begin(), args.end());
    std::sort(retvals.begin(), retvals.end());
    for (auto* list : {&args, &retvals})
      if (auto twice = std::adjacent_find(list->begin(), list->end()); twice != list->end())
        return invalid_argument(
            str_cat("two ", list == &args ? "_Arg" : "_Retval", " nodes have index ", *twice));
    for (ProgramNode& node : program_->nodes)
      if (node.kind == Kind::retval)
        node.aux = static_cast<std::int32_t>(
            std::lower_bound(retvals.begin(), retvals.end(), node.aux) - retvals.begin());
    return {};
  }

  const Graph& graph_;
  Device& device_;
  const KernelRegistry& kernels_;
  std::unique_ptr<Program> program_;
  std::vector<const Node*> order_;   // of the program
  std::vector<std::int32_t> index_;  // by node id: position in order_
  std::vector<std::int32_t> folded_; // by node id: constant that it became
  std::unordered_map<NodeId, int> enters_;
  std::int32_t next_slot_ = 0;
};

} // namespace

Result<std::unique_ptr<Program>> compile(const Graph& graph, Device& device,
                                         const KernelRegistry& kernels) {
  return Compiler(graph, device, kernels).run();
}

} // namespace troupe::program
