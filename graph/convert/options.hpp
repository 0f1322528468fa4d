// Options of sessions and steps and what a step reports, as plain structs; bytes are those of
// tensorflow.ConfigProto, RunOptions, RunMetadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/trace/cost_graph.hpp"
#include "core/trace/step_stats.hpp"

namespace troupe {

/// One task of a job in a ClusterDef that a session brings along.
struct ClusterTask {
  std::string job;
  int task = 0;
  std::string address;
  friend bool operator==(const ClusterTask&, const ClusterTask&) = default;
};

/// Threads of a session's own for kernels, as RunOptions::inter_op_thread_pool names them.
struct ThreadPoolOptions {
  int threads = 0;       ///< 0: as many as the node has
  std::string name = {}; ///< pools of one name are one; empty: the session's own
  friend bool operator==(const ThreadPoolOptions&, const ThreadPoolOptions&) = default;
};

/// Options of a session. Session::open and the gateway say which they honour and which they refuse;
/// in a cluster threads and GPUs are the node's. Every field has an initialiser, so designated
/// initialisers may omit any without a warning.
struct SessionOptions {
  std::map<std::string, int> device_count = {}; ///< device type → most to use
  int intra_op_threads = 0;                     ///< 0: the node chooses
  int inter_op_threads = 0;                     ///< 0: the node chooses
  bool per_session_threads = false; ///< a node of its own, with threads; refused in a cluster
  std::vector<ThreadPoolOptions> thread_pools = {}; ///< refused in a cluster
  int placement_period = 0;
  std::vector<std::string> device_filters = {}; ///< what the session may see; empty: all
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  bool isolate_session_state = false;
  std::int64_t operation_timeout_ms = 0;    ///< 0: none
  std::vector<ClusterTask> cluster = {};    ///< in place of the cluster that the master knows
  bool shares_state_in_own_cluster = false; ///< without it the state there is the session's own

  // Graphs.
  int opt_level = 0; ///< -1 (L0): no optimisation; 0 (L1): as usual
  /// Switched off: TensorFlow's names ("constant_folding" …), which are what the bytes can say, and
  /// those of our passes ("fold_constants" …); without "use_winograd" convolutions are plain sums.
  std::vector<std::string> disabled_passes = {};
  /// Those that run on request alone: "debug_stripper", or our "strip_debug".
  std::vector<std::string> enabled_passes = {};
  std::vector<std::string> only_passes = {}; ///< if not empty: nothing else runs; the same names
  bool infer_shapes = false;       ///< partition graphs say what is known of shapes: _output_shapes
  bool place_pruned_graph = false; ///< only nodes that a step runs need a device
  bool bfloat16_sendrecv = false;  ///< float edges between tasks travel as bfloat16
  bool recv_scheduling = false;    ///< receives begin by their estimated start times
  std::int64_t cost_model_every =
      0; ///< a run in so many of a signature gives its cost graph; 0: none
  std::int64_t cost_model_after = 0;      ///< so many runs are left out before
  int timeline_every = 0;                 ///< a run in so many of a signature is traced; 0: none
  bool optimize_for_static_graph = false; ///< the graph will not be extended
  bool disable_output_partition_graphs = false;

  // Devices and collectives.
  double gpu_memory_fraction = 0; ///< of each GPU; 0: nearly all
  bool gpu_allow_growth = false;
  std::string visible_gpus = {}; ///< "0,2"
  std::string collective_group_leader = {};
  std::string session_name = {}; ///< SessionMetadata
  std::int64_t session_version = 0;

  // Not in the bytes.
  /// Memory limit (bytes) of local sessions; sessions with equal limit, devices and threads share
  /// one. 0: four fifths of the machine's or control group's memory. A step beyond it ends
  /// RESOURCE_EXHAUSTED. Refused for clusters, whose config file sets it.
  std::int64_t memory_limit = 0;
  friend bool operator==(const SessionOptions&, const SessionOptions&) = default;
};

enum class TraceLevel : std::uint8_t { none = 0, software = 1, hardware = 2, full = 3 };

/// A tensor that a debugger watches.
struct DebugWatch {
  std::string node;                  ///< "*": all that no other watch names
  int slot = 0;                      ///< -1 with "*"
  std::vector<std::string> ops = {}; ///< "DebugIdentity", "DebugNumericSummary(lower_bound=-100)" …
  std::vector<std::string> urls = {}; ///< where the values go: "file:///tmp/dump"
  bool tolerates_failures = false;    ///< of ops that cannot be made for the tensor
  friend bool operator==(const DebugWatch&, const DebugWatch&) = default;
};

struct DebugOptions {
  std::vector<DebugWatch> watches = {};
  std::int64_t global_step = 0; ///< stands with the dumps
  bool reset_disk_usage = false;
  bool is_empty() const { return watches.empty(); }
  friend bool operator==(const DebugOptions&, const DebugOptions&) = default;
};

struct RunOptions {
  TraceLevel trace_level = TraceLevel::none;
  std::int64_t timeout_ms = 0;  ///< 0: none
  int inter_op_thread_pool = 0; ///< -1: the caller's thread
  bool output_partition_graphs = false;
  bool report_allocations_upon_oom = false;
  std::int64_t collective_graph_key = 0;
  std::int64_t priority = 0; ///< of the step among others; larger is sooner
  DebugOptions debug = {};
  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

/// What a call of a callable gives and takes; CallableOptions.
struct CallableOptions {
  std::vector<std::string> feeds = {}, fetches = {}, targets = {};
  std::vector<std::pair<std::string, std::string>> connections =
      {}; ///< tensor → whose place it takes
  RunOptions options = {};
  bool names_devices = false; ///< of feeds or fetches
};

struct RunMetadata {
  StepStats step_stats;
  std::vector<std::string> partition_graphs; ///< bytes of a GraphDef each
  std::vector<CostNode> cost_graph;          ///< empty: none was made
};

/// INVALID_ARGUMENT if the bytes are not of that message. Fields that we do not use are ignored.
Result<SessionOptions> session_options_from_bytes(std::string_view bytes);
/// The bytes of a ConfigProto that is given as text, "operation_timeout_in_ms: 1000".
Result<std::string> session_config_from_text(std::string_view text);
std::string to_bytes(const SessionOptions& options);
Result<RunOptions> run_options_from_bytes(std::string_view bytes);
std::string to_bytes(const RunOptions& options);
Result<CallableOptions> callable_options_from_bytes(std::string_view bytes);
Result<RunMetadata> run_metadata_from_bytes(std::string_view bytes);
Result<StepStats> step_stats_from_bytes(std::string_view bytes);
std::string to_bytes(const StepStats& stats);
Result<std::string> to_bytes(const RunMetadata& metadata);

} // namespace troupe
