#include "api/grpc/master_codec.hpp"

#include "api/grpc/message_bytes.hpp"
#include "core/base/device_name.hpp"
#include "core/base/node_mark.hpp"
#include "core/base/strings.hpp"
#include "core/base/utf8.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "proto/config.pb.h"
#include "proto/master.pb.h"

namespace troupe::master_codec {

namespace {

using namespace message_bytes; // NOLINT(google-build-using-namespace): half of this file is made of it

// The client is told which one in TensorFlow's words, and then why; of one that is sound but too
// large, its name, if it has one.
Result<Tensor> read_tensor(std::string_view bytes, const DecodeLimits& limits, std::size_t number,
                           std::string_view name = {}) {
  auto tensor = tensor_from_bytes(bytes, limits);
  if (tensor.ok())
    return tensor;
  const Status& why = tensor.status();
  if (why.code() == Code::invalid_argument)
    return invalid_argument(
        str_cat("Invalid TensorProto for feed value ", number, ": ", why.message()));
  return why.with_context(name.empty() ? str_cat("feed value ", number)
                                       : str_cat("the value fed to '", name, "'"));
}

// TensorFlow's clients know devices alone: what tasks and masters did (see StepStats) would be rows
// of their own in its timeline and profiler.
Result<std::string> encode_metadata(RunMetadata metadata) {
  std::erase_if(metadata.step_stats.devices, [](const DeviceStats& device) {
    return device.device.find("/device:") == std::string::npos;
  });
  if (metadata.step_stats.devices.empty() && metadata.partition_graphs.empty() &&
      metadata.cost_graph.empty())
    return std::string();
  return to_bytes(metadata);
}

} // namespace

Result<CreateSession> read_create_session(std::string_view bytes, std::string_view defaults) {
  CreateSession out;
  std::string config(defaults); // one message may come in several pieces, which add up
  TROUPE_TRY(for_each_field(bytes, "CreateSessionRequest", [&](const Field& field) {
    if (field.number == 1)
      out.graph_def += field.bytes;
    else if (field.number == 2)
      config += field.bytes;
    else if (field.number == 3)
      out.target = field.text();
    return Status();
  }));
  TROUPE_ASSIGN(out.options, session_options_from_bytes(config));
  return out;
}

Result<ExtendSession> read_extend_session(std::string_view bytes) {
  ExtendSession out;
  TROUPE_TRY(for_each_field(bytes, "ExtendSessionRequest", [&](const Field& field) {
    if (field.number == 1)
      out.session_handle = field.text();
    else if (field.number == 2)
      out.graph_def += field.bytes;
    else if (field.number == 3)
      out.current_graph_version = field.as_int();
    return Status();
  }));
  return out;
}

Result<RunStep> read_run_step(std::string_view bytes, DecodeLimits limits) {
  RunStep out;
  std::string options;
  TROUPE_TRY(for_each_field(bytes, "RunStepRequest", [&](const Field& field) -> Status {
    switch (field.number) {
    case 1:
      out.session_handle = field.text();
      break;
    case 2: {
      std::string name;
      std::string_view value;
      TROUPE_TRY(for_each_field(field.bytes, "NamedTensorProto", [&](const Field& part) {
        if (part.number == 1)
          name = part.text();
        else if (part.number == 2)
          value = part.bytes;
        return Status();
      }));
      TROUPE_ASSIGN(Tensor tensor, read_tensor(value, limits, out.feeds.size(), name));
      out.feeds.emplace_back(std::move(name), std::move(tensor));
      break;
    }
    case 3:
      out.fetches.push_back(field.text());
      break;
    case 4:
      out.targets.push_back(field.text());
      break;
    case 5:
      options += field.bytes;
      break;
    case 6:
      out.partial_run_handle = field.text();
      break;
    case 7:
      out.errors_in_body = field.number_value != 0;
      break;
    case 8:
      out.request_id = field.as_int();
      break;
    default:
      break;
    }
    return {};
  }));
  TROUPE_ASSIGN(out.options, run_options_from_bytes(options));
  return out;
}

Result<PartialRunSetup> read_partial_run_setup(std::string_view bytes) {
  PartialRunSetup out;
  TROUPE_TRY(for_each_field(bytes, "PartialRunSetupRequest", [&](const Field& field) {
    if (field.number == 1)
      out.session_handle = field.text();
    else if (field.number == 2)
      out.feeds.push_back(field.text());
    else if (field.number == 3)
      out.fetches.push_back(field.text());
    else if (field.number == 4)
      out.targets.push_back(field.text());
    return Status();
  }));
  return out;
}

Result<Reset> read_reset(std::string_view bytes) {
  Reset out;
  TROUPE_TRY(for_each_field(bytes, "ResetRequest", [&](const Field& field) {
    if (field.number == 1)
      out.containers.push_back(field.text());
    else if (field.number == 2)
      out.device_filters.push_back(field.text());
    return Status();
  }));
  return out;
}

Result<MakeCallable> read_make_callable(std::string_view bytes) {
  MakeCallable out;
  std::string options;
  TROUPE_TRY(for_each_field(bytes, "MakeCallableRequest", [&](const Field& field) {
    if (field.number == 1)
      out.session_handle = field.text();
    else if (field.number == 2)
      options += field.bytes;
    return Status();
  }));
  TROUPE_ASSIGN(out.options, callable_options_from_bytes(options));
  return out;
}

Result<RunCallable> read_run_callable(std::string_view bytes, DecodeLimits limits) {
  RunCallable out;
  TROUPE_TRY(for_each_field(bytes, "RunCallableRequest", [&](const Field& field) -> Status {
    if (field.number == 1) {
      out.session_handle = field.text();
    } else if (field.number == 2) {
      out.handle = field.as_int();
    } else if (field.number == 3) {
      TROUPE_ASSIGN(Tensor tensor, read_tensor(field.bytes, limits, out.feeds.size()));
      out.feeds.push_back(std::move(tensor));
    } else if (field.number == 4) {
      out.request_id = field.as_int();
    }
    return {};
  }));
  return out;
}

Result<ReleaseCallable> read_release_callable(std::string_view bytes) {
  ReleaseCallable out;
  TROUPE_TRY(for_each_field(bytes, "ReleaseCallableRequest", [&](const Field& field) {
    if (field.number == 1)
      out.session_handle = field.text();
    else if (field.number == 2)
      out.handle = field.as_int();
    return Status();
  }));
  return out;
}

Result<RequestHead> read_head(std::string_view method, std::string_view bytes) {
  RequestHead out;
  const int in_body = method == "RunStep" ? 7 : 0; // its field of that meaning
  TROUPE_TRY(for_each_field(bytes, str_cat(method, "Request"), [&](const Field& field) {
    if (field.number == 1)
      out.session_handle = field.text();
    else if (field.number == in_body)
      out.errors_in_body = field.number_value != 0;
    return Status();
  }));
  return out;
}

std::string write_session_created(std::string_view session_handle, std::int64_t graph_version) {
  tensorflow::CreateSessionResponse out;
  out.set_session_handle(std::string(session_handle));
  out.set_graph_version(graph_version);
  return out.SerializeAsString();
}

std::string write_session_extended(std::int64_t new_graph_version) {
  tensorflow::ExtendSessionResponse out;
  out.set_new_graph_version(new_graph_version);
  return out.SerializeAsString();
}

void complete_names(std::vector<std::string>& names) {
  for (std::string& name : names)
    if (name.find(':') == name.npos)
      name += ":0";
}

void complete_names(std::vector<std::pair<std::string, Tensor>>& feeds) {
  for (auto& [name, value] : feeds)
    if (name.find(':') == name.npos)
      name += ":0";
}

Result<AnswerBytes> write_step_done(const std::vector<std::string>& names,
                                    const std::vector<Tensor>& tensors,
                                    const RunMetadata& metadata) {
  TROUPE_ASSIGN(std::string stats, encode_metadata(metadata));
  std::vector<EncodedTensor> encoded;
  std::vector<std::size_t> sizes;
  std::size_t total = size_of_field(stats.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    encoded.push_back(encode(tensors[i]));
    sizes.push_back(size_of_field(names[i].size()) + size_of_field(encoded.back().size()));
    total += size_of_field(sizes.back());
  }
  TROUPE_TRY(check_size(total));
  AnswerBytes out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    append_length(out.end(), 1, sizes[i]);
    append_bytes(out.end(), 1, names[i]);
    append_tensor(out, 2, encoded[i]);
  }
  if (!stats.empty())
    append_bytes(out.end(), 2, stats);
  return out;
}

std::string write_step_failed(Code code, std::string_view message) {
  tensorflow::RunStepResponse out;
  out.set_status_code(static_cast<tensorflow::error::Code>(code));
  out.set_status_error_message(to_utf8(message)); // others are no string to protobuf
  return out.SerializeAsString();
}

std::string write_partial_run_set_up(std::string_view handle) {
  tensorflow::PartialRunSetupResponse out;
  out.set_partial_run_handle(std::string(handle));
  return out.SerializeAsString();
}

std::string write_callable_made(std::int64_t handle) {
  tensorflow::MakeCallableResponse out;
  out.set_handle(handle);
  return out.SerializeAsString();
}

Result<AnswerBytes> write_callable_done(const std::vector<Tensor>& tensors,
                                        const RunMetadata& metadata) {
  TROUPE_ASSIGN(std::string stats, encode_metadata(metadata));
  std::vector<EncodedTensor> encoded;
  std::size_t total = size_of_field(stats.size());
  for (const Tensor& tensor : tensors) {
    encoded.push_back(encode(tensor));
    total += size_of_field(encoded.back().size());
  }
  TROUPE_TRY(check_size(total));
  AnswerBytes out;
  for (const EncodedTensor& tensor : encoded)
    append_tensor(out, 1, tensor);
  if (!stats.empty())
    append_bytes(out.end(), 2, stats);
  return out;
}

std::string write_device_list(const std::vector<DeviceAttributes>& local,
                              const std::vector<DeviceAttributes>& remote) {
  tensorflow::ListDevicesResponse out;
  auto add = [](const DeviceAttributes& from, tensorflow::DeviceAttributes& to) {
    to.set_name(from.name);
    to.set_device_type(from.type);
    to.set_memory_limit(from.memory_limit);
    to.set_incarnation(from.incarnation);
    to.set_physical_device_desc(from.description);
  };
  for (const DeviceAttributes& device : local)
    add(device, *out.add_local_device());
  for (const DeviceAttributes& device : remote)
    add(device, *out.add_remote_device());
  return out.SerializeAsString();
}

std::string client_message(const Status& status) {
  const Origin& origin = status.origin();
  if (origin.node.empty())
    return status.message();
  const std::string task = task_of_device(origin.device);
  return str_cat(task.empty() ? "" : str_cat("From ", task, ":\n"),
                 naming_node(status.message(), origin.node));
}

} // namespace troupe::master_codec
