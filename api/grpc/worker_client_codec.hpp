// WorkerService's requests as we ask them of tasks that are TensorFlow's, and their answers. No
// CAF, no gRPC.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "core/trace/step_stats.hpp"
#include "devices/device.hpp"
#include "graph/convert/limits.hpp"

namespace troupe::worker_codec {

std::string write_create_worker_session(const std::string& session, const std::string& task,
                                        bool isolate, const std::string& master_task,
                                        std::uint64_t master_incarnation);
std::string write_delete_worker_session(const std::string& session);
std::string write_register_graph(const std::string& session, const std::string& graph_def);
std::string write_deregister_graph(const std::string& session, const std::string& graph);
std::string write_cleanup_graph(std::uint64_t step_id);
std::string write_cleanup_all(const std::vector<std::string>& containers);

/// `sends` and `receives` by rendezvous key.
struct RunGraphWords {
  std::string session, graph;
  std::uint64_t step_id = 0;
  std::vector<std::pair<std::string, Tensor>> sends;
  std::vector<std::string> receives;
  bool trace = false, report_allocations = false;
  std::uint64_t request_id = 0;
};
/// RESOURCE_EXHAUSTED for more than a protobuf message holds. Requires values in host memory.
Result<std::string> write_run_graph(const RunGraphWords& words);

struct GraphRunWords {
  std::vector<std::pair<std::string, Tensor>> values; ///< by rendezvous key
  std::vector<DeviceStats> stats;
};
/// The status that the answer carries, if it is one of failure; INVALID_ARGUMENT for bytes that are
/// none.
Result<GraphRunWords> read_graph_run(std::string_view bytes, DecodeLimits limits);
Result<std::string> read_graph_registered(std::string_view bytes);
/// Of GetStatus.
Result<std::vector<DeviceAttributes>> read_devices(std::string_view bytes);

} // namespace troupe::worker_codec
