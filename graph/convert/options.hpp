// Options of sessions and steps and what a step reports, as plain structs; bytes are those of
// tensorflow.ConfigProto, RunOptions, RunMetadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/trace/step_stats.hpp"

namespace troupe {

/// One task of a job in a ClusterDef that a session brings along.
struct ClusterTask {
  std::string job;
  int task = 0;
  std::string address;
  friend bool operator==(const ClusterTask&, const ClusterTask&) = default;
};

/// What a client asks of its session. Which of it a session keeps, and which it refuses, says
/// whoever opens it; threads and GPUs are the node's own affair in a cluster. Every field has an
/// initialiser, as those of RunOptions have, so that designated initialisers may leave out any
/// without a warning.
struct SessionOptions {
  std::map<std::string, int> device_count = {}; ///< device type → most to use
  int intra_op_threads = 0;                     ///< 0: the node chooses
  int inter_op_threads = 0;                     ///< 0: the node chooses
  bool per_session_threads = false;             ///< asked for; refused in a cluster
  int session_thread_pools = 0; ///< own inter-op pools asked for; refused in a cluster
  int placement_period = 0;
  std::vector<std::string> device_filters = {}; ///< what the session may see; empty: all
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  bool isolate_session_state = false;
  std::int64_t operation_timeout_ms = 0; ///< 0: none
  std::vector<ClusterTask> cluster = {}; ///< in place of the cluster that the master knows

  // Graphs.
  int opt_level = 0; ///< -1 (L0): no optimisation; 0 (L1): as usual
  /// Switched off: TensorFlow's names ("constant_folding" …), which are what the bytes can say, and
  /// those of our passes ("fold_constants" …); without "use_winograd" convolutions are plain sums.
  std::vector<std::string> disabled_passes = {};
  std::vector<std::string> only_passes = {}; ///< if not empty: nothing else runs; the same names
  bool infer_shapes = false;
  bool place_pruned_graph = false;
  bool bfloat16_sendrecv = false;         ///< float edges between tasks travel as bfloat16
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
  /// Bytes that the tensors of the sessions in this process may take together that ask for as many
  /// (and the same devices and threads); a step that needs more ends RESOURCE_EXHAUSTED. 0: four
  /// fifths of the machine's memory, or of the control group's.
  /// Tasks of a cluster have theirs from their config file: refused there.
  std::int64_t memory_limit = 0;
  friend bool operator==(const SessionOptions&, const SessionOptions&) = default;
};

enum class TraceLevel : std::uint8_t { none = 0, software = 1, hardware = 2, full = 3 };

struct RunOptions {
  TraceLevel trace_level = TraceLevel::none;
  std::int64_t timeout_ms = 0;  ///< 0: none
  int inter_op_thread_pool = 0; ///< -1: the caller's thread
  bool output_partition_graphs = false;
  bool report_allocations_upon_oom = false;
  std::int64_t collective_graph_key = 0;
  std::int64_t priority = 0; ///< of the step among others; larger is sooner
  int debug_watches = 0;     ///< tensors that a debugger asks for; refused here
  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

struct RunMetadata {
  StepStats step_stats;
  std::vector<std::string> partition_graphs; ///< bytes of a GraphDef each
};

/// INVALID_ARGUMENT if the bytes are not of that message. Fields that we do not use are ignored.
Result<SessionOptions> session_options_from_bytes(std::string_view bytes);
std::string to_bytes(const SessionOptions& options);
Result<RunOptions> run_options_from_bytes(std::string_view bytes);
std::string to_bytes(const RunOptions& options);
Result<RunMetadata> run_metadata_from_bytes(std::string_view bytes);
Result<std::string> to_bytes(const RunMetadata& metadata);

} // namespace troupe
