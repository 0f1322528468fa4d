#include "api/internal/settings.hpp"

#include <algorithm>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "graph/passes/optimize.hpp"

namespace troupe {

std::int64_t limit_us(std::int64_t limit_ms, std::int64_t longest_ms) {
  return std::clamp<std::int64_t>(limit_ms, 0, longest_ms) * 1000;
}

Result<SessionSettings> settings_of(const SessionOptions& options, std::int64_t longest_ms) {
  if (!options.cluster.empty())
    return unimplemented(
        "SessionOptions::cluster is for clients of a gateway; the cluster is the one of "
        "the node's configuration");
  for (const auto& [what, value] :
       {std::pair<const char*, std::int64_t>{"cost_model_every", options.cost_model_every},
        {"timeline_every", options.timeline_every}})
    if (value < 0)
      return invalid_argument(str_cat("SessionOptions::", what, " is ", value,
                                      "; write how many runs of a signature are one turn, or 0 for "
                                      "none"));
  if (options.operation_timeout_ms < 0)
    return invalid_argument(str_cat("SessionOptions::operation_timeout_ms is ",
                                    options.operation_timeout_ms,
                                    "; write milliseconds, or 0 for no limit"));
  constexpr int most = 1024; // of devices and threads of one process
  for (const auto& [type, count] : options.device_count)
    if (type == "CPU" && (count < 1 || count > most))
      return invalid_argument(str_cat("SessionOptions::device_count asks for ", count,
                                      " CPU devices; a process has 1 to ", most));
  for (int threads : {options.intra_op_threads, options.inter_op_threads})
    if (threads < 0 || threads > most)
      return invalid_argument(str_cat("SessionOptions asks for ", threads,
                                      " threads; 0 lets the node choose, and ", most,
                                      " are the most"));
  if (options.memory_limit < 0)
    return invalid_argument(str_cat("SessionOptions::memory_limit is ", options.memory_limit,
                                    " bytes; 0 means four fifths of the machine's memory"));
  for (const std::string& filter : options.device_filters)
    TROUPE_TRY(DeviceName::parse(filter).status().with_context("SessionOptions::device_filters"));
  SessionSettings out;
  out.device_filters = options.device_filters;
  out.allow_soft_placement = options.allow_soft_placement;
  out.log_device_placement = options.log_device_placement;
  out.isolate_session_state = options.isolate_session_state;
  out.optimize = options.opt_level >= 0;
  out.infer_shapes = options.infer_shapes;
  out.place_pruned = options.place_pruned_graph;
  out.bfloat16_sendrecv = options.bfloat16_sendrecv;
  out.recv_scheduling = options.recv_scheduling;
  out.static_graph = options.optimize_for_static_graph;
  out.hides_partition_graphs = options.disable_output_partition_graphs;
  out.cost_model_every = options.cost_model_every;
  out.cost_model_after = options.cost_model_after;
  out.timeline_every = options.timeline_every;
  TROUPE_ASSIGN(out.disabled_passes,
                passes_to_disable(options.disabled_passes, options.only_passes));
  std::vector<std::string> asked_for = options.enabled_passes;
  asked_for.insert(asked_for.end(), options.only_passes.begin(), options.only_passes.end());
  out.enabled_passes = passes_on_request(asked_for);
  out.operation_timeout_us = limit_us(options.operation_timeout_ms, longest_ms);
  return out;
}

Status refuse_own_threads(const SessionOptions& options) {
  if (options.per_session_threads || !options.thread_pools.empty())
    return invalid_argument("Distributed session does not support session thread pool options.");
  return {};
}

Status check_thread_pools(const SessionOptions& options) {
  constexpr int most = 1024; // threads of one process
  for (const ThreadPoolOptions& pool : options.thread_pools)
    if (pool.threads < 0 || pool.threads > most)
      return invalid_argument(str_cat("SessionOptions::thread_pools has a pool of ", pool.threads,
                                      " threads; 0 lets the node choose, and ", most,
                                      " are the most"));
  return {};
}

Status check_options(const RunOptions& options, std::size_t num_thread_pools) {
  const int pool = options.inter_op_thread_pool;
  const int most = std::max(static_cast<int>(num_thread_pools), 1);
  if (pool < -1 || pool >= most)
    return invalid_argument(str_cat("Invalid inter_op_thread_pool: ", pool));
  if (options.timeout_ms < 0)
    return invalid_argument(str_cat("RunOptions::timeout_ms is ", options.timeout_ms,
                                    "; write milliseconds, or 0 for no limit"));
  return {};
}

bool may_run_directly(const RunOptions& options) {
  return options.trace_level == TraceLevel::none && !options.output_partition_graphs &&
         !options.report_allocations_upon_oom && options.debug.is_empty();
}

void put_options(const RunOptions& options, std::int64_t longest_ms, RunStep& to) {
  to.timeout_us = limit_us(options.timeout_ms, longest_ms);
  to.trace = options.trace_level != TraceLevel::none;
  to.partition_graphs = options.output_partition_graphs;
  to.report_allocations = options.report_allocations_upon_oom;
  to.debug = options.debug;
}

void put_options(const RunOptions& options, std::int64_t longest_ms, RunCallable& to) {
  to.timeout_us = limit_us(options.timeout_ms, longest_ms);
  to.trace = options.trace_level != TraceLevel::none;
  to.report_allocations = options.report_allocations_upon_oom;
}

} // namespace troupe
