#include "api/grpc/worker_client_codec.hpp"

#include "api/grpc/answer_bytes.hpp"
#include "api/grpc/message_bytes.hpp"
#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/options.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "proto/worker.pb.h"

namespace troupe::worker_codec {

namespace {

using message_bytes::Field;

template <class Message>
Result<Message> parse_answer(std::string_view bytes) {
  Message out;
  if (bytes.size() > static_cast<std::size_t>(INT32_MAX) ||
      !out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument(str_cat("the answer is no ", Message::descriptor()->name()));
  return out;
}

} // namespace

std::string write_create_worker_session(const std::string& session, const std::string& task,
                                        bool isolate, const std::string& master_task,
                                        std::uint64_t master_incarnation) {
  tensorflow::CreateWorkerSessionRequest out;
  out.set_session_handle(session);
  out.set_isolate_session_state(isolate);
  out.set_master_task(master_task);
  out.set_master_incarnation(static_cast<std::int64_t>(master_incarnation));
  if (auto name = DeviceName::parse(task); name.ok()) {
    out.mutable_server_def()->set_job_name(name->job.value_or(""));
    out.mutable_server_def()->set_task_index(name->task.value_or(0));
    out.mutable_server_def()->set_protocol("grpc");
  }
  return out.SerializeAsString();
}

std::string write_delete_worker_session(const std::string& session) {
  tensorflow::DeleteWorkerSessionRequest out;
  out.set_session_handle(session);
  return out.SerializeAsString();
}

std::string write_register_graph(const std::string& session, const std::string& graph_def) {
  tensorflow::RegisterGraphRequest head;
  head.set_session_handle(session);
  head.set_create_worker_session_called(true);
  std::string out = head.SerializeAsString();
  message_bytes::append_bytes(out, tensorflow::RegisterGraphRequest::kGraphDefFieldNumber,
                              graph_def);
  return out;
}

std::string write_deregister_graph(const std::string& session, const std::string& graph) {
  tensorflow::DeregisterGraphRequest out;
  out.set_session_handle(session);
  out.set_create_worker_session_called(true);
  out.set_graph_handle(graph);
  return out.SerializeAsString();
}

std::string write_cleanup_graph(std::uint64_t step_id) {
  tensorflow::CleanupGraphRequest out;
  out.set_step_id(static_cast<std::int64_t>(step_id));
  return out.SerializeAsString();
}

std::string write_cleanup_all(const std::vector<std::string>& containers) {
  tensorflow::CleanupAllRequest out;
  for (const std::string& container : containers)
    out.add_container(container);
  return out.SerializeAsString();
}

Result<std::string> write_run_graph(const RunGraphWords& words) {
  using Request = tensorflow::RunGraphRequest;
  Request head;
  head.set_session_handle(words.session);
  head.set_create_worker_session_called(true);
  head.set_graph_handle(words.graph);
  head.set_step_id(static_cast<std::int64_t>(words.step_id));
  head.set_store_errors_in_response_body(true);
  head.set_request_id(static_cast<std::int64_t>(words.request_id >> 1));
  head.mutable_exec_opts()->set_record_timeline(words.trace);
  head.mutable_exec_opts()->set_report_tensor_allocations_upon_oom(words.report_allocations);
  for (const std::string& key : words.receives)
    head.add_recv_key(key);
  AnswerBytes out(head.SerializeAsString());
  std::size_t total = head.ByteSizeLong();
  for (const auto& [key, value] : words.sends) {
    const auto encoded = message_bytes::encode(value);
    const std::size_t size =
        message_bytes::size_of_field(key.size()) + message_bytes::size_of_field(encoded.size());
    total += message_bytes::size_of_field(size);
    message_bytes::append_length(out.end(), Request::kSendFieldNumber, size);
    message_bytes::append_bytes(out.end(), tensorflow::NamedTensorProto::kNameFieldNumber, key);
    message_bytes::append_tensor(out, tensorflow::NamedTensorProto::kTensorFieldNumber, encoded);
  }
  TROUPE_TRY(message_bytes::check_size(total));
  return out.text();
}

Result<GraphRunWords> read_graph_run(std::string_view bytes, DecodeLimits limits) {
  using Response = tensorflow::RunGraphResponse;
  GraphRunWords out;
  std::int64_t code = 0;
  std::string message;
  TROUPE_TRY(
      message_bytes::for_each_field(bytes, "RunGraphResponse", [&](const Field& field) -> Status {
        switch (field.number) {
        case Response::kRecvFieldNumber: {
          std::string key;
          std::string_view value;
          TROUPE_TRY(message_bytes::for_each_field(
              field.bytes, "NamedTensorProto", [&](const Field& part) {
                if (part.number == tensorflow::NamedTensorProto::kNameFieldNumber)
                  key = part.text();
                else if (part.number == tensorflow::NamedTensorProto::kTensorFieldNumber)
                  value = part.bytes;
                return Status();
              }));
          TROUPE_ASSIGN(Tensor tensor, tensor_from_bytes(value, limits));
          out.values.emplace_back(std::move(key), std::move(tensor));
          break;
        }
        case Response::kStepStatsFieldNumber: {
          TROUPE_ASSIGN(StepStats stats, step_stats_from_bytes(field.bytes));
          std::ranges::move(stats.devices, std::back_inserter(out.stats));
          break;
        }
        case Response::kStatusCodeFieldNumber:
          code = field.as_int();
          break;
        case Response::kStatusErrorMessageFieldNumber:
          message = field.text();
          break;
        default:
          break;
        }
        return {};
      }));
  if (code != 0 && message.empty())
    message = "the task has not said why";
  if (code != 0)
    return Status(code > 0 && code <= static_cast<std::int64_t>(Code::unauthenticated)
                      ? static_cast<Code>(code)
                      : Code::unknown,
                  std::move(message));
  return out;
}

Result<std::string> read_graph_registered(std::string_view bytes) {
  TROUPE_ASSIGN(auto answer, parse_answer<tensorflow::RegisterGraphResponse>(bytes));
  return answer.graph_handle();
}

Result<std::vector<DeviceAttributes>> read_devices(std::string_view bytes) {
  TROUPE_ASSIGN(auto answer, parse_answer<tensorflow::GetStatusResponse>(bytes));
  std::vector<DeviceAttributes> out;
  for (const tensorflow::DeviceAttributes& device : answer.device_attributes())
    out.push_back({device.name(), device.device_type(), device.memory_limit(), device.incarnation(),
                   device.physical_device_desc()});
  return out;
}

} // namespace troupe::worker_codec
