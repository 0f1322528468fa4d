// Messages of the protocol go through serialisation and back, filled with values that are
// none of its defaults.
#include <doctest/doctest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/protocol/local/session.hpp"
#include "actors/protocol/messages.hpp"
#include "actors/protocol/status.hpp"
#include "actors/protocol/wire/collectives.hpp"
#include "core/tensor/variant.hpp"

#include <functional>
#include <set>

using namespace troupe;

namespace {

struct Config : caf::actor_system_config {
  Config() { add_protocol_messages(*this); }
};

struct Fixture {
  Config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system, true};
  caf::strong_actor_ptr handle = caf::actor_cast<caf::strong_actor_ptr>(self->ctrl());
  template <class Handle>
  Handle handle_as() const {
    return caf::actor_cast<Handle>(handle);
  }
  std::set<std::string, std::less<>> travelled;

  std::vector<char> bytes_of(const caf::message& message) {
    std::vector<char> bytes;
    caf::binary_serializer sink{system, bytes};
    auto copy = message;
    caf::error error = sink(copy);
    CHECK_MESSAGE(!error, system.render(error));
    return bytes;
  }

  // The message comes back with the same bytes, and as a message of its own type.
  template <class T>
  void round_trip(T value) {
    round_trip(caf::make_message(std::move(value)), caf::type_name<T>::value);
  }
  void round_trip(const caf::message& message, std::string_view name) {
    CAPTURE(name);
    travelled.emplace(name);
    std::vector<char> bytes = bytes_of(message);
    caf::message back;
    caf::binary_deserializer source{system, bytes};
    caf::error error = source(back);
    REQUIRE_MESSAGE(!error, system.render(error));
    REQUIRE(back.size() == 1);
    REQUIRE(back.type(0) == message.type(0));
    CHECK(bytes_of(back) == bytes);
    CHECK(bytes.size() >= name.size());
  }

  StatusMessage status() {
    return {invalid_argument("a sentence")
                .with_origin({"node", "Op", "/job:a/replica:0/task:0/device:CPU:0", 7})
                .as_derived()};
  }
  DeviceAttributes device() {
    return {"/job:a/replica:0/task:0/device:CPU:0", "CPU", 5, 6, "a processor"};
  }
  WireTensor tensor() { return Tensor::of<float>({2, 2}, {1, 2, 3, 4}); }
  WireTensor ticket() {
    WireTensor out;
    out.ticket = std::make_shared<const TensorTicket>(
        TensorTicket{handle, {TicketPlace::shown, 9}, DType::float32, Shape{3}, 12, 7, 64});
    return out;
  }
  DeviceStats stats() {
    NodeStats node;
    node.outputs = {{1, DType::float16, {2, 3}, 12, 64, 0x1000, true}};
    node.inputs = {"a:1", "^b"};
    return {"device", {node}};
  }
  DebugWatch watch() { return {"node", 1, {"DebugIdentity"}, {"file:///tmp/dump"}, true}; }
  CostNode cost() {
    return {"node", "device", {{1, 2}}, {3}, {{4, DType::float16, {5, 6}}}, 7, true};
  }

  void node_messages();
  void worker_messages();
  void master_messages();
  void collective_messages();
};

void Fixture::node_messages() {
  round_trip(Hello{1, "client"});
  round_trip(Welcome{1,
                     "task",
                     2,
                     "troupe",
                     handle_as<WorkerActor>(),
                     handle_as<MasterActor>(),
                     handle_as<TransportActor>(),
                     handle_as<MembershipActor>(),
                     {"name", 3, 4}});
  round_trip(GetActors{});
  round_trip(ActorTree{{{"guardian/x", 3, 4, "detail", handle_as<TreeActor>()}}});
  round_trip(KillActor{"guardian/x"});
  round_trip(GetNodeStatus{});
  PeerInfo peer{"task", "address", true, 5, LossReason::gave_up};
  round_trip(NodeStatus{"task",
                        1,
                        2,
                        3,
                        {device()},
                        {{"steps", 4}},
                        {peer},
                        {"path"},
                        {ContainerInfo{"container", 6, 7}}});
  round_trip(GetResources{});
  round_trip(ResourceList{{{"device", "container", "name", "variable f32[2]", 8}}});
  round_trip(ShutDown{5, "why"});
  round_trip(Heartbeat{"task", 8, 2, 9, 10, 11});
  round_trip(Farewell{"task", 8, 9, 10});
  round_trip(PullChunk{1, 2, 3});
  round_trip(ReleaseTensor{4});
  round_trip(OpenPath{"task", 2, "boot", 1});
  round_trip(PathOffer{"task", 1, "boot", "name", "host", 8, "token", "proof", 2});
}

void Fixture::worker_messages() {
  round_trip(GetWorkerStatus{});
  round_trip(WorkerStatus{"task", {device()}});
  round_trip(CreateWorkerSession{"handle", "task", true, 9});
  round_trip(WorkerSessionCreated{handle_as<WorkerSessionActor>(), {device()}});
  round_trip(DeleteWorkerSession{"handle"});
  round_trip(FindWorkerSession{"handle"});
  round_trip(ClearContainers{{"a"}});
  round_trip(RegisterGraph{"graph", {"pass"}, false, true, {watch()}});
  round_trip(GraphRegistered{"graph", true, true, {cost()}});
  round_trip(DeregisterGraph{"graph"});
  round_trip(RunGraph{"graph", 1, {tensor(), ticket()}, true, true, {2}, 7});
  round_trip(GraphRun{{tensor()}, {stats()}});
  round_trip(CancelStep{1, status()});
  round_trip(CleanupStep{{2}});
  round_trip(ReceiveTensors{3, {"key"}, handle_as<WorkerSessionActor>(), "task"});
  round_trip(EdgesSent{{"key"}});
  round_trip(EdgesLost{3, "task", status()});
  round_trip(RenewLease{});
  round_trip(GraphPiece{"bytes"});
  round_trip(ConfirmLease{"task"});
  round_trip(ResumeSession{status()});
  NodeRecord node{"n",
                  "Op",
                  NodeRecord::End::receive,
                  NodeRecord::State::queued,
                  true,
                  5,
                  "waits for",
                  "edge_1_n",
                  "device",
                  6,
                  7,
                  {"a:0"},
                  8,
                  9};
  EdgeRecord edge{"key", EdgeRecord::State::lies_here};
  round_trip(ExplainPart{3});
  round_trip(TaskRecord{"task",
                        true,
                        {SilenceRecord::Kind::lost, 4, "frozen"},
                        true,
                        true,
                        {{"device", true, 2, {node}}},
                        {edge}});
  round_trip(EdgesArrived{4, {{"key", ticket(), true}, {"other", tensor(), false}}});
}

void Fixture::collective_messages() {
  round_trip(FindCollectives{});
  round_trip(CollectivesFound{handle_as<CollectivesActor>()});
  JoinCollective join;
  join.kind = 1;
  join.merge = 2;
  join.dtype = 3;
  join.divides = true;
  join.group_key = 4;
  join.instance_key = 5;
  join.group_size = 6;
  join.dims = {7, 8};
  join.ticket = 14;
  join.node = "node";
  join.device = "device";
  join.task = "task";
  join.session = "session";
  join.step = 9;
  join.frame = 10;
  join.iteration = 11;
  join.rank = 12;
  join.is_source = join.in_step = join.is_small = true;
  join.timeout_us = 13;
  join.value = tensor();
  round_trip(join);
  round_trip(CollectiveFormed{1, 2, 3, 4, {"device"}, {"task"}, true, true, {tensor()}});
  round_trip(CollectivePiece{1, 2, {3, 4, 5}, ticket()});
  round_trip(CollectiveWaits{1, "text"});
  round_trip(AbortCollective{1, status()});
  round_trip(LeaveCollective{"session", "device", 1, status()});
}

void Fixture::master_messages() {
  SessionSettings settings{.device_filters = {"/job:ps"},
                           .allow_soft_placement = false,
                           .log_device_placement = true,
                           .isolate_session_state = true,
                           .optimize = false,
                           .disabled_passes = {"fold"},
                           .enabled_passes = {"strip"},
                           .infer_shapes = true,
                           .place_pruned = true,
                           .bfloat16_sendrecv = true,
                           .recv_scheduling = true,
                           .static_graph = true,
                           .hides_partition_graphs = true,
                           .any_feed_shape = true,
                           .cost_model_every = 1,
                           .cost_model_after = 2,
                           .timeline_every = 3,
                           .operation_timeout_us = 4,
                           .lease_us = 5};
  round_trip(CreateSession{settings, "graph", 3});
  round_trip(SessionCreated{"handle", handle_as<MasterSessionActor>(), 3, {device()}});
  round_trip(ListDevices{});
  round_trip(DeviceList{{device()}});
  round_trip(ResetContainers{{"a"}, 2});
  round_trip(GetSessions{});
  round_trip(SessionList{{{"handle", 1, 2, 3, 4, 5}}});
  round_trip(FindSession{"handle"});
  round_trip(ExtendGraph{"graph", 4});
  round_trip(GraphExtended{5});
  RunStep step;
  step.feeds = {{"x:0", tensor()}};
  step.fetches = {"y:0"};
  step.targets = {"z"};
  step.timeout_us = 6;
  step.trace = step.partition_graphs = step.report_allocations = true;
  step.debug = {{watch()}, 7, true};
  step.request_id = 8;
  step.partial_run_handle = "9";
  round_trip(step);
  round_trip(SetUpPartialRun{{"x:0"}, {"y:0"}, {"z"}});
  round_trip(PartialRunSetUp{"8"});
  round_trip(RunStepResult{{tensor()}, 8, {{stats()}, {"graph"}, {cost()}}});
  round_trip(CancelRun{9});
  round_trip(MakeCallable{{"x"}, {"y"}, {"z"}, {{"from", "to"}}, {watch()}, true});
  round_trip(CallableMade{1});
  round_trip(RunCallable{2, {tensor()}, 3, true, true, 4});
  round_trip(ReleaseCallable{5});
  round_trip(CloseSession{});
  round_trip(GetSteps{});
  round_trip(StepList{{{1, "signature", "running", 2, 3, {"task"}}}});
  round_trip(ExplainStep{4});
  StepExplained explained{4, "signature", 5, {"line"}, "cause"};
  round_trip(StepsExplained{{explained}, {"remark"}});
  round_trip(ExplainGraph{{"x"}, {"y"}, {"z"}});
  round_trip(SessionEnded{status()});
  round_trip(GraphExplained{{{"node", "device"}}, {{"task", "text"}}});
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "protocol: every message that a port lets through survives the wire") {
  node_messages();
  worker_messages();
  master_messages();
  collective_messages();
  // Fields of messages; what a tensor goes through is tested with them.
  for (const char* field : {"troupe::Tensor", "troupe::WireTensor", "troupe::TensorChunk"})
    travelled.emplace(field);
  for (const auto& [name, make] : config.value_factories_by_name)
    if (name.starts_with("troupe::"))
      CHECK_MESSAGE(travelled.contains(name), name);
}

TEST_CASE_FIXTURE(Fixture, "protocol: a message that stays in its process has no name on a wire") {
  for (const char* local :
       {"troupe::OfferTensor", "troupe::FetchTensor", "troupe::WatchPeer", "troupe::OpenSession",
        "troupe::RunPart", "troupe::NextSlice", "troupe::Drain"})
    CHECK_FALSE(config.value_factories_by_name.count(local));
  CHECK(config.value_factories_by_name.count("troupe::Hello"));
}

TEST_CASE_FIXTURE(Fixture, "protocol: no port lets vectors or streams of messages through") {
  CHECK(config.value_factories_by_name.contains("troupe::GetActors"));
  for (const auto& [name, factory] : config.value_factories_by_name) {
    CAPTURE(name);
    const bool is_form =
        name.starts_with("std::vector<troupe::") || name.starts_with("stream<troupe::");
    CHECK_FALSE(is_form);
  }
}

TEST_CASE_FIXTURE(Fixture, "protocol: a chunk arrives as its own buffer") {
  Tensor tensor = Tensor::of<std::int32_t>({4}, {10, 20, 30, 40});
  auto offset = static_cast<std::uint64_t>(tensor.bytes().data() -
                                           static_cast<const std::byte*>(tensor.buffer()->data())) +
                4;
  std::vector<char> bytes = bytes_of(caf::make_message(TensorChunk{tensor.buffer(), offset, 8}));
  caf::message back;
  caf::binary_deserializer source{system, bytes};
  REQUIRE(!source(back));
  const auto& chunk = back.get_as<TensorChunk>(0);
  REQUIRE(chunk.length == 8);
  CHECK(chunk.offset == 0);
  const auto* values = static_cast<const std::int32_t*>(chunk.buffer->data());
  CHECK(values[0] == 20);
  CHECK(values[1] == 30);
}

TEST_CASE_FIXTURE(Fixture, "protocol: a variant takes its tensors along, to a depth") {
  auto around = [](const Tensor& inner) {
    return Tensor::scalar(
        make_variant("list", {.metadata = "m", .tensors = {inner, Tensor::scalar(1.5F)}}));
  };
  auto read = [&](const Tensor& tensor, caf::message& back) {
    const std::vector<char> bytes = bytes_of(caf::make_message(tensor));
    caf::binary_deserializer source{system, bytes};
    return source(back);
  };
  Tensor nested = Tensor::vector<std::string>({"a", ""});
  for (int i = 0; i < 3; ++i)
    nested = around(nested);
  caf::message back;
  REQUIRE(!read(nested, back));
  CHECK(equal(back.get_as<Tensor>(0), nested));
  while (nesting_of(nested) <= max_variant_nesting)
    nested = around(nested);
  caf::message refused;
  static_cast<void>(read(nested, refused)); // CAF hands on an empty message rather than the error
  CHECK(refused.empty());
}

TEST_CASE_FIXTURE(Fixture, "protocol: the smallest objects travel at the end of a message, too") {
  auto texts = [](std::int64_t count, const std::string& text) {
    Tensor out = Tensor::make(DType::string, {count});
    for (std::string& x : out.mutable_data<std::string>())
      x = text;
    return out;
  };
  std::vector<Tensor> smallest = {Tensor::scalar(std::string()), Tensor::scalar(std::string("x")),
                                  Tensor::scalar(ResourceHandle{}),
                                  Tensor::scalar(make_variant("", {})),
                                  Tensor::make(DType::resource, {50})};
  for (std::int64_t count : {0, 1, 2, 3, 100})
    for (const char* text : {"", "x", "xyz"})
      smallest.push_back(texts(count, text));
  for (const Tensor& tensor : smallest) {
    CAPTURE(tensor.shape());
    round_trip(tensor);
    round_trip(EdgesArrived{4, {{"key", WireTensor(tensor), true}}});
    round_trip(GraphRun{{WireTensor(tensor)}, {}});
  }
}

TEST_CASE_FIXTURE(Fixture, "protocol: values that cannot be read still name their step") {
  const std::vector<char> whole =
      bytes_of(caf::make_message(EdgesArrived{7, {{"key", tensor(), false}}}));
  for (std::size_t missing : {std::size_t{1}, std::size_t{5}, std::size_t{30}}) {
    std::vector<char> bytes(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(missing));
    caf::message back;
    caf::binary_deserializer source{system, bytes};
    REQUIRE(!source(back));
    REQUIRE(back.match_elements<EdgesArrived>());
    const auto& arrived = back.get_as<EdgesArrived>(0);
    CHECK(arrived.is_unreadable);
    CHECK(arrived.step_id == 7);
    CHECK(arrived.edges.empty());
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "protocol: a tensor that claims more bytes than its message holds is refused") {
  std::vector<char> bytes = bytes_of(
      caf::make_message(GraphRun{{WireTensor(Tensor::zeros(DType::float32, {1000}))}, {}}));
  bytes.erase(bytes.end() - 2000, bytes.end());
  caf::message back;
  caf::binary_deserializer source{system, bytes};
  bool refused =
      static_cast<bool>(source(back)); // CAF hands on an empty message rather than the error
  CHECK((refused || !back.match_elements<GraphRun>()));
  CHECK(back.empty());
}

TEST_CASE("status: an error crosses the actors with code, text, origin and derivation") {
  Status status = aborted("it broke").with_origin({"n", "Op", "/device:CPU:0", 12}).as_derived();
  Status back = to_status(to_error(status));
  CHECK(back == status);
  CHECK(back.origin() == status.origin());
  CHECK(back.derived());
  CHECK(to_status(caf::error{}).ok());
}

TEST_CASE("status: a code that does not exist becomes UNKNOWN") {
  Status status = to_status(caf::error{200, to_error(aborted("it broke")).category()});
  CHECK(status.code() == Code::unknown);
}

TEST_CASE("status: CAF's own errors become canonical ones that name the request") {
  // The runtime's patience: no caller's deadline has passed.
  CHECK(to_status(caf::make_error(caf::sec::request_timeout), "RunGraph").code() ==
        Code::unavailable);
  CHECK(to_status(caf::make_error(caf::sec::request_receiver_down), "RunGraph").code() ==
        Code::unavailable);
  CHECK(to_status(caf::make_error(caf::sec::unexpected_message), "RunGraph").code() ==
        Code::unimplemented);
  CHECK(to_status(caf::make_error(caf::sec::request_timeout), "RunGraph")
            .message()
            .starts_with("RunGraph "));
}
