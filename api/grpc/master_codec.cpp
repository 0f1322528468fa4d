#include "api/grpc/master_codec.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "core/base/utf8.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "proto/config.pb.h"
#include "proto/master.pb.h"

namespace troupe::master_codec {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// One field of a message: its number, and its value as it lies in the message's bytes.
struct Field {
  int number = 0;
  std::string_view bytes;         // of a string, bytes or message
  std::uint64_t number_value = 0; // of an integer
  std::int64_t as_int() const { return static_cast<std::int64_t>(number_value); }
  std::string text() const { return std::string(bytes); }
};

Status malformed(std::string_view what) {
  return invalid_argument(str_cat("the request is no ", what));
}

// Calls `take` (Status of a Field) for each field in turn.
template <class Take>
Status for_each_field(std::string_view bytes, std::string_view what, Take take) {
  if (bytes.size() > static_cast<std::size_t>(INT32_MAX))
    return malformed(what);
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  while (std::uint32_t tag = in.ReadTag()) {
    Field field;
    field.number = WireFormatLite::GetTagFieldNumber(tag);
    bool read = false;
    switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT:
      read = in.ReadVarint64(&field.number_value);
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      std::uint32_t length = 0;
      if (in.ReadVarint32(&length) && length <= bytes.size()) {
        field.bytes = bytes.substr(static_cast<std::size_t>(in.CurrentPosition()), length);
        read = field.bytes.size() == length && in.Skip(static_cast<int>(length));
      }
      break;
    }
    default: // of a version that we do not know
      read = WireFormatLite::SkipField(&in, tag);
      break;
    }
    if (!read)
      return malformed(what);
    TROUPE_TRY(take(field));
  }
  if (!in.ConsumedEntireMessage())
    return malformed(what);
  return {};
}

// The client is told which one in TensorFlow's words, and then why; of one that is sound but too large,
// its name, if it has one.
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

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void append_tag(std::string& out, int field, WireFormatLite::WireType type) {
  append_varint(out, WireFormatLite::MakeTag(field, type));
}

void append_bytes(std::string& out, int field, std::string_view bytes) {
  append_tag(out, field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  append_varint(out, bytes.size());
  out.append(bytes);
}

std::size_t size_of_field(std::size_t length) { // with a tag of one byte
  return 1 + google::protobuf::io::CodedOutputStream::VarintSize64(length) + length;
}

// A tensor's bytes without its elements where these follow as they lie in memory, else whole.
struct EncodedTensor {
  std::string head;
  std::string_view content; // of the tensor
  Tensor tensor;            // keeps it
  std::size_t size() const { return head.size() + content.size(); }
};

EncodedTensor encode(const Tensor& tensor) {
  EncodedTensor out;
  if (is_object(tensor.dtype()) || tensor.num_elements() == 0) {
    out.head = tensor_to_bytes(tensor);
    return out;
  }
  tensorflow::TensorProto head;
  head.set_dtype(static_cast<tensorflow::DataType>(tensor.dtype()));
  for (std::int64_t size : tensor.shape().dims())
    head.mutable_tensor_shape()->add_dim()->set_size(size);
  head.mutable_tensor_shape(); // a scalar's is there, too
  head.SerializeToString(&out.head);
  const auto elements = tensor.bytes();
  out.content = {reinterpret_cast<const char*>(elements.data()), elements.size()};
  out.tensor = tensor;
  append_tag(out.head, tensorflow::TensorProto::kTensorContentFieldNumber,
             WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  append_varint(out.head, out.content.size());
  return out;
}

// With a tag of one byte, as all of them are.
void append_tensor(AnswerBytes& to, int field, const EncodedTensor& tensor) {
  constexpr std::size_t worth_lending = 64 << 10;
  std::string& out = to.end();
  append_tag(out, field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  append_varint(out, tensor.size());
  out += tensor.head;
  if (tensor.content.size() < worth_lending)
    out.append(tensor.content);
  else
    to.lend(tensor.content, std::make_shared<const Tensor>(tensor.tensor));
}

constexpr std::size_t most_bytes = INT32_MAX; // of a protobuf message

Status check_size(std::size_t bytes) {
  if (bytes <= most_bytes)
    return {};
  return resource_exhausted(str_cat("the answer takes ", bytes,
                                    " bytes, and a protobuf message holds ", most_bytes,
                                    "; fetch less in one step"));
}

Result<std::string> encode_metadata(const RunMetadata& metadata) {
  if (metadata.step_stats.devices.empty() && metadata.partition_graphs.empty() &&
      metadata.cost_graph.empty())
    return std::string();
  return to_bytes(metadata);
}

} // namespace

Result<CreateSession> read_create_session(std::string_view bytes) {
  CreateSession out;
  std::string config; // one message may come in several pieces, which add up
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
    append_tag(out.end(), 1, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    append_varint(out.end(), sizes[i]);
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
  return str_cat(task.empty() ? "" : str_cat("From ", task, ":\n"), status.message(),
                 "\n\t [[{{node ", origin.node, "}}]]");
}

} // namespace troupe::master_codec
