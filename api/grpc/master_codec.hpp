// MasterService's requests and answers as bytes: what a TensorFlow client sends, in the runtime's
// own terms. No CAF, no gRPC. A request is read field by field from its bytes, since a graph or a
// tensor of hundreds of megabytes would else be copied once more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/grpc/answer_bytes.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "devices/device.hpp"
#include "graph/convert/limits.hpp"
#include "graph/convert/options.hpp"

namespace troupe::master_codec {

struct CreateSession {
  std::string graph_def; ///< bytes of a GraphDef; may be empty
  SessionOptions options;
  std::string target; ///< the client's own name for the master
};
struct ExtendSession {
  std::string session_handle;
  std::string graph_def;
  std::int64_t current_graph_version = 0;
};
struct RunStep {
  std::string session_handle;
  std::vector<std::pair<std::string, Tensor>> feeds; ///< "name:slot"
  std::vector<std::string> fetches, targets;
  RunOptions options;
  std::string partial_run_handle;
  bool errors_in_body = false; ///< the answer is to carry the step's status
  std::int64_t request_id = 0; ///< random, of either sign; 0: none
};
struct PartialRunSetup {
  std::string session_handle;
  std::vector<std::string> feeds, fetches, targets;
};
struct Reset {
  std::vector<std::string> containers, device_filters;
};
struct MakeCallable {
  std::string session_handle;
  CallableOptions options;
};
struct RunCallable {
  std::string session_handle;
  std::int64_t handle = 0;
  std::vector<Tensor> feeds;
  std::int64_t request_id = 0;
};
struct ReleaseCallable {
  std::string session_handle;
  std::int64_t handle = 0;
};

/// Each reads the bytes of the request of its name. INVALID_ARGUMENT naming the request for bytes
/// that are none, for a tensor that is none in TensorFlow's words, and whatever the options'
/// readers fail with. Unknown fields are ignored.
/// `defaults` are bytes of a ConfigProto, which the request's own is merged into.
Result<CreateSession> read_create_session(std::string_view bytes, std::string_view defaults = {});
Result<ExtendSession> read_extend_session(std::string_view bytes);
Result<RunStep> read_run_step(std::string_view bytes, DecodeLimits limits);
Result<PartialRunSetup> read_partial_run_setup(std::string_view bytes);
Result<Reset> read_reset(std::string_view bytes);
Result<MakeCallable> read_make_callable(std::string_view bytes);
Result<RunCallable> read_run_callable(std::string_view bytes, DecodeLimits limits);
Result<ReleaseCallable> read_release_callable(std::string_view bytes);
/// "x" is "x:0".
void complete_names(std::vector<std::string>& names);
void complete_names(std::vector<std::pair<std::string, Tensor>>& feeds);
/// What every request of a session says, read without the rest.
struct RequestHead {
  std::string session_handle;  ///< empty if there is none
  bool errors_in_body = false; ///< of RunStep
};
Result<RequestHead> read_head(std::string_view method, std::string_view bytes);

std::string write_session_created(std::string_view session_handle, std::int64_t graph_version);
std::string write_session_extended(std::int64_t new_graph_version);
/// `names` and `tensors` alike in number. Requires values in host memory; large ones are kept by
/// the answer instead of copied.
Result<AnswerBytes> write_step_done(const std::vector<std::string>& names,
                                    const std::vector<Tensor>& tensors,
                                    const RunMetadata& metadata);
/// A step's failure in the answer's body, where its length does not matter.
std::string write_step_failed(Code code, std::string_view message);
std::string write_partial_run_set_up(std::string_view handle);
std::string write_callable_made(std::int64_t handle);
Result<AnswerBytes> write_callable_done(const std::vector<Tensor>& tensors,
                                        const RunMetadata& metadata);
std::string write_device_list(const std::vector<DeviceAttributes>& local,
                              const std::vector<DeviceAttributes>& remote);

/// A step's error as TensorFlow's clients know it: "From TASK:\nsentence\n\t [[{{node NAME}}]]"
/// where the origin is known. Python finds the node by it.
std::string client_message(const Status& status);

} // namespace troupe::master_codec
