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
  if (options.per_session_threads || options.session_thread_pools > 0)
    return invalid_argument("SessionOptions asks for threads of the session's own "
                            "(per_session_threads, session_thread_pools), and a node's threads "
                            "serve all its sessions; leave both out");
  if (!options.cluster.empty())
    return unimplemented("SessionOptions::cluster is not supported; the cluster is the one of the "
                         "node's configuration");
  if (options.bfloat16_sendrecv)
    return unimplemented("SessionOptions::bfloat16_sendrecv is not supported; cast to bfloat16 in "
                         "the graph before values travel");
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
  TROUPE_ASSIGN(out.disabled_passes,
                passes_to_disable(options.disabled_passes, options.only_passes));
  out.operation_timeout_us = limit_us(options.operation_timeout_ms, longest_ms);
  return out;
}

Status check_options(const RunOptions& options) {
  if (options.inter_op_thread_pool < -1 || options.inter_op_thread_pool > 0)
    return invalid_argument(str_cat("Invalid inter_op_thread_pool: ", options.inter_op_thread_pool,
                                    "; a session has no thread pools of its own, so only 0 and -1 "
                                    "mean something"));
  if (options.timeout_ms < 0)
    return invalid_argument(str_cat("RunOptions::timeout_ms is ", options.timeout_ms,
                                    "; write milliseconds, or 0 for no limit"));
  if (options.debug_watches > 0)
    return unimplemented("RunOptions asks to watch tensors for a debugger, which is not supported; "
                         "fetch them instead");
  return {};
}

} // namespace troupe
