#include "actors/graph_manager/compiled_graph.hpp"

#include <algorithm>

#include "actors/executor/functions.hpp"
#include "actors/family/constant_evaluator.hpp"
#include "actors/graph_manager/memory_of_edges.hpp"
#include "actors/graph_manager/watches.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/functions/needed.hpp"
#include "graph/partition/partition.hpp"
#include "graph/passes/optimize.hpp"
#include "kernels/framework/debug_files.hpp"

namespace troupe {

SessionEnvironment::SessionEnvironment(const NodeServices& services, bool isolate) {
  for (const auto& device : services.devices.all()) {
    if (isolate)
      own_.push_back(make_isolated_device(*device));
    devices_.push_back(isolate ? own_.back().get() : device.get());
  }
}

Device* SessionEnvironment::device(std::string_view full_name) const {
  for (Device* device : devices_)
    if (device->name() == full_name)
      return device;
  return nullptr;
}

Device* SessionEnvironment::host_device() const {
  auto found = std::ranges::find_if(devices_, [](Device* d) { return !d->has_own_memory(); });
  return found == devices_.end() ? nullptr : *found;
}

void SessionEnvironment::end(const Status& why) {
  for (const auto& device : own_)
    device->resources().close(why);
}

namespace {

// What a step is given and gives is in host memory. Where a device has its own, the value goes over
// a cut edge, whose ends copy it.
Status keep_ends_in_host_memory(Graph& graph, const SessionEnvironment& environment) {
  for (Node* node : graph.nodes()) {
    if (!node->op->roles.has_any({Role::argument, Role::result}))
      continue;
    Device* device = environment.device(node->assigned_device);
    if (!device || !device->has_own_memory())
      continue;
    Device* host = environment.host_device();
    if (!host)
      return failed_precondition(str_cat("node '", node->name, "' (", node->op_name(), ") on ",
                                         device->name(),
                                         " needs a device in host memory beside it, and its task "
                                         "has none; give the task a CPU device"));
    node->assigned_device = host->name();
  }
  return {};
}

void note_feeds_and_edges(const Graph& graph, const std::string& task, CompiledGraph& out) {
  for (const Node* node : graph.nodes()) {
    auto index = static_cast<int>(node->attrs.get_or<std::int64_t>("index", 0));
    if (node->has_role(Role::argument))
      out.num_args = std::max(out.num_args, index + 1);
    else if (node->has_role(Role::result))
      out.num_retvals = std::max(out.num_retvals, index + 1);
    else if (node->op->roles.has_any(transfer_roles)) {
      out.has_cut_edges = true;
      std::string other = node->attrs.get_or<std::string>(
          node->has_role(Role::send) ? "recv_device" : "send_device", "");
      if (task_of_device(other) != task)
        out.has_remote_edges = true;
    }
  }
}

// A debugger is given the graph that it watches.
Status watch(Graph& graph, Device& device, const std::vector<DebugWatch>& watches,
             const KernelRegistry& kernels) {
  TROUPE_TRY(insert_watches(graph, device.name(), watches, kernels));
  TROUPE_ASSIGN(const std::string bytes, write_graph_bytes(graph, {.assigned_devices = true}));
  return tell_debugger_of_graph(device, urls_of(watches), bytes);
}

std::vector<CostNode::Output> outputs_of(const Node& node) {
  std::vector<CostNode::Output> out;
  for (DType type : node.output_types)
    out.push_back({-1, remove_ref(type), {}});
  if (node.has_role(Role::constant) && out.size() == 1)
    if (auto value = node.attrs.get<Tensor>("value"); value.ok()) {
      out[0].bytes = static_cast<std::int64_t>(value->byte_size());
      out[0].dims.assign(value->shape().dims().begin(), value->shape().dims().end());
    }
  return out;
}

// What costs are told of; ids count on from those of other devices.
void note_costs(const Graph& graph, std::vector<CostNode>& out) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(graph.capacity()), -1);
  auto next = static_cast<std::int32_t>(out.size());
  for (const Node* node : graph.nodes())
    ids[static_cast<std::size_t>(node->id)] = next++;
  for (const Node* node : graph.nodes()) {
    CostNode& one = out.emplace_back();
    one.name = node->name;
    one.device = node->assigned_device;
    for (Endpoint e : node->inputs)
      if (e.node >= 0)
        one.inputs.push_back({ids[static_cast<std::size_t>(e.node)], e.slot});
    for (NodeId from : node->control_inputs)
      one.control_inputs.push_back(ids[static_cast<std::size_t>(from)]);
    one.outputs = outputs_of(*node);
    one.is_final = node->has_role(Role::result) || node->outs.empty();
  }
}

Result<Graph> take_graph(RegisterGraph& request, const NodeServices& services) {
  if (request.graph)
    return request.graph.use_count() == 1 ? std::move(*request.graph) : request.graph->clone();
  ImportOptions import;
  import.allow_internal_ops = true; // from our own master
  import.limits = DecodeLimits::bounded_by(services.host_memory);
  return read_graph_bytes(request.graph_def, services.library->ops, import);
}

std::shared_ptr<Functions> functions_of(const Graph& part, Device& device,
                                        const RegisterGraph& request,
                                        const std::shared_ptr<SessionEnvironment>& environment,
                                        const Services& services) {
  FunctionsOrigin origin;
  origin.library = needed_functions(part);
  origin.device = &device;
  origin.services = services;
  origin.home = services;
  if (environment->is_isolated())
    origin.home = environment;
  origin.device_named = [environment = std::weak_ptr(environment)](std::string_view name) {
    auto locked = environment.lock();
    return locked ? locked->device(name) : nullptr;
  };
  origin.disabled_passes = request.disabled_passes;
  origin.graph_version = part.versions.producer;
  return make_functions(std::move(origin));
}

} // namespace

Result<std::shared_ptr<const CompiledGraph>>
compile_graph(RegisterGraph request, const std::shared_ptr<SessionEnvironment>& shared_environment,
              const Services& shared_services) {
  SessionEnvironment& environment = *shared_environment;
  const NodeServices& services = *shared_services;
  TROUPE_ASSIGN(Graph graph, take_graph(request, services));
  auto out = std::make_shared<CompiledGraph>();
  PartitionOptions cut;
  cut.location = device_location;
  cut.control_flow_added = true;
  cut.incarnation = [&](std::string_view name) {
    Device* device = environment.device(name);
    return device ? device->attributes().incarnation : std::uint64_t{0};
  };
  // In a GraphDef nodes carry it in the one device field.
  for (Node* node : graph.nodes())
    if (node->assigned_device.empty())
      node->assigned_device = node->device;
  TROUPE_TRY(keep_ends_in_host_memory(graph, environment));
  TROUPE_ASSIGN(auto partitions, partition(std::move(graph), cut));
  for (auto& [device_name, part] : partitions) {
    Device* device = environment.device(device_name);
    if (!device)
      return invalid_argument(str_cat("a graph for ", services.task, " has nodes on ", device_name,
                                      ", which is none of its devices"));
    if (request.optimize) {
      KernelConstantEvaluator evaluator(services);
      OptimizeOptions options;
      options.disabled = request.disabled_passes;
      options.evaluator = &evaluator;
      for (const Node* node : part.nodes())
        if (node->op_name().starts_with('_'))
          options.preserve.push_back(node->name);
      for (const Node* node : part.nodes()) // what nothing reads is there to be run
        if (node->outs.empty())
          options.preserve.push_back(node->name);
      TROUPE_TRY(optimize(part, options));
    }
    if (!request.watches.empty())
      TROUPE_TRY(watch(part, *device, request.watches, services.library->kernels));
    if (request.wants_costs)
      note_costs(part, out->cost_nodes);
    note_feeds_and_edges(part, services.task, *out);
    TROUPE_TRY(copy_between_memories(part, *device, *services.library));
    CompileOptions options;
    options.use_compute_threads = services.threads->are_real();
    options.functions = functions_of(part, *device, request, shared_environment, shared_services);
    TROUPE_ASSIGN(auto executable,
                  Executable::compile(part, *device, services.library->kernels, options));
    out->executables.push_back(std::move(executable));
  }
  return std::shared_ptr<const CompiledGraph>(std::move(out));
}

} // namespace troupe
