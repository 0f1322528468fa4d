#include "graph/convert/options.hpp"

#include <algorithm>
#include <tuple>

#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"
#include "proto/config.pb.h"
#include "proto/graph.pb.h"

namespace troupe {

namespace {

using tensorflow::RewriterConfig;

// Switches of the rewriter by name.
struct Switch {
  const char* name;
  RewriterConfig::Toggle (RewriterConfig::*get)() const;
  void (RewriterConfig::*set)(RewriterConfig::Toggle);
};
#define TROUPE_SWITCH(name)                                                                        \
  Switch {                                                                                         \
#name, &RewriterConfig::name, &RewriterConfig::set_##name                                      \
  }
constexpr Switch switches[] = {
    TROUPE_SWITCH(layout_optimizer),
    TROUPE_SWITCH(constant_folding),
    TROUPE_SWITCH(arithmetic_optimization),
    TROUPE_SWITCH(dependency_optimization),
    TROUPE_SWITCH(loop_optimization),
    TROUPE_SWITCH(function_optimization),
    TROUPE_SWITCH(debug_stripper),
    TROUPE_SWITCH(shape_optimization),
    TROUPE_SWITCH(remapping),
    TROUPE_SWITCH(scoped_allocator_optimization),
    TROUPE_SWITCH(pin_to_host_optimization),
    TROUPE_SWITCH(implementation_selector),
    TROUPE_SWITCH(common_subgraph_elimination),
};
#undef TROUPE_SWITCH

void read_rewriter(const RewriterConfig& rewriter, SessionOptions& out) {
  for (const Switch& one : switches)
    if ((rewriter.*one.get)() == RewriterConfig::OFF)
      out.disabled_passes.emplace_back(one.name);
  if (rewriter.debug_stripper() == RewriterConfig::ON)
    out.enabled_passes.emplace_back("debug_stripper");
  if (rewriter.disable_model_pruning())
    out.disabled_passes.emplace_back("model_pruning");
  if (rewriter.disable_meta_optimizer())
    out.disabled_passes.emplace_back("meta_optimizer");
  out.only_passes.assign(rewriter.optimizers().begin(), rewriter.optimizers().end());
}

void write_rewriter(const SessionOptions& options, RewriterConfig& rewriter) {
  for (const std::string& name : options.disabled_passes) {
    for (const Switch& one : switches)
      if (name == one.name)
        (rewriter.*one.set)(RewriterConfig::OFF);
    if (name == "model_pruning")
      rewriter.set_disable_model_pruning(true);
    if (name == "meta_optimizer")
      rewriter.set_disable_meta_optimizer(true);
  }
  if (std::ranges::find(options.enabled_passes, "debug_stripper") != options.enabled_passes.end())
    rewriter.set_debug_stripper(RewriterConfig::ON);
  for (const std::string& name : options.only_passes)
    rewriter.add_optimizers(name);
}

// Reads op, inputs and detail of "name = op(inputs) detail", as to_proto and TensorFlow write it.
void read_label(const std::string& label, NodeStats& stats) {
  const auto equals = label.find(" = ");
  const auto open = label.find('(', equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || open == std::string::npos) {
    stats.detail = label;
    return;
  }
  stats.op = label.substr(equals + 3, open - equals - 3);
  const auto close = label.find(')', open);
  if (close == std::string::npos)
    return;
  std::string_view inputs = std::string_view(label).substr(open + 1, close - open - 1);
  for (std::string_view one : str_split(inputs, ',')) {
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (!one.empty())
      stats.inputs.emplace_back(one);
  }
  stats.detail = close + 2 < label.size() ? label.substr(close + 2) : "";
}

} // namespace

SessionOptions from_proto(const tensorflow::ConfigProto& proto) {
  SessionOptions out;
  for (const auto& [type, count] : proto.device_count())
    out.device_count[type] = count;
  out.intra_op_threads = proto.intra_op_parallelism_threads();
  out.inter_op_threads = proto.inter_op_parallelism_threads();
  out.per_session_threads = proto.use_per_session_threads();
  for (const auto& pool : proto.session_inter_op_thread_pool())
    out.thread_pools.push_back({pool.num_threads(), pool.global_name()});
  out.placement_period = proto.placement_period();
  out.device_filters.assign(proto.device_filters().begin(), proto.device_filters().end());
  out.allow_soft_placement = proto.allow_soft_placement();
  out.log_device_placement = proto.log_device_placement();
  out.isolate_session_state = proto.isolate_session_state();
  out.operation_timeout_ms = proto.operation_timeout_in_ms();
  for (const auto& job : proto.cluster_def().job())
    for (const auto& [task, address] : job.tasks())
      out.cluster.push_back({job.name(), task, address});
  std::sort(out.cluster.begin(), out.cluster.end(), [](const auto& a, const auto& b) {
    return std::tie(a.job, a.task) < std::tie(b.job, b.task);
  });

  const auto& graph = proto.graph_options();
  out.opt_level = graph.optimizer_options().opt_level();
  read_rewriter(graph.rewrite_options(), out);
  out.infer_shapes = graph.infer_shapes();
  out.place_pruned_graph = graph.place_pruned_graph();
  out.bfloat16_sendrecv = graph.enable_bfloat16_sendrecv();
  out.recv_scheduling = graph.enable_recv_scheduling();
  out.cost_model_every = graph.build_cost_model();
  out.cost_model_after = graph.build_cost_model_after();
  out.timeline_every = graph.timeline_step();
  out.shares_state_in_own_cluster =
      proto.experimental().share_session_state_in_clusterspec_propagation();
  out.optimize_for_static_graph = proto.experimental().optimize_for_static_graph();
  out.disable_output_partition_graphs = proto.experimental().disable_output_partition_graphs();

  out.gpu_memory_fraction = proto.gpu_options().per_process_gpu_memory_fraction();
  out.gpu_allow_growth = proto.gpu_options().allow_growth();
  out.visible_gpus = proto.gpu_options().visible_device_list();
  out.collective_group_leader = proto.experimental().collective_group_leader();
  out.session_name = proto.experimental().session_metadata().name();
  out.session_version = proto.experimental().session_metadata().version();
  return out;
}

void to_proto(const SessionOptions& options, tensorflow::ConfigProto& proto) {
  proto.Clear();
  for (const auto& [type, count] : options.device_count)
    (*proto.mutable_device_count())[type] = count;
  proto.set_intra_op_parallelism_threads(options.intra_op_threads);
  proto.set_inter_op_parallelism_threads(options.inter_op_threads);
  proto.set_use_per_session_threads(options.per_session_threads);
  for (const ThreadPoolOptions& pool : options.thread_pools) {
    auto& out = *proto.add_session_inter_op_thread_pool();
    out.set_num_threads(pool.threads);
    out.set_global_name(pool.name);
  }
  proto.set_placement_period(options.placement_period);
  for (const std::string& filter : options.device_filters)
    proto.add_device_filters(filter);
  proto.set_allow_soft_placement(options.allow_soft_placement);
  proto.set_log_device_placement(options.log_device_placement);
  proto.set_isolate_session_state(options.isolate_session_state);
  proto.set_operation_timeout_in_ms(options.operation_timeout_ms);
  for (const ClusterTask& task : options.cluster) {
    auto& jobs = *proto.mutable_cluster_def()->mutable_job();
    auto job = std::find_if(jobs.begin(), jobs.end(),
                            [&](const auto& one) { return one.name() == task.job; });
    auto& into = job == jobs.end() ? *jobs.Add() : *job;
    into.set_name(task.job);
    (*into.mutable_tasks())[task.task] = task.address;
  }

  auto& graph = *proto.mutable_graph_options();
  graph.mutable_optimizer_options()->set_opt_level(
      static_cast<tensorflow::OptimizerOptions::Level>(options.opt_level));
  write_rewriter(options, *graph.mutable_rewrite_options());
  graph.set_infer_shapes(options.infer_shapes);
  graph.set_place_pruned_graph(options.place_pruned_graph);
  graph.set_enable_bfloat16_sendrecv(options.bfloat16_sendrecv);
  graph.set_enable_recv_scheduling(options.recv_scheduling);
  graph.set_build_cost_model(options.cost_model_every);
  graph.set_build_cost_model_after(options.cost_model_after);
  graph.set_timeline_step(options.timeline_every);

  auto& gpu = *proto.mutable_gpu_options();
  gpu.set_per_process_gpu_memory_fraction(options.gpu_memory_fraction);
  gpu.set_allow_growth(options.gpu_allow_growth);
  gpu.set_visible_device_list(options.visible_gpus);
  auto& experimental = *proto.mutable_experimental();
  experimental.set_share_session_state_in_clusterspec_propagation(
      options.shares_state_in_own_cluster);
  experimental.set_optimize_for_static_graph(options.optimize_for_static_graph);
  experimental.set_disable_output_partition_graphs(options.disable_output_partition_graphs);
  experimental.set_collective_group_leader(options.collective_group_leader);
  if (!options.session_name.empty() || options.session_version) {
    experimental.mutable_session_metadata()->set_name(options.session_name);
    experimental.mutable_session_metadata()->set_version(options.session_version);
  }
}

RunOptions from_proto(const tensorflow::RunOptions& proto) {
  RunOptions out;
  out.trace_level = static_cast<TraceLevel>(std::clamp<int>(proto.trace_level(), 0, 3));
  out.timeout_ms = proto.timeout_in_ms();
  out.inter_op_thread_pool = proto.inter_op_thread_pool();
  out.output_partition_graphs = proto.output_partition_graphs();
  out.report_allocations_upon_oom = proto.report_tensor_allocations_upon_oom();
  out.collective_graph_key = proto.experimental().collective_graph_key();
  out.priority = proto.experimental().run_handler_pool_options().priority();
  const auto& debug = proto.debug_options();
  for (const auto& watch : debug.debug_tensor_watch_opts())
    if (!watch.debug_urls().empty() && !watch.debug_ops().empty()) // without, nobody looks
      out.debug.watches.push_back({watch.node_name(),
                                   watch.output_slot(),
                                   {watch.debug_ops().begin(), watch.debug_ops().end()},
                                   {watch.debug_urls().begin(), watch.debug_urls().end()},
                                   watch.tolerate_debug_op_creation_failures()});
  out.debug.global_step = debug.global_step();
  out.debug.reset_disk_usage = debug.reset_disk_byte_usage();
  return out;
}

void to_proto(const RunOptions& options, tensorflow::RunOptions& proto) {
  proto.Clear();
  proto.set_trace_level(static_cast<tensorflow::RunOptions::TraceLevel>(options.trace_level));
  proto.set_timeout_in_ms(options.timeout_ms);
  proto.set_inter_op_thread_pool(options.inter_op_thread_pool);
  proto.set_output_partition_graphs(options.output_partition_graphs);
  proto.set_report_tensor_allocations_upon_oom(options.report_allocations_upon_oom);
  if (options.collective_graph_key)
    proto.mutable_experimental()->set_collective_graph_key(options.collective_graph_key);
  if (options.priority)
    proto.mutable_experimental()->mutable_run_handler_pool_options()->set_priority(
        options.priority);
  if (options.debug == DebugOptions())
    return;
  auto& debug = *proto.mutable_debug_options();
  for (const DebugWatch& watch : options.debug.watches) {
    auto& out = *debug.add_debug_tensor_watch_opts();
    out.set_node_name(watch.node);
    out.set_output_slot(watch.slot);
    for (const std::string& op : watch.ops)
      out.add_debug_ops(op);
    for (const std::string& url : watch.urls)
      out.add_debug_urls(url);
    out.set_tolerate_debug_op_creation_failures(watch.tolerates_failures);
  }
  debug.set_global_step(options.debug.global_step);
  debug.set_reset_disk_byte_usage(options.debug.reset_disk_usage);
}

CallableOptions from_proto(const tensorflow::CallableOptions& proto) {
  CallableOptions out;
  out.feeds.assign(proto.feed().begin(), proto.feed().end());
  out.fetches.assign(proto.fetch().begin(), proto.fetch().end());
  out.targets.assign(proto.target().begin(), proto.target().end());
  for (const auto& connection : proto.tensor_connection())
    out.connections.emplace_back(connection.from_tensor(), connection.to_tensor());
  out.options = from_proto(proto.run_options());
  out.names_devices = !proto.feed_devices().empty() || !proto.fetch_devices().empty();
  return out;
}

DeviceStats from_proto(const tensorflow::DeviceStepStats& device) {
  DeviceStats out{device.device(), {}};
  for (const auto& node : device.node_stats()) {
    NodeStats& stats = out.nodes.emplace_back();
    stats.node = node.node_name();
    read_label(node.timeline_label(), stats);
    stats.start_us = node.all_start_micros();
    stats.end_us = node.all_start_micros() + node.all_end_rel_micros();
    stats.thread_id = node.thread_id();
    for (const auto& output : node.output()) {
      const auto& tensor = output.tensor_description();
      OutputStats one{output.slot(), static_cast<DType>(tensor.dtype()), {}, 0};
      const auto& memory = tensor.allocation_description();
      one.bytes = memory.requested_bytes();
      one.allocated = memory.allocated_bytes();
      one.address = memory.ptr();
      one.is_alone = memory.has_single_reference();
      for (const auto& dim : tensor.shape().dim())
        one.dims.push_back(dim.size());
      stats.bytes += one.bytes;
      stats.outputs.push_back(std::move(one));
    }
  }
  return out;
}

StepStats from_proto(const tensorflow::StepStats& proto) {
  StepStats out;
  for (const auto& device : proto.dev_stats())
    out.devices.push_back(from_proto(device));
  return out;
}

void to_proto(const StepStats& stats, tensorflow::StepStats& proto) {
  proto.Clear();
  for (const DeviceStats& device : stats.devices) {
    auto& one = *proto.add_dev_stats();
    one.set_device(device.device);
    for (const NodeStats& node : device.nodes) {
      auto& out = *one.add_node_stats();
      out.set_node_name(node.node);
      out.set_timeline_label(str_cat(node.node, " = ", node.op, "(", str_join(node.inputs, ", "),
                                     ")", node.detail.empty() ? "" : " ", node.detail));
      // What begins and ends at once would be of no size to who adds up what lives at a time.
      std::int64_t duration = std::max<std::int64_t>(node.end_us - node.start_us, 1);
      out.set_all_start_micros(node.start_us);
      out.set_scheduled_micros(node.start_us);
      out.set_op_end_rel_micros(duration);
      out.set_all_end_rel_micros(duration);
      out.set_all_start_nanos(node.start_us * 1000);
      out.set_scheduled_nanos(node.start_us * 1000);
      out.set_op_end_rel_nanos(duration * 1000);
      out.set_all_end_rel_nanos(duration * 1000);
      out.set_thread_id(node.thread_id);
      if (node.bytes) { // TensorFlow's profiler shows no node without
        auto& memory = *out.add_memory();
        memory.set_allocator_name(device.device.find("GPU") == std::string::npos ? "cpu"
                                                                                 : "GPU_bfc");
        memory.set_total_bytes(node.bytes);
        memory.set_peak_bytes(node.bytes);
        std::int64_t live = 0;
        for (const OutputStats& output : node.outputs)
          live += output.is_alone ? output.bytes : 0;
        memory.set_live_bytes(live);
      }
      if (node.bytes && node.outputs.empty())
        out.add_output()
            ->mutable_tensor_description()
            ->mutable_allocation_description()
            ->set_requested_bytes(node.bytes);
      for (const OutputStats& output : node.outputs) {
        auto& one = *out.add_output();
        one.set_slot(output.slot);
        auto& tensor = *one.mutable_tensor_description();
        tensor.set_dtype(static_cast<tensorflow::DataType>(output.dtype));
        for (std::int64_t dim : output.dims)
          tensor.mutable_shape()->add_dim()->set_size(dim);
        tensor.mutable_shape(); // a scalar's is there, too
        auto& memory = *tensor.mutable_allocation_description();
        memory.set_requested_bytes(output.bytes);
        memory.set_allocated_bytes(output.allocated);
        memory.set_allocator_name("cpu");
        memory.set_has_single_reference(output.is_alone);
        memory.set_ptr(output.address);
      }
    }
  }
}

std::vector<CostNode> from_proto(const tensorflow::CostGraphDef& proto) {
  std::vector<CostNode> out;
  for (const auto& node : proto.node()) {
    CostNode& one = out.emplace_back();
    one.name = node.name();
    one.device = node.device();
    for (const auto& input : node.input_info())
      one.inputs.push_back({input.preceding_node(), input.preceding_port()});
    one.control_inputs.assign(node.control_input().begin(), node.control_input().end());
    for (const auto& output : node.output_info()) {
      CostNode::Output& value = one.outputs.emplace_back();
      value.bytes = output.size();
      value.dtype = static_cast<DType>(output.dtype());
      for (const auto& dim : output.shape().dim())
        value.dims.push_back(dim.size());
    }
    one.compute_us = node.compute_cost();
    one.is_final = node.is_final();
  }
  return out;
}

void to_proto(const std::vector<CostNode>& nodes, tensorflow::CostGraphDef& proto) {
  proto.Clear();
  for (const CostNode& node : nodes) {
    auto& one = *proto.add_node();
    one.set_name(node.name);
    one.set_device(node.device);
    one.set_id(proto.node_size() - 1);
    for (const CostNode::Input& input : node.inputs) {
      auto& from = *one.add_input_info();
      from.set_preceding_node(input.node);
      from.set_preceding_port(input.slot);
    }
    for (std::int32_t id : node.control_inputs)
      one.add_control_input(id);
    for (const CostNode::Output& output : node.outputs) {
      auto& value = *one.add_output_info();
      value.set_size(output.bytes);
      value.set_alias_input_port(-1);
      value.set_dtype(static_cast<tensorflow::DataType>(output.dtype));
      if (output.bytes < 0)
        value.mutable_shape()->set_unknown_rank(true);
      for (std::int64_t dim : output.dims)
        value.mutable_shape()->add_dim()->set_size(dim);
    }
    one.set_compute_cost(node.compute_us);
    one.set_is_final(node.is_final);
  }
}

RunMetadata from_proto(const tensorflow::RunMetadata& proto) {
  RunMetadata out;
  out.step_stats = from_proto(proto.step_stats());
  for (const auto& graph : proto.partition_graphs())
    out.partition_graphs.push_back(to_bytes(graph));
  out.cost_graph = from_proto(proto.cost_graph());
  return out;
}

Status to_proto(const RunMetadata& metadata, tensorflow::RunMetadata& proto) {
  proto.Clear();
  if (!metadata.step_stats.devices.empty())
    to_proto(metadata.step_stats, *proto.mutable_step_stats());
  if (!metadata.cost_graph.empty())
    to_proto(metadata.cost_graph, *proto.mutable_cost_graph());
  for (const std::string& bytes : metadata.partition_graphs)
    TROUPE_TRY(parse_bytes(bytes, *proto.add_partition_graphs()));
  return {};
}

Result<SessionOptions> session_options_from_bytes(std::string_view bytes) {
  tensorflow::ConfigProto proto;
  TROUPE_TRY(parse_bytes(bytes, proto));
  return from_proto(proto);
}

Result<std::string> session_config_from_text(std::string_view text) {
  tensorflow::ConfigProto proto;
  TROUPE_TRY(parse_text(text, proto));
  return to_bytes(proto);
}

std::string to_bytes(const SessionOptions& options) {
  tensorflow::ConfigProto proto;
  to_proto(options, proto);
  return to_bytes(proto);
}

Result<RunOptions> run_options_from_bytes(std::string_view bytes) {
  tensorflow::RunOptions proto;
  TROUPE_TRY(parse_bytes(bytes, proto));
  return from_proto(proto);
}

std::string to_bytes(const RunOptions& options) {
  tensorflow::RunOptions proto;
  to_proto(options, proto);
  return to_bytes(proto);
}

Result<CallableOptions> callable_options_from_bytes(std::string_view bytes) {
  tensorflow::CallableOptions proto;
  TROUPE_TRY(parse_bytes(bytes, proto));
  return from_proto(proto);
}

Result<RunMetadata> run_metadata_from_bytes(std::string_view bytes) {
  tensorflow::RunMetadata proto;
  TROUPE_TRY(parse_bytes(bytes, proto));
  return from_proto(proto);
}

Result<StepStats> step_stats_from_bytes(std::string_view bytes) {
  tensorflow::StepStats proto;
  TROUPE_TRY(parse_bytes(bytes, proto));
  return from_proto(proto);
}

std::string to_bytes(const StepStats& stats) {
  tensorflow::StepStats proto;
  to_proto(stats, proto);
  return to_bytes(proto);
}

Result<std::string> to_bytes(const RunMetadata& metadata) {
  tensorflow::RunMetadata proto;
  TROUPE_TRY(to_proto(metadata, proto));
  return to_bytes(proto);
}

} // namespace troupe
