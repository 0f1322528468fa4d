#include "api/grpc/worker_codec.hpp"

#include "api/grpc/message_bytes.hpp"
#include "core/base/strings.hpp"
#include "core/base/utf8.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "net/cluster/cluster.hpp"
#include "proto/worker.pb.h"

namespace troupe::worker_codec {

namespace {

using message_bytes::append_bytes;
using message_bytes::append_int;
using message_bytes::append_length;
using message_bytes::append_tensor;
using message_bytes::EncodedTensor;
using message_bytes::Field;
using message_bytes::for_each_field;

// Small ones are parsed whole.
template <class Message>
Result<Message> parse(std::string_view bytes) {
  Message out;
  if (bytes.size() > static_cast<std::size_t>(INT32_MAX) ||
      !out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument(str_cat("the request is no ", Message::descriptor()->name()));
  return out;
}

template <class Message>
OfSession session_of(const Message& request) {
  return {request.session_handle(), request.create_worker_session_called()};
}

// A message of one field, for readers that know only what is around it.
std::string wrapped(int field, std::string_view bytes) {
  std::string out;
  append_bytes(out, field, bytes);
  return out;
}

Status read_send(const Field& field, DecodeLimits limits, RunGraph& to) {
  std::string key;
  std::string_view value;
  TROUPE_TRY(for_each_field(field.bytes, "NamedTensorProto", [&](const Field& part) {
    if (part.number == 1)
      key = part.text();
    else if (part.number == 2)
      value = part.bytes;
    return Status();
  }));
  auto tensor = tensor_from_bytes(value, limits);
  if (!tensor.ok())
    return tensor.status().with_context(str_cat("the value sent for ", key));
  to.sends.emplace_back(std::move(key), *std::move(tensor));
  return {};
}

void read_executor_options(const tensorflow::ExecutorOpts& from, RunGraph& to) {
  to.records_timeline = from.record_timeline();
  to.records_costs = from.record_costs();
  to.records_partition_graphs = from.record_partition_graphs();
  to.report_allocations = from.report_tensor_allocations_upon_oom();
}

} // namespace

Result<CreateWorkerSession> read_create_worker_session(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::CreateWorkerSessionRequest>(bytes));
  if (request.session_handle().empty())
    return invalid_argument("Session must be non-empty.");
  CreateWorkerSession out;
  out.session_handle = request.session_handle();
  out.isolate_session_state = request.isolate_session_state();
  out.master_task = request.master_task();
  out.master_incarnation = request.master_incarnation();
  const tensorflow::ServerDef& server = request.server_def();
  for (const tensorflow::JobDef& job : server.cluster().job())
    for (const auto& [index, address] : job.tasks())
      out.cluster.emplace(task_name(job.name(), index), address);
  if (!out.cluster.empty())
    out.own_task = task_name(server.job_name(), server.task_index());
  return out;
}

Result<DeleteWorkerSession> read_delete_worker_session(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::DeleteWorkerSessionRequest>(bytes));
  return DeleteWorkerSession{request.session_handle()};
}

Result<RegisterGraph> read_register_graph(std::string_view bytes) {
  RegisterGraph out;
  std::string graph_options, debug_options;
  TROUPE_TRY(for_each_field(bytes, "RegisterGraphRequest", [&](const Field& field) {
    switch (field.number) {
    case 1:
      out.session_handle = field.text();
      break;
    case 2:
      out.graph_def += field.bytes;
      break;
    case 4:
      graph_options += field.bytes;
      break;
    case 5:
      debug_options += field.bytes;
      break;
    case 6:
      out.create_worker_session_called = field.number_value != 0;
      break;
    case 7:
      out.collective_graph_key = field.as_int();
      break;
    default:
      break;
    }
    return Status();
  }));
  TROUPE_ASSIGN(out.options,
                session_options_from_bytes(
                    wrapped(tensorflow::ConfigProto::kGraphOptionsFieldNumber, graph_options)));
  TROUPE_ASSIGN(RunOptions run,
                run_options_from_bytes(
                    wrapped(tensorflow::RunOptions::kDebugOptionsFieldNumber, debug_options)));
  out.debug = std::move(run.debug);
  return out;
}

Result<DeregisterGraph> read_deregister_graph(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::DeregisterGraphRequest>(bytes));
  return DeregisterGraph{session_of(request), request.graph_handle()};
}

Result<RunGraph> read_run_graph(std::string_view bytes, DecodeLimits limits) {
  RunGraph out;
  TROUPE_TRY(for_each_field(bytes, "RunGraphRequest", [&](const Field& field) -> Status {
    switch (field.number) {
    case 1:
      out.graph_handle = field.text();
      break;
    case 2:
      out.step_id = field.as_int();
      break;
    case 3:
      return read_send(field, limits, out);
    case 4:
      out.recv_keys.push_back(field.text());
      break;
    case 5: {
      TROUPE_ASSIGN(auto options, parse<tensorflow::ExecutorOpts>(field.bytes));
      read_executor_options(options, out);
      break;
    }
    case 6:
      out.is_partial = field.number_value != 0;
      break;
    case 7:
      out.is_last_partial_run = field.number_value != 0;
      break;
    case 8:
      out.session_handle = field.text();
      break;
    case 9:
      out.errors_in_body = field.number_value != 0;
      break;
    case 10:
      out.create_worker_session_called = field.number_value != 0;
      break;
    case 11:
      out.request_id = field.as_int();
      break;
    default:
      break;
    }
    return {};
  }));
  return out;
}

bool wants_errors_in_body(std::string_view bytes) {
  bool out = false;
  Status is_one = for_each_field(bytes, "RunGraphRequest", [&](const Field& field) {
    if (field.number == 9)
      out = field.number_value != 0;
    return Status();
  });
  return is_one.ok() && out;
}

Result<CleanupGraph> read_cleanup_graph(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::CleanupGraphRequest>(bytes));
  return CleanupGraph{request.step_id()};
}

Result<CleanupAll> read_cleanup_all(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::CleanupAllRequest>(bytes));
  return CleanupAll{{request.container().begin(), request.container().end()}};
}

Result<RecvTensor> read_recv_tensor(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::RecvTensorRequest>(bytes));
  return RecvTensor{request.step_id(), request.rendezvous_key()};
}

Result<GetStepSequence> read_get_step_sequence(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::GetStepSequenceRequest>(bytes));
  return GetStepSequence{{request.graph_key().begin(), request.graph_key().end()}};
}

Result<Logging> read_logging(std::string_view bytes) {
  TROUPE_ASSIGN(auto request, parse<tensorflow::LoggingRequest>(bytes));
  return Logging{request.enable_rpc_logging(),
                 request.disable_rpc_logging(),
                 request.clear(),
                 {request.fetch_step_id().begin(), request.fetch_step_id().end()}};
}

std::string write_status(const std::vector<DeviceAttributes>& devices) {
  tensorflow::GetStatusResponse out;
  for (const DeviceAttributes& from : devices) {
    tensorflow::DeviceAttributes& to = *out.add_device_attributes();
    to.set_name(from.name);
    to.set_device_type(from.type);
    to.set_memory_limit(from.memory_limit);
    to.set_incarnation(from.incarnation);
    to.set_physical_device_desc(from.description);
    to.mutable_locality();
  }
  return out.SerializeAsString();
}

std::string write_graph_registered(std::string_view graph_handle) {
  tensorflow::RegisterGraphResponse out;
  out.set_graph_handle(std::string(graph_handle));
  return out.SerializeAsString();
}

Result<AnswerBytes> write_graph_run(const std::vector<std::string>& keys,
                                    const std::vector<Tensor>& tensors, const StepStats& stats) {
  using message_bytes::size_of_field;
  const std::string step_stats = to_bytes(stats);
  std::vector<EncodedTensor> encoded;
  std::vector<std::size_t> sizes;
  std::size_t total = size_of_field(step_stats.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    encoded.push_back(message_bytes::encode(tensors[i]));
    sizes.push_back(size_of_field(keys[i].size()) + size_of_field(encoded.back().size()));
    total += size_of_field(sizes.back());
  }
  TROUPE_TRY(message_bytes::check_size(total));
  AnswerBytes out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    append_length(out.end(), 1, sizes[i]);
    append_bytes(out.end(), 1, keys[i]);
    append_tensor(out, 2, encoded[i]);
  }
  if (!step_stats.empty())
    append_bytes(out.end(), 2, step_stats);
  return out;
}

std::string write_run_failed(Code code, std::string_view message) {
  tensorflow::RunGraphResponse out;
  out.set_status_code(static_cast<tensorflow::error::Code>(code));
  out.set_status_error_message(to_utf8(message)); // others are no string to protobuf
  return out.SerializeAsString();
}

// The tensor comes last: receivers look for it there, so that its content needs no copy.
Result<AnswerBytes> write_tensor(const EdgeValue& value) {
  AnswerBytes out;
  if (value.is_dead) {
    append_int(out.end(), 2, 1);
    return out;
  }
  const EncodedTensor encoded = message_bytes::encode(value.tensor);
  TROUPE_TRY(message_bytes::check_size(message_bytes::size_of_field(encoded.size())));
  append_tensor(out, 1, encoded);
  return out;
}

std::string write_logging(const std::vector<std::pair<std::int64_t, StepStats>>& steps) {
  std::string out;
  for (const auto& [step_id, stats] : steps) {
    const std::string bytes = to_bytes(stats);
    std::string step;
    append_int(step, tensorflow::LabeledStepStats::kStepIdFieldNumber,
               static_cast<std::uint64_t>(step_id));
    append_bytes(step, tensorflow::LabeledStepStats::kStepStatsFieldNumber, bytes);
    append_bytes(out, tensorflow::LoggingResponse::kStepFieldNumber, step);
  }
  return out;
}

std::string write_step_sequence(const std::vector<std::pair<std::int64_t, std::int64_t>>& steps) {
  tensorflow::GetStepSequenceResponse out;
  for (const auto& [graph_key, next] : steps) {
    tensorflow::StepSequence& to = *out.add_step_sequence();
    to.set_graph_key(graph_key);
    to.set_next_step_id(next);
  }
  return out.SerializeAsString();
}

std::string write_recv_tensor(std::int64_t step_id, std::string_view key, std::int64_t request_id) {
  tensorflow::RecvTensorRequest out;
  out.set_step_id(step_id);
  out.set_rendezvous_key(std::string(key));
  out.set_request_id(request_id);
  return out.SerializeAsString();
}

Result<EdgeValue> read_tensor(std::string_view bytes, DecodeLimits limits) {
  EdgeValue out;
  std::string_view tensor;
  TROUPE_TRY(for_each_field(bytes, "RecvTensorResponse", [&](const Field& field) {
    if (field.number == 1)
      tensor = field.bytes;
    else if (field.number == 2)
      out.is_dead = field.number_value != 0;
    return Status();
  }));
  if (!out.is_dead) {
    TROUPE_ASSIGN(out.tensor, tensor_from_bytes(tensor, limits));
  }
  return out;
}

Result<std::map<std::string, std::uint64_t>> read_status(std::string_view bytes) {
  TROUPE_ASSIGN(auto answer, parse<tensorflow::GetStatusResponse>(bytes));
  std::map<std::string, std::uint64_t> out;
  for (const tensorflow::DeviceAttributes& device : answer.device_attributes())
    out[device.name()] = device.incarnation();
  return out;
}

} // namespace troupe::worker_codec
