#include "actors/master_session/client_graph.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "actors/family/constant_evaluator.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/functions/lower.hpp"
#include "graph/functions/needed.hpp"
#include "graph/op/infer.hpp"
#include "graph/partition/partition.hpp"
#include "graph/partition/recv_schedule.hpp"
#include "graph/passes/collective_devices.hpp"
#include "graph/passes/late_reads.hpp"
#include "graph/passes/optimize.hpp"
#include "graph/placement/place.hpp"
#include "kernels/framework/no_kernel.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

namespace {

Result<PlacementOptions> placement_options(const ClientGraphRequest& request,
                                           const NodeServices& services) {
  PlacementOptions options;
  for (const DeviceAttributes& device : request.devices) {
    TROUPE_ASSIGN(DeviceName name, DeviceName::parse(device.name));
    options.devices.push_back({std::move(name), device.type, device.incarnation});
  }
  const KernelRegistry& kernels = services.library->kernels;
  options.supported_types = [&kernels](const Node& node) -> Result<std::vector<std::string>> {
    auto types = kernels.device_types(node.op_name(), node.attrs);
    if (types.empty()) // matters if a step runs it: check_kernels
      types = {"CPU"};
    return types;
  };
  options.own_task = services.task;
  options.allow_soft_placement = request.settings->allow_soft_placement;
  options.log_device_placement = request.settings->log_device_placement;
  return options;
}

std::uint64_t incarnation_of(const std::vector<DeviceAttributes>& devices, std::string_view name) {
  for (const DeviceAttributes& device : devices)
    if (device.name == name)
      return device.incarnation;
  return 0;
}

// Of what a step runs, every node has a kernel on some device type. The first that has none is told
// in TensorFlow's words, other ops after it.
Status check_kernels(const Graph& graph, const ClientGraphRequest& request,
                     const KernelRegistry& kernels) {
  Status out;
  Origin origin;
  std::set<std::string_view> others;
  std::string_view first;
  for (const Node* node : graph.nodes()) {
    if (!kernels.device_types(node->op_name(), node->attrs).empty())
      continue;
    if (!out.ok()) {
      if (node->op_name() != first)
        others.insert(node->op_name());
      continue;
    }
    std::set<std::string> types;
    for (const DeviceAttributes& device : request.devices)
      types.insert(device.type);
    first = node->op_name();
    out = no_kernel(kernels, first, node->attrs, node->name, {types.begin(), types.end()});
    origin = {node->name, std::string(first), node->assigned_device, 0};
  }
  if (!others.empty())
    out =
        Status(out.code(), str_cat(out.message(), "The step has other ops without a kernel, too: ",
                                   str_join(others, ", "), "\n"));
  return out.ok() ? out : out.with_origin(std::move(origin));
}

// A part's feeds and fetches keep the signature's numbers until here; from now on they have the
// part's own.
void renumber(Graph& graph, ClientPart& part) {
  for (Node* node : graph.nodes()) {
    bool is_arg = node->has_role(Role::argument);
    if (!is_arg && !node->has_role(Role::result))
      continue;
    auto& indices = is_arg ? part.feed_of : part.fetch_of;
    auto index = static_cast<int>(node->attrs.get_or<std::int64_t>("index", 0));
    node->attrs.set("index", static_cast<std::int64_t>(indices.size()));
    indices.push_back(index);
    if (!is_arg)
      part.retvals.push_back(node->name);
  }
}

// What a fed tensor's placeholder says of its shape; of anything else, nothing.
PartialShape shape_of_feed(const Graph& graph, const std::string& feed) {
  auto name = parse_tensor_name(feed);
  const Node* node = name.ok() ? graph.find(name->node) : nullptr;
  if (!node || !node->has_role(Role::placeholder))
    return {};
  auto shape = node->attrs.get_or<PartialShape>("shape", {});
  // Before version 24 a scalar meant that nothing was said.
  return shape.rank() == 0 && graph.versions.producer < 24 ? PartialShape() : shape;
}

// Where the client's ends that the graph has meet the client.
void note_client_ends(const Graph& graph, const ClientGraphRequest& request,
                      ClientGraphParts& out) {
  const ClientEnds& ends = *request.client_ends;
  std::unordered_map<std::string, std::string> keys;
  for (const Node* node : graph.nodes())
    if (node->op->roles.has_any(transfer_roles)) {
      auto name = node->attrs.get_or<std::string>("tensor_name", "");
      keys[name] = rendezvous_key(ends.device, ends.incarnation, ends.device, name, 0, 0);
    }
  for (const std::string& feed : request.signature.feeds)
    out.feed_keys.push_back(keys[feed]);
  for (const std::string& fetch : request.signature.fetches)
    out.fetch_keys.push_back(keys[fetch]);
}

bool is_on_one_device(const Graph& graph) {
  auto nodes = graph.nodes();
  return std::ranges::all_of(nodes, [&](const Node* node) {
    return node->assigned_device == nodes.front()->assigned_device;
  });
}

std::shared_ptr<const PlacedDevices> devices_of(const Graph& graph,
                                                std::shared_ptr<const Graph> lowered) {
  auto out = std::make_shared<PlacedDevices>();
  out->graph = std::move(lowered);
  out->of.assign(static_cast<std::size_t>(graph.capacity()), -1);
  std::unordered_map<std::string_view, std::int32_t> known;
  for (const Node* node : graph.nodes()) {
    auto [entry, is_new] =
        known.try_emplace(node->assigned_device, static_cast<std::int32_t>(known.size()));
    if (is_new)
      out->names.push_back(node->assigned_device);
    out->of[static_cast<std::size_t>(node->id)] = entry->second;
  }
  return out;
}

// The graph itself if it calls no function.
Result<std::shared_ptr<const Graph>> lowered(const std::shared_ptr<const Graph>& full,
                                             const NodeServices& services) {
  if (!has_function_calls(*full))
    return full;
  auto graph = std::make_shared<Graph>(full->clone());
  TROUPE_TRY(lower_functions(*graph, {.memory = services.host_memory}));
  return std::shared_ptr<const Graph>(std::move(graph));
}

Result<std::shared_ptr<const Graph>> lowered_graph(const ClientGraphRequest& request,
                                                   const NodeServices& services) {
  if (request.placed)
    return request.placed->graph;
  return lowered(request.full, services);
}

Status place_nodes(Graph& graph, const ClientGraphRequest& request, const NodeServices& services) {
  if (!request.assigned->empty())
    for (Node* node : graph.nodes())
      if (auto it = request.assigned->find(node->name); it != request.assigned->end())
        node->assigned_device = it->second;
  TROUPE_ASSIGN(PlacementOptions options, placement_options(request, services));
  return place(graph, options);
}

Result<Graph> place_lowered(const Graph& full, const ClientGraphRequest& request,
                            const NodeServices& services) {
  Graph graph = full.clone();
  if (const PlacedDevices* placed = request.placed.get()) {
    for (Node* node : graph.nodes())
      node->assigned_device =
          placed->names[static_cast<std::size_t>(placed->of[static_cast<std::size_t>(node->id)])];
    return graph;
  }
  TROUPE_TRY(place_nodes(graph, request, services));
  return graph;
}

std::vector<std::pair<std::string, std::string>> state_of(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Node* node : graph.nodes())
    if (node->op->is_stateful)
      out.emplace_back(node->name, node->assigned_device);
  return out;
}

// What is known of each output's shape stands at its node, for whoever looks at the parts.
Status note_shapes(Graph& graph) {
  TROUPE_ASSIGN(auto order, graph.topological_order());
  std::vector<std::vector<PartialShape>> known(static_cast<std::size_t>(graph.capacity()));
  for (NodeId id : order) {
    Node& node = *graph.node(id);
    std::vector<PartialShape> inputs;
    std::vector<Tensor> values;
    for (Endpoint e : node.inputs) {
      const auto& of_source =
          known[static_cast<std::size_t>(e.node)]; // none yet: a loop's way back
      const auto slot = static_cast<std::size_t>(e.slot);
      inputs.push_back(slot < of_source.size() ? of_source[slot] : PartialShape());
      const Node& source = *graph.node(e.node);
      values.push_back(source.has_role(Role::constant) ? source.attrs.get_or<Tensor>("value", {})
                                                       : Tensor());
    }
    auto shapes = infer_shapes(*node.op, node.attrs, std::move(inputs), std::move(values));
    auto& out = known[static_cast<std::size_t>(id)];
    out = shapes.ok() ? *std::move(shapes) : std::vector<PartialShape>(); // the kernel will say why
    out.resize(static_cast<std::size_t>(node.num_outputs()));
    if (!out.empty())
      node.attrs.set("_output_shapes", out);
  }
  return {};
}

std::vector<std::int64_t> starts_of(const Graph& graph, const ClientGraphRequest& request) {
  return estimate_starts(graph, [&](const Node& node) -> std::int64_t {
    auto known = request.costs ? request.costs->find(node.name) : decltype(request.costs->end()){};
    return request.costs && known != request.costs->end() ? known->second : 1;
  });
}

// The graph of one signature, every node with its device.
Result<Graph> prune_and_place(const ClientGraphRequest& request, const NodeServices& services,
                              ClientGraphParts& out) {
  const ClientEnds* ends = request.client_ends ? &*request.client_ends : nullptr;
  TROUPE_ASSIGN(auto full, lowered_graph(request, services));
  const bool only_what_runs = request.settings->place_pruned;
  TROUPE_ASSIGN(Graph graph, only_what_runs ? Result<Graph>(full->clone())
                                            : place_lowered(*full, request, services));
  if (!only_what_runs) {
    out.placed = request.placed;
    if (!out.placed) {
      out.placed = devices_of(graph, full);
      out.assigned = state_of(graph);
    }
  }
  for (const std::string& feed : request.signature.feeds)
    out.feed_shapes.push_back(shape_of_feed(graph, feed));
  TROUPE_ASSIGN(PrunedTypes types, prune(graph, request.signature, ends));
  out.feed_types = std::move(types.feeds);
  if (only_what_runs) {
    TROUPE_TRY(place_nodes(graph, request, services));
    out.assigned = state_of(graph);
  }
  return graph;
}

Status optimize_client_graph(Graph& graph, const ClientGraphRequest& request,
                             const NodeServices& services) {
  KernelConstantEvaluator evaluator(services);
  OptimizeOptions options;
  options.disabled = request.settings->disabled_passes;
  options.enabled = request.settings->enabled_passes;
  options.evaluator = &evaluator;
  if (request.unwanted)
    options.should_stop = [&unwanted = *request.unwanted] { return unwanted.load(); };
  for (const Node* node : graph.nodes())
    if (node->op->roles.has_any({Role::argument, Role::result, Role::send, Role::receive}))
      options.preserve.push_back(node->name);
  for (const std::string& target : request.signature.targets)
    if (auto name = parse_tensor_name(target); name.ok())
      options.preserve.emplace_back(name->node);
  return optimize(graph, options);
}

} // namespace

Result<Graph> place_full_graph(const ClientGraphRequest& request, const NodeServices& services) {
  TROUPE_ASSIGN(auto full, lowered_graph(request, services));
  return place_lowered(*full, request, services);
}

Result<PlacedGraph> place_for_later(const ClientGraphRequest& request,
                                    const NodeServices& services) {
  TROUPE_ASSIGN(auto full, lowered_graph(request, services));
  TROUPE_ASSIGN(Graph graph, place_lowered(*full, request, services));
  return PlacedGraph{devices_of(graph, full), state_of(graph)};
}

Result<ClientGraphParts> build_client_graph(const ClientGraphRequest& request,
                                            const NodeServices& services) {
  ClientGraphParts out;
  if (request.client_ends && request.client_ends->device.empty())
    return failed_precondition(
        "a partial run needs a CPU of the master's own task, and this session "
        "uses none; let its device filters admit one");
  TROUPE_ASSIGN(Graph graph, prune_and_place(request, services, out));
  read_references_late(graph);
  graph.functions = needed_functions(graph);
  TROUPE_TRY(check_kernels(graph, request, services.library->kernels));
  if (request.client_ends)
    note_client_ends(graph, request, out);
  const bool optimizes =
      request.settings->optimize && !request.is_watched && request.edge_mark.empty();
  if (optimizes)
    TROUPE_TRY(optimize_client_graph(graph, request, services));
  note_collective_devices(graph);
  if (request.settings->infer_shapes)
    TROUPE_TRY(note_shapes(graph));
  PartitionOptions cut;
  cut.location = task_location;
  cut.incarnation = [&](std::string_view device) {
    return incarnation_of(request.devices, device);
  };
  cut.edge_mark = request.edge_mark;
  cut.send_floats_as_bfloat16 = request.settings->bfloat16_sendrecv;
  if (request.settings->recv_scheduling)
    cut.starts = starts_of(graph, request);
  TROUPE_ASSIGN(auto partitions, partition(std::move(graph), cut));
  for (auto& [task, part_graph] : partitions) {
    ClientPart part;
    part.task = task;
    part.is_final = optimizes && partitions.size() == 1 && is_on_one_device(part_graph);
    out.num_nodes += part_graph.num_nodes();
    renumber(part_graph, part);
    part_graph.functions = needed_functions(part_graph);
    if (task == request.own_task) {
      part.graph = std::make_shared<Graph>(std::move(part_graph));
    } else {
      TROUPE_ASSIGN(part.graph_def, write_graph_bytes(part_graph, {.assigned_devices = true}));
    }
    out.parts.push_back(std::move(part));
  }
  return out;
}

} // namespace troupe
