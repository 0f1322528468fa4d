#include "actors/executor/internal/compiler.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "core/base/device_name.hpp"
#include "core/base/murmur_hash.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/partition/frames.hpp"

namespace troupe::program {

namespace {

struct OpTraits {
  Kind kind = Kind::kernel;
  int flags = 0;
};

// A branch whose second input is a bool picks one of two outputs: the executor does that itself.
bool is_switch(const OpSchema& op) {
  return op.roles.has(Role::branch) && op.inputs.size() == 2 && op.outputs.size() == 2 &&
         op.inputs[1].type == DType::bool_ && op.inputs[0].number_attr.empty() &&
         op.inputs[0].type_list_attr.empty() && op.outputs[0].number_attr.empty() &&
         op.outputs[0].type_list_attr.empty();
}

OpTraits traits_of(const OpSchema& op) {
  static constexpr std::pair<Role, OpTraits> table[] = {
      {Role::no_op, {Kind::no_op, 0}},
      {Role::trigger, {Kind::no_op, runs_when_dead}},
      {Role::constant, {Kind::constant, 0}},
      {Role::argument, {Kind::arg, 0}},
      {Role::result, {Kind::retval, 0}},
      {Role::passes_on, {Kind::forward, 0}},
      {Role::merge, {Kind::merge, 0}},
      {Role::enter, {Kind::enter, 0}},
      {Role::exit, {Kind::exit, 0}},
      {Role::next_iteration, {Kind::next_iteration, 0}},
      {Role::send, {Kind::kernel, runs_when_dead}},
      {Role::receive, {Kind::kernel, runs_when_dead | may_leave_unset}},
  };
  if (op.roles.empty())
    return {};
  if (op.roles.has(Role::branch))
    return {is_switch(op) ? Kind::select : Kind::kernel, may_leave_unset};
  for (const auto& [role, traits] : table)
    if (op.roles.has(role))
      return traits;
  return {};
}

// Waits: a graph is compiled once, and not on a thread that others wait for.
Result<Tensor> copy_to_device(Device& device, const Tensor& host) {
  struct Answer {
    std::mutex lock;
    std::condition_variable there;
    std::optional<Result<Tensor>> value;
  };
  auto answer = std::make_shared<Answer>();
  device.copy_to_device(host, device.stream(), [answer](Result<Tensor> copied) {
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
      : graph_(graph), device_(device), kernels_(kernels),
        binder_(kernels, device, std::min(graph.versions.producer, graph_def_version)),
        program_(new Program) {}

  Result<std::unique_ptr<Program>> run() {
    TROUPE_TRY(lay_out());
    for (const Node* node : order_)
      if (Status status = fill(*node); !status.ok())
        return status.with_origin({node->name, node->op_name(), device_.name(), 0});
    find_controls();
    for (const Node* node : order_)
      connect(*node);
    for (ProgramNode& node : program_->nodes) {
      choose_direct(node);
      note_whether_it_spreads(node);
    }
    for (const Node* node : order_)
      if (node->has_role(Role::send))
        note_receiver(*node);
    count_inputs();
    TROUPE_TRY(collect_indices());
    program_->is_large = !program_->has_frames && bytes_of_a_step() > large_step;
    return std::move(program_);
  }

private:
  static constexpr std::int32_t absent = -1;
  static constexpr std::size_t large_step = std::size_t{8} << 20;

  std::int32_t index(NodeId id) const { return index_[static_cast<std::size_t>(id)]; }
  std::int32_t folded(NodeId id) const { return folded_[static_cast<std::size_t>(id)]; }
  ProgramNode& at(std::int32_t n) { return program_->nodes[static_cast<std::size_t>(n)]; }

  // A Const is an input like any other, there from the start; what it waits for, its readers wait
  // for. A Merge counts values as they come, so what feeds one stays a node; and so does what would
  // turn a few edges into many, or runs for its own sake.
  bool is_foldable(const Node& node) const {
    if (!node.has_role(Role::constant) || (node.outs.empty() && !node.control_inputs.empty()))
      return false;
    std::size_t controls = 0;
    for (NodeId source : node.control_inputs)
      controls += folded(source) == absent ? 1 : num_passed(source);
    if (controls > 1 && controls * node.outs.size() > controls + node.outs.size())
      return false;
    return std::none_of(node.outs.begin(), node.outs.end(),
                        [&](const OutEdge& edge) { return is_merge(*graph_.node(edge.dst)); });
  }

  // What a step goes through once, from the first node to the last.
  std::size_t bytes_of_a_step() const {
    return program_->sources.slots.size() * sizeof(Entry) +
           program_->nodes.size() * (sizeof(ProgramNode) + sizeof(Counts)) +
           program_->edges.size() * sizeof(Edge);
  }

  std::size_t num_passed(NodeId constant) const {
    auto at = waited_for_.find(constant);
    return at == waited_for_.end() ? 0 : at->second.size();
  }

  // What a folded constant waits for, itself nodes that stay.
  void note_controls(const Node& constant) {
    std::vector<NodeId> sources;
    for (NodeId source : constant.control_inputs)
      if (folded(source) == absent)
        sources.push_back(source);
      else if (auto at = waited_for_.find(source); at != waited_for_.end())
        sources.insert(sources.end(), at->second.begin(), at->second.end());
    if (!sources.empty())
      waited_for_.emplace(constant.id, std::move(sources));
  }

  // The nodes whose end `node` waits for besides its data inputs: its own control inputs, and those
  // of the constants that it reads. What it reads from anyway is not among the latter: where that
  // is dead, so are all its outputs.
  std::vector<NodeId> controls_of(const Node& node) const {
    std::vector<NodeId> out;
    for (NodeId source : node.control_inputs)
      if (index(source) != absent)
        out.push_back(source);
    if (waited_for_.empty())
      return out;
    std::vector<NodeId> passed, known = node.control_inputs;
    auto pass_on = [&](NodeId constant) {
      if (auto at = waited_for_.find(constant); at != waited_for_.end())
        passed.insert(passed.end(), at->second.begin(), at->second.end());
    };
    for (NodeId source : node.control_inputs)
      pass_on(source);
    for (Endpoint input : node.inputs) {
      pass_on(input.node);
      known.push_back(input.node);
    }
    std::sort(passed.begin(), passed.end());
    passed.erase(std::unique(passed.begin(), passed.end()), passed.end());
    std::sort(known.begin(), known.end());
    std::set_difference(passed.begin(), passed.end(), known.begin(), known.end(),
                        std::back_inserter(out));
    return out;
  }

  Result<std::int32_t> materialise(const Node& node) {
    TROUPE_ASSIGN(Tensor value, node.attrs.get<Tensor>("value"));
    if (!value.has_value() || value.dtype() != node.output_types[0])
      return invalid_argument(str_cat("constant '", node.name, "' is declared ",
                                      to_string(node.output_types[0]), ", its value is ",
                                      to_string(value.dtype())));
    if (device_.has_own_memory() && !is_object(value.dtype())) {
      auto kernel = kernels_.find(node.op_name(), node.attrs, device_.type(), node.name);
      if (!kernel.ok() || (*kernel)->options.host_outputs.empty()) {
        TROUPE_ASSIGN(value, copy_to_device(device_, value));
      }
    }
    if (Status counted = value.settle(device_.host_side_allocator()); !counted.ok())
      return counted.with_origin({node.name, node.op_name(), device_.name(), 0});
    program_->constants.push_back(std::move(value));
    program_->constant_nodes.push_back(node.name);
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
      if (is_foldable(node)) {
        TROUPE_ASSIGN(folded_[static_cast<std::size_t>(id)], materialise(node));
        note_controls(node);
        continue;
      }
      by_frame[frame].push_back(&node);
    }
    std::int32_t slots = 0;
    for (std::size_t i = 0; i < by_frame.size(); ++i) {
      FrameLayout layout;
      layout.name = frames.frames[i].name;
      layout.name_hash = murmur_hash(layout.name);
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
      } else if (is_exit(*node)) {
        exits_[node->id] =
            program_->frames[static_cast<std::size_t>(frames.of_node(*node))].num_exits++;
      }
    auto nodes = order_.size();
    program_->nodes.resize(nodes);
    program_->initial.resize(nodes);
    program_->info.resize(nodes);
    program_->costs.reset(new std::atomic<std::uint32_t>[nodes]());
    program_->slot_constant.assign(static_cast<std::size_t>(slots), absent);
    program_->sources.slots.resize(static_cast<std::size_t>(slots));
    program_->max_outputs = 2;
    return {};
  }

  // Everything about a node but its edges.
  Status fill(const Node& node) {
    ProgramNode& to = at(index(node.id));
    KernelNode& info = program_->info[static_cast<std::size_t>(index(node.id))];
    OpTraits traits = traits_of(*node.op);
    to.kind = traits.kind;
    to.flags = static_cast<std::uint16_t>(traits.flags);
    to.num_inputs = node.num_inputs();
    to.num_outputs = node.num_outputs();
    to.first_input = next_slot_;
    next_slot_ += to.num_inputs;
    if (to.num_outputs > 0)
      to.output_type = node.output_types[0];
    program_->max_outputs = std::max(program_->max_outputs, to.num_outputs);
    if (node.op->allows_uninitialized_input)
      to.flags |= accepts_uninitialized;
    TROUPE_TRY(connect_inputs(node, to));
    if (to.kind == Kind::kernel)
      return find_kernel(node, to, info);
    info = binder_.describe(node.name, *node.op, node.attrs, node.input_types, node.output_types);
    to.io = info.io.get();
    switch (to.kind) {
    case Kind::constant: {
      TROUPE_ASSIGN(to.constant, materialise(node));
      return {};
    }
    case Kind::arg:
    case Kind::retval: {
      TROUPE_ASSIGN(std::int64_t number, node.attrs.get<std::int64_t>("index"));
      if (number < 0 || number > 1'000'000)
        return invalid_argument(str_cat("node '", node.name, "' has index ", number,
                                        ", expected one from 0 to 1000000"));
      to.index = static_cast<std::int32_t>(number);
      return {};
    }
    case Kind::enter: {
      to.opened_frame = enters_[node.id];
      if (node.attrs.get_or<bool>("is_constant", false))
        to.flags |= invariant;
      return {};
    }
    case Kind::exit:
      to.exit_number = exits_[node.id];
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
      program_->sources.slots[slot] = {index(src.node), src.slot};
      if (is_ref(source.output_types[static_cast<std::size_t>(src.slot)]))
        to.flags |= reference_inputs;
      if (std::int32_t constant = folded(src.node); constant >= 0) {
        to.flags |= constant_inputs;
        program_->slot_constant[slot] = constant;
      }
    }
    return {};
  }

  // As the client's graph has it, also where the value comes from another device.
  std::string first_input_of(const Node& node) const {
    if (node.inputs.empty() || node.inputs[0].node < 0)
      return {};
    const auto [id, slot] = node.inputs[0];
    const Node& source = *graph_.node(id);
    if (source.has_role(Role::receive)) {
      std::string name = source.attrs.get_or<std::string>("tensor_name", {});
      return name.substr(0, name.size() - (name.ends_with(":0") ? 2 : 0));
    }
    return slot == 0 ? source.name : str_cat(source.name, ":", slot);
  }

  Status find_kernel(const Node& node, ProgramNode& to, KernelNode& info) {
    TROUPE_ASSIGN(info, binder_.bind(node.name, *node.op, node.attrs, node.input_types,
                                     node.output_types, first_input_of(node)));
    to.io = info.io.get();
    const KernelDef& kernel = *info.kernel;
    if (kernel.compute_async) {
      to.kind = Kind::async_kernel;
      to.compute_async = kernel.compute_async;
    } else {
      to.compute = kernel.compute;
      if (kernel.options.expensive)
        to.flags |= expensive;
    }
    return {};
  }

  // Control edges as the program has them: by destination, and turned round by source.
  void find_controls() {
    auto& sources = program_->sources.control_nodes;
    for (const Node* node : order_) {
      program_->sources.control_first.push_back(static_cast<std::int32_t>(sources.size()));
      for (NodeId source : controls_of(*node))
        sources.push_back(index(source));
    }
    program_->sources.control_first.push_back(static_cast<std::int32_t>(sources.size()));
    first_successor_.assign(order_.size() + 1, 0);
    for (std::int32_t source : sources)
      ++first_successor_[static_cast<std::size_t>(source) + 1];
    std::partial_sum(first_successor_.begin(), first_successor_.end(), first_successor_.begin());
    successors_.resize(sources.size());
    auto next = first_successor_;
    for (std::size_t n = 0; n < order_.size(); ++n)
      for (auto i = program_->sources.control_first[n]; i < program_->sources.control_first[n + 1];
           ++i)
        successors_[next[static_cast<std::size_t>(sources[static_cast<std::size_t>(i)])]++] =
            static_cast<std::int32_t>(n);
  }

  bool reads_variable(std::int32_t n) const {
    return order_[static_cast<std::size_t>(n)]->op->roles.has_any(
        {Role::reads_variable, Role::asks_variable});
  }

  // Edges out of a node, in order of output so that the last reader of each is known. Reads of a
  // variable come before updates that nothing orders with them, whichever was made first: in
  // TensorFlow either may win, here the value is always the same.
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
      if (out.is_control())
        continue; // below
      if (from.kind == Kind::merge && out.src_slot == 1)
        from.flags |= needs_value_index;
      edges.push_back({dst, at(dst).first_input + out.dst_slot,
                       static_cast<std::uint32_t>(out.src_slot), to_merge, 0});
    }
    for (auto at_source = static_cast<std::size_t>(index(node.id)), i = first_successor_[at_source];
         i < first_successor_[at_source + 1]; ++i) {
      std::int32_t dst = successors_[i];
      program_->controls.push_back({static_cast<std::uint32_t>(dst), at(dst).kind == Kind::merge});
    }
    from.end_edge = static_cast<std::int32_t>(edges.size());
    from.end_control = static_cast<std::int32_t>(program_->controls.size());
    std::stable_sort(edges.begin() + from.first_edge, edges.end(),
                     [this](const Edge& a, const Edge& b) {
                       return std::pair(a.src_slot, !reads_variable(a.dst)) <
                              std::pair(b.src_slot, !reads_variable(b.dst));
                     });
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

  // One value that is plain memory, given to nodes that want it whatever else they get: whoever has
  // run the kernel may put that value where it is read, without a look at what its readers lack.
  void note_whether_it_spreads(ProgramNode& node) {
    constexpr int needs_owner = runs_when_dead | reference_inputs | may_leave_unset;
    if (node.kind != Kind::kernel || !(node.flags & expensive) || (node.flags & needs_owner) ||
        node.num_outputs != 1 || is_ref(node.output_type) || is_object(node.output_type))
      return;
    for (std::int32_t i = node.first_edge; i < node.end_edge; ++i)
      if (program_->edges[static_cast<std::size_t>(i)].to_merge)
        return;
    node.flags |= spreads;
  }

  // What a kernel computes for another task alone, it may write where that task will look for it.
  // A variable that another task reads may lie where that looks, whoever else reads it.
  void note_receiver(const Node& send) {
    const std::string to = task_of_device(send.attrs.get_or<std::string>("recv_device", ""));
    if (to == task_of_device(send.attrs.get_or<std::string>("send_device", "")))
      return;
    const auto number = static_cast<std::int32_t>(program_->receivers.size());
    program_->receivers.push_back(to);
    ProgramNode* node = &at(index(send.id));
    node->receiver = number;
    do {
      const std::int32_t slot = node->first_input;
      const Source source = program_->sources.slots[static_cast<std::size_t>(slot)];
      if (source.node == absent)
        return;
      node = &at(source.node);
      const bool is_only_reader = node->direct_slot == slot;
      const bool is_read = program_->info[static_cast<std::size_t>(source.node)].schema->roles.has(
          Role::reads_variable);
      if (!is_only_reader && !is_read)
        return;
      node->receiver = number;
    } while (node->kind == Kind::forward);
  }

  void count_inputs() {
    for (std::size_t n = 0; n < order_.size(); ++n) {
      std::int32_t controls =
          program_->sources.control_first[n + 1] - program_->sources.control_first[n];
      std::int32_t data = 0;
      for (const Endpoint& input : order_[n]->inputs)
        data += folded(input.node) == absent;
      ProgramNode& node = program_->nodes[n];
      Counts& counts = program_->initial[n];
      counts.pending = node.kind == Kind::merge ? 2 * controls + 1 : data + controls;
      if (counts.pending > 0)
        continue;
      (node.kind == Kind::arg ? program_->args : program_->roots)
          .push_back(static_cast<std::int32_t>(n));
    }
  }

  // A _Retval's index becomes its position among those of the partition.
  Status collect_indices() {
    auto& args = program_->arg_indices;
    auto& retvals = program_->retval_indices;
    for (const ProgramNode& node : program_->nodes)
      if (node.kind == Kind::arg)
        args.push_back(node.index);
      else if (node.kind == Kind::retval)
        retvals.push_back(node.index);
    std::sort(args.begin(), args.end());
    std::sort(retvals.begin(), retvals.end());
    for (auto* list : {&args, &retvals})
      if (auto twice = std::adjacent_find(list->begin(), list->end()); twice != list->end())
        return invalid_argument(
            str_cat("two ", list == &args ? "_Arg" : "_Retval", " nodes have index ", *twice));
    for (ProgramNode& node : program_->nodes)
      if (node.kind == Kind::retval)
        node.position = static_cast<std::int32_t>(
            std::lower_bound(retvals.begin(), retvals.end(), node.index) - retvals.begin());
    return {};
  }

  const Graph& graph_;
  Device& device_;
  const KernelRegistry& kernels_;
  KernelBinder binder_;
  std::unique_ptr<Program> program_;
  std::vector<const Node*> order_;   // of the program
  std::vector<std::int32_t> index_;  // by node id: position in order_
  std::vector<std::int32_t> folded_; // by node id: constant that it became
  std::unordered_map<NodeId, std::vector<NodeId>> waited_for_; // by folded constant, if it waits
  std::vector<std::int32_t> successors_;                       // ends of control edges, by source
  std::vector<std::size_t> first_successor_;                   // by node, one more at the end
  std::unordered_map<NodeId, int> enters_;
  std::unordered_map<NodeId, std::int32_t> exits_; ///< number among those of its frame
  std::int32_t next_slot_ = 0;
};

} // namespace

Result<std::unique_ptr<Program>> compile(const Graph& graph, Device& device,
                                         const KernelRegistry& kernels) {
  return Compiler(graph, device, kernels).run();
}

} // namespace troupe::program
