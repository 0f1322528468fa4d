#include "actors/master_session/session_record.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "proto/session_record.pb.h"

namespace troupe {

namespace {

constexpr int record_format = 1;

std::vector<std::string> read(const google::protobuf::RepeatedPtrField<std::string>& from) {
  return {from.begin(), from.end()};
}
void write(const std::vector<std::string>& from,
           google::protobuf::RepeatedPtrField<std::string>& to) {
  for (const std::string& name : from)
    *to.Add() = name;
}

SessionRecord::SignatureRef read(const proto::RecordedSignature& from) {
  RecordedSignature out{read(from.feed()), read(from.fetch()), read(from.target()), {}};
  for (const auto& connection : from.connection())
    out.connections.push_back({connection.from(), connection.to()});
  return std::make_shared<const RecordedSignature>(std::move(out));
}
void write(const RecordedSignature& from, proto::RecordedSignature& to) {
  write(from.feeds, *to.mutable_feed());
  write(from.fetches, *to.mutable_fetch());
  write(from.targets, *to.mutable_target());
  for (const TensorConnection& connection : from.connections) {
    auto& out = *to.add_connection();
    out.set_from(connection.from);
    out.set_to(connection.to);
  }
}

SessionSettings read(const proto::RecordedSettings& from) {
  SessionSettings out;
  out.device_filters = read(from.device_filter());
  out.allow_soft_placement = from.allow_soft_placement();
  out.log_device_placement = from.log_device_placement();
  out.isolate_session_state = from.isolate_session_state();
  out.optimize = from.optimize();
  out.disabled_passes = read(from.disabled_pass());
  out.enabled_passes = read(from.enabled_pass());
  out.operation_timeout_us = from.operation_timeout_us();
  out.infer_shapes = from.infer_shapes();
  out.place_pruned = from.place_pruned();
  out.bfloat16_sendrecv = from.bfloat16_sendrecv();
  out.recv_scheduling = from.recv_scheduling();
  out.static_graph = from.static_graph();
  out.hides_partition_graphs = from.hides_partition_graphs();
  out.any_feed_shape = from.any_feed_shape();
  out.cost_model_every = from.cost_model_every();
  out.cost_model_after = from.cost_model_after();
  out.timeline_every = from.timeline_every();
  out.lease_us = from.lease_us();
  return out;
}
void write(const SessionSettings& from, proto::RecordedSettings& to) {
  write(from.device_filters, *to.mutable_device_filter());
  to.set_allow_soft_placement(from.allow_soft_placement);
  to.set_log_device_placement(from.log_device_placement);
  to.set_isolate_session_state(from.isolate_session_state);
  to.set_optimize(from.optimize);
  write(from.disabled_passes, *to.mutable_disabled_pass());
  write(from.enabled_passes, *to.mutable_enabled_pass());
  to.set_operation_timeout_us(from.operation_timeout_us);
  to.set_infer_shapes(from.infer_shapes);
  to.set_place_pruned(from.place_pruned);
  to.set_bfloat16_sendrecv(from.bfloat16_sendrecv);
  to.set_recv_scheduling(from.recv_scheduling);
  to.set_static_graph(from.static_graph);
  to.set_hides_partition_graphs(from.hides_partition_graphs);
  to.set_any_feed_shape(from.any_feed_shape);
  to.set_cost_model_every(from.cost_model_every);
  to.set_cost_model_after(from.cost_model_after);
  to.set_timeline_every(from.timeline_every);
  to.set_lease_us(from.lease_us);
}

Result<RecordedTask> read(const proto::RecordedTask& from) {
  TROUPE_TRY(DeviceName::parse(from.task()).status());
  RecordedTask out{from.task(), {}};
  for (const auto& device : from.device())
    out.devices.push_back({device.name(), device.device_type(), device.memory_limit(),
                           device.incarnation(), device.physical_device_desc()});
  return out;
}
void write(const RecordedTask& from, proto::RecordedTask& to) {
  to.set_task(from.task);
  for (const DeviceAttributes& device : from.devices) {
    auto& out = *to.add_device();
    out.set_name(device.name);
    out.set_device_type(device.type);
    out.set_memory_limit(device.memory_limit);
    out.set_incarnation(device.incarnation);
    out.set_physical_device_desc(device.description);
  }
}

Status damaged(std::string_view bytes, std::string_view why) {
  return invalid_argument(
      str_cat("these ", bytes.size(), " bytes are no record of a session: ", why));
}

// What no writer writes.
Status check(std::string_view bytes, const proto::SessionRecord& record) {
  if (record.format() != record_format)
    return invalid_argument(str_cat("a record of a session has format ", record.format(),
                                    ", this release reads format ", record_format));
  if (record.session_handle().empty())
    return damaged(bytes, "it has no session handle");
  if (record.task().empty())
    return damaged(bytes, "it has no tasks");
  if (record.graph_version() < 0)
    return damaged(bytes, str_cat("its graph has version ", record.graph_version()));
  for (const auto& [callable, names] : record.callable())
    if (callable == 0 || callable >= record.next_callable())
      return damaged(bytes, str_cat("its callable ", callable, " is not below ",
                                    record.next_callable(), ", which is to be the next"));
  return {};
}

Status parse(std::string_view bytes, proto::SessionRecord& record) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return damaged(bytes, "they are too many");
  google::protobuf::LogSilencer quiet; // bad bytes are our caller's to tell of
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return damaged(bytes, "they are cut off or damaged");
  return check(bytes, record);
}

} // namespace

SessionRecord SessionRecord::begin(std::string handle, SessionSettings settings,
                                   std::vector<RecordedTask> tasks, const OpRegistry& ops) {
  SessionRecord out;
  out.handle = std::move(handle);
  out.settings = std::make_shared<const SessionSettings>(std::move(settings));
  out.tasks = std::make_shared<const std::vector<RecordedTask>>(std::move(tasks));
  out.graph = std::make_shared<const Graph>(ops);
  out.assigned = std::make_shared<const Assigned>();
  return out;
}

void SessionRecord::extend(std::shared_ptr<const Graph> extended, bool begins) {
  graph = std::move(extended);
  version += !begins;
}

bool SessionRecord::assign(const std::vector<std::pair<std::string, std::string>>& devices) {
  auto next = std::make_shared<Assigned>(*assigned);
  bool is_new = false;
  for (const auto& [node, device] : devices)
    is_new |= std::exchange((*next)[node], device) != device;
  if (is_new)
    assigned = std::move(next);
  return is_new;
}

bool SessionRecord::learn(RecordedSignature signature) {
  if (std::ranges::any_of(signatures, [&](const auto& known) { return *known == signature; }))
    return false;
  if (signatures.size() == max_signatures)
    signatures.erase(signatures.begin());
  signatures.push_back(std::make_shared<const RecordedSignature>(std::move(signature)));
  return true;
}

std::uint64_t SessionRecord::add_callable(RecordedSignature signature) {
  callables.emplace(next_callable, std::make_shared<const RecordedSignature>(std::move(signature)));
  return next_callable++;
}

Result<std::string> write_session_record(const SessionRecord& record) {
  proto::SessionRecord out;
  out.set_format(record_format);
  out.set_session_handle(record.handle);
  write(*record.settings, *out.mutable_settings());
  for (const RecordedTask& task : *record.tasks)
    write(task, *out.add_task());
  if (record.graph->num_nodes() > 0) {
    TROUPE_ASSIGN(*out.mutable_graph_def(), write_graph_bytes(*record.graph));
  }
  out.set_graph_version(record.version);
  out.mutable_assigned_device()->insert(record.assigned->begin(), record.assigned->end());
  for (const auto& signature : record.signatures)
    write(*signature, *out.add_signature());
  for (const auto& [callable, signature] : record.callables)
    write(*signature, (*out.mutable_callable())[callable]);
  out.set_next_callable(record.next_callable);
  if (out.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return resource_exhausted(str_cat("the record of session ", record.handle, " would have ",
                                      out.ByteSizeLong(),
                                      " bytes; at most 2147483647 are "
                                      "possible"));
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true); // equal records give equal bytes
    out.SerializeToCodedStream(&coded);
  }
  return bytes;
}

Result<SessionRecord> read_session_record(std::string_view bytes, const OpRegistry& ops,
                                          const DecodeLimits& limits) {
  proto::SessionRecord in;
  TROUPE_TRY(parse(bytes, in));
  std::vector<RecordedTask> tasks;
  for (const auto& task : in.task()) {
    TROUPE_ASSIGN(RecordedTask read_task, read(task));
    tasks.push_back(std::move(read_task));
  }
  SessionRecord out =
      SessionRecord::begin(in.session_handle(), read(in.settings()), std::move(tasks), ops);
  if (!in.graph_def().empty()) {
    ImportOptions import;
    import.limits = limits;
    auto graph = std::make_shared<Graph>(ops);
    TROUPE_TRY(extend_graph_bytes(*graph, in.graph_def(), import));
    out.graph = std::move(graph);
  }
  out.version = in.graph_version();
  out.assigned = std::make_shared<const SessionRecord::Assigned>(in.assigned_device().begin(),
                                                                 in.assigned_device().end());
  for (const auto& signature : in.signature())
    out.signatures.push_back(read(signature));
  if (out.signatures.size() > SessionRecord::max_signatures)
    return damaged(bytes,
                   str_cat("it has ", out.signatures.size(), " signatures, and no more than ",
                           SessionRecord::max_signatures, " are kept"));
  for (const auto& [callable, signature] : in.callable())
    out.callables.emplace(callable, read(signature));
  out.next_callable = std::max<std::uint64_t>(in.next_callable(), 1);
  return out;
}

} // namespace troupe
