// WorkerService's requests and answers as bytes: what TensorFlow's masters and workers send to a
// task, in the runtime's own terms. No CAF, no gRPC.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/grpc/answer_bytes.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "core/trace/step_stats.hpp"
#include "devices/device.hpp"
#include "graph/convert/limits.hpp"
#include "graph/convert/options.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe::worker_codec {

struct CreateWorkerSession {
  std::string session_handle; ///< never empty
  bool isolate_session_state = false;
  std::string master_task; ///< "/job:worker/replica:0/task:0"; empty: it does not say
  std::int64_t master_incarnation = 0;
  /// Of a session with a cluster of its own: addresses by task, and the task that this one is to
  /// be.
  std::map<std::string, std::string> cluster;
  std::string own_task;
};
struct DeleteWorkerSession {
  std::string session_handle;
};
/// Whose graph or step it is. Before sessions had workers' halves, all were the task's own.
struct OfSession {
  std::string session_handle;
  bool create_worker_session_called = false;
};
struct RegisterGraph : OfSession {
  std::string graph_def;
  SessionOptions options; ///< of which only GraphOptions say something
  DebugOptions debug;
  std::int64_t collective_graph_key = 0; ///< not 0: it has collectives
};
struct DeregisterGraph : OfSession {
  std::string graph_handle;
};
struct RunGraph : OfSession {
  std::string graph_handle;
  std::int64_t step_id = 0;
  std::vector<std::pair<std::string, Tensor>> sends; ///< by rendezvous key
  std::vector<std::string> recv_keys;
  bool records_timeline = false, records_costs = false, records_partition_graphs = false;
  bool report_allocations = false;
  bool is_partial = false, is_last_partial_run = false;
  bool errors_in_body = false;
  std::int64_t request_id = 0; ///< 0: none
};
struct CleanupGraph {
  std::int64_t step_id = 0;
};
struct CleanupAll {
  std::vector<std::string> containers;
};
struct RecvTensor {
  std::int64_t step_id = 0;
  std::string key;
};
struct GetStepSequence {
  std::vector<std::int64_t> graph_keys;
};
struct Logging {
  bool enables = false, disables = false, clears = false;
  std::vector<std::int64_t> fetches; ///< steps
};

/// Each reads the bytes of the request of its name. INVALID_ARGUMENT naming the request for bytes
/// that are none, and whatever the readers of tensors and options fail with. Unknown fields are
/// ignored.
Result<CreateWorkerSession> read_create_worker_session(std::string_view bytes);
Result<DeleteWorkerSession> read_delete_worker_session(std::string_view bytes);
Result<RegisterGraph> read_register_graph(std::string_view bytes);
Result<DeregisterGraph> read_deregister_graph(std::string_view bytes);
Result<RunGraph> read_run_graph(std::string_view bytes, DecodeLimits limits);
Result<CleanupGraph> read_cleanup_graph(std::string_view bytes);
Result<CleanupAll> read_cleanup_all(std::string_view bytes);
Result<RecvTensor> read_recv_tensor(std::string_view bytes);
Result<GetStepSequence> read_get_step_sequence(std::string_view bytes);
Result<Logging> read_logging(std::string_view bytes);
/// Whether a RunGraph looks for its errors in the answer's body; false for bytes that are none.
bool wants_errors_in_body(std::string_view bytes);

std::string write_status(const std::vector<DeviceAttributes>& devices);
std::string write_graph_registered(std::string_view graph_handle);
/// `keys` and `tensors` alike in number. Requires values in host memory.
Result<AnswerBytes> write_graph_run(const std::vector<std::string>& keys,
                                    const std::vector<Tensor>& tensors, const StepStats& stats);
/// A step's failure in the answer's body.
std::string write_run_failed(Code code, std::string_view message);
Result<AnswerBytes> write_tensor(const EdgeValue& value);
/// (graph key, next step id).
std::string write_step_sequence(const std::vector<std::pair<std::int64_t, std::int64_t>>& steps);

/// (step id, what is kept of it).
std::string write_logging(const std::vector<std::pair<std::int64_t, StepStats>>& steps);

// What we ask others ourselves.
std::string write_recv_tensor(std::int64_t step_id, std::string_view key, std::int64_t request_id);
/// The answer. INVALID_ARGUMENT for bytes that are none; what tensor_from_bytes fails with.
Result<EdgeValue> read_tensor(std::string_view bytes, DecodeLimits limits);
/// Of GetStatus: the names and incarnations of the devices.
Result<std::map<std::string, std::uint64_t>> read_status(std::string_view bytes);

} // namespace troupe::worker_codec
