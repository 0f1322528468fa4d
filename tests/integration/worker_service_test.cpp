// A gateway driven as TensorFlow's masters and workers drive a task, by raw messages of
// tensorflow.WorkerService.
#include <google/protobuf/text_format.h>

#include "actors/node/handles.hpp"
#include "actors/protocol/local/worker.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "kernels/framework/rendezvous.hpp"
#include "proto/worker.pb.h"
#include "tests/support/gateway/gateway_rig.hpp"

#include <caf/scoped_actor.hpp>

namespace troupe::worker_service_test {

using troupe::testing::comes_true;
using troupe::testing::GatewayRig;
using troupe::testing::parsed;
using troupe::testing::RpcClient;

namespace {

constexpr const char* master = "/job:chief/replica:0/task:0";

struct Fixture : GatewayRig {
  std::unique_ptr<RpcClient> worker = connect_to_worker();
  std::string device;
  std::uint64_t incarnation = 0;

  explicit Fixture(GatewayOptions options = {}, NodeOptions of_node = {})
      : GatewayRig(options, of_node) {
    auto status = parsed<tensorflow::GetStatusResponse>(worker->call("GetStatus", ""));
    REQUIRE(status.device_attributes_size() == 1);
    device = status.device_attributes(0).name();
    incarnation = status.device_attributes(0).incarnation();
    CHECK(status.device_attributes(0).device_type() == "CPU");
  }
  std::unique_ptr<RpcClient> connect_to_worker() const {
    return std::make_unique<RpcClient>("tensorflow.WorkerService", gateway->port());
  }

  Status create(const std::string& session, std::int64_t master_incarnation = 1) const {
    tensorflow::CreateWorkerSessionRequest request;
    request.set_session_handle(session);
    request.set_master_task(master);
    request.set_master_incarnation(master_incarnation);
    return worker->call("CreateWorkerSession", request.SerializeAsString()).status();
  }
  /// `nodes` in protobuf's text; DEVICE and INCARNATION stand for ours.
  Result<std::string> try_register(const std::string& session, std::string nodes) const {
    for (auto [word, value] :
         {std::pair{std::string("DEVICE"), device},
          {"INCARNATION", std::to_string(static_cast<std::int64_t>(incarnation))}})
      for (std::size_t at = 0; (at = nodes.find(word, at)) != nodes.npos; at += value.size())
        nodes.replace(at, word.size(), value);
    tensorflow::RegisterGraphRequest request;
    request.set_session_handle(session);
    request.set_create_worker_session_called(true);
    REQUIRE(google::protobuf::TextFormat::ParseFromString(nodes, request.mutable_graph_def()));
    TROUPE_ASSIGN(std::string bytes, worker->call("RegisterGraph", request.SerializeAsString()));
    tensorflow::RegisterGraphResponse answer;
    REQUIRE(answer.ParseFromString(bytes));
    return answer.graph_handle();
  }
  std::string register_graph(const std::string& session, const std::string& nodes) const {
    auto handle = try_register(session, nodes);
    REQUIRE_MESSAGE(handle.ok(), handle.status().to_string());
    return *handle;
  }
  std::string key(const std::string& to, const std::string& edge) const {
    return rendezvous_key(device, incarnation, to, edge, 0, 0);
  }
  std::string own_key(const std::string& edge) const { return key(device, edge); }

  static tensorflow::RunGraphRequest step(const std::string& session, const std::string& graph,
                                          std::int64_t step_id) {
    tensorflow::RunGraphRequest out;
    out.set_session_handle(session);
    out.set_create_worker_session_called(true);
    out.set_graph_handle(graph);
    out.set_step_id(step_id);
    out.set_store_errors_in_response_body(true);
    return out;
  }
  void send(tensorflow::RunGraphRequest& to, const std::string& edge, float value) const {
    auto* one = to.add_send();
    one->set_name(own_key(edge));
    REQUIRE(one->mutable_tensor()->ParseFromString(tensor_to_bytes(Tensor::scalar(value))));
  }
  tensorflow::RunGraphResponse run(const tensorflow::RunGraphRequest& request) const {
    return parsed<tensorflow::RunGraphResponse>(
        worker->call("RunGraph", request.SerializeAsString()));
  }
  static float value(const tensorflow::TensorProto& tensor) {
    auto read = tensor_from_bytes(tensor.SerializeAsString());
    REQUIRE(read.ok());
    return read->value<float>();
  }
  RpcClient::Pending pull(std::int64_t step_id, const std::string& key) const {
    tensorflow::RecvTensorRequest request;
    request.set_step_id(step_id);
    request.set_rendezvous_key(key);
    return worker->start("RecvTensor", request.SerializeAsString());
  }
  Status clean_up(std::int64_t step_id) const {
    tensorflow::CleanupGraphRequest request;
    request.set_step_id(step_id);
    return worker->call("CleanupGraph", request.SerializeAsString()).status();
  }
  void end(const std::string& session) const {
    tensorflow::DeleteWorkerSessionRequest request;
    request.set_session_handle(session);
    CHECK(worker->call("DeleteWorkerSession", request.SerializeAsString()).ok());
  }
  static bool is_calm() {
    return counter("worker_sessions").value() == 0 && counter("steps").value() == 0 &&
           counter("graphs").value() == 0 && counter("rendezvous").value() == 0;
  }
};

std::string attr(const std::string& name, const std::string& value) {
  return str_cat("attr { key: '", name, "' value { ", value, " } } ");
}
std::string edge(const std::string& op, const std::string& node, const std::string& input,
                 const std::string& name, const std::string& from, const std::string& to,
                 bool of_client) {
  const bool sends = op.find("Send") != op.npos;
  return str_cat("node { name: '", node, "' op: '", op, "' device: 'DEVICE' ",
                 input.empty() ? "" : str_cat("input: '", input, "' "),
                 attr(sends ? "T" : "tensor_type", "type: DT_FLOAT"),
                 attr("tensor_name", str_cat("s: '", name, "'")),
                 attr("send_device", str_cat("s: '", from, "'")),
                 attr("recv_device", str_cat("s: '", to, "'")),
                 attr("send_device_incarnation", "i: INCARNATION"),
                 of_client ? attr("client_terminated", "b: true") : "", "} ");
}
std::string fed(const std::string& node) {
  return edge("_Recv", node, "", node, "DEVICE", "DEVICE", true);
}
std::string fetched(const std::string& input, const std::string& name) {
  return edge("_Send", "send_" + name, input, name, "DEVICE", "DEVICE", true);
}
std::string unary(const std::string& op, const std::string& node, const std::string& input) {
  return str_cat("node { name: '", node, "' op: '", op, "' device: 'DEVICE' input: '", input, "' ",
                 attr("T", "type: DT_FLOAT"), "} ");
}
const std::string negated = fed("x") + unary("Neg", "y", "x") + fetched("y", "y");
const std::string to_other = fed("x") + edge("_Send", "out", "x", "edge_1_x", "DEVICE",
                                             "/job:other/replica:0/task:0/device:CPU:0", false);

struct Impatient : Fixture {
  static NodeOptions impatient() {
    NodeOptions out;
    out.timeouts.request = std::chrono::seconds(1);
    return out;
  }
  Impatient() : Fixture({}, impatient()) {}
};

struct FewSessions : Fixture {
  static GatewayOptions few() {
    GatewayOptions out;
    out.max_sessions = 2;
    return out;
  }
  FewSessions() : Fixture(few()) {}
};

} // namespace

TEST_CASE_FIXTURE(FewSessions, "worker service: sessions are bounded") {
  CHECK(create("a").ok());
  CHECK(create("b").ok());
  CHECK(create("b").ok());
  CHECK(create("c").code() == Code::resource_exhausted);
  end("a");
  CHECK(create("c").ok());
}

TEST_CASE_FIXTURE(Fixture, "worker service: steps that a master never cleans up do not pile up") {
  CHECK(create("s").ok());
  const std::string graph = register_graph("s", to_other);
  constexpr int most = 10'000;
  for (int i = 1; i <= most + 100; ++i) {
    auto request = step("s", graph, i);
    send(request, "x", 1);
    REQUIRE(run(request).status_code() == tensorflow::error::OK);
  }
  CHECK(comes_true([] { return counter("rendezvous").value() <= most; }));
  end("s");
  CHECK(comes_true(is_calm));
}

TEST_CASE_FIXTURE(
    Fixture,
    "worker service: a graph is registered, run with values sent along, and its session ended") {
  CHECK(create("s").ok());
  CHECK(create("s").ok()); // its master asks again
  const std::string graph = register_graph("s", negated);
  for (int i = 1; i < 4; ++i) {
    auto request = step("s", graph, 100 + i);
    send(request, "x", static_cast<float>(i));
    request.add_recv_key(own_key("y"));
    const auto answer = run(request);
    REQUIRE_MESSAGE(answer.status_code() == tensorflow::error::OK, answer.status_error_message());
    REQUIRE(answer.recv_size() == 1);
    CHECK(answer.recv(0).name() == own_key("y"));
    CHECK(value(answer.recv(0).tensor()) == static_cast<float>(-i));
    CHECK(clean_up(100 + i).ok());
  }
  end("s");
  CHECK(comes_true(is_calm));
}

TEST_CASE_FIXTURE(
    Fixture, "worker service: peers come for values before the step, while it runs, and after") {
  CHECK(create("s").ok());
  const std::string graph = register_graph("s", to_other);
  auto again = step("s", graph, 6);
  CHECK(clean_up(6).ok());
  CHECK(run(again).status_code() == tensorflow::error::ABORTED); // late: the step has ended
  const std::string wanted = key("/job:other/replica:0/task:0/device:CPU:0", "edge_1_x");
  auto early = pull(7, wanted);
  auto request = step("s", graph, 7);
  send(request, "x", 3);
  CHECK(run(request).status_code() == tensorflow::error::OK);
  CHECK(value(parsed<tensorflow::RecvTensorResponse>(early.wait()).tensor()) == 3);
  request = step("s", graph, 8);
  send(request, "x", 4);
  CHECK(run(request).status_code() == tensorflow::error::OK);
  CHECK(value(parsed<tensorflow::RecvTensorResponse>(pull(8, wanted).wait()).tensor()) == 4);
  CHECK(clean_up(8).ok());
  CHECK(pull(8, wanted).wait().status().code() == Code::aborted);
  auto never = pull(9, wanted);
  CHECK(clean_up(9).ok());
  CHECK(never.wait().status().code() == Code::aborted);
}

TEST_CASE_FIXTURE(
    Fixture,
    "worker service: values of a task that was started again are refused in TensorFlow's words") {
  auto answer = pull(1, rendezvous_key(device, incarnation + 1, device, "x", 0, 0)).wait();
  CHECK(answer.status().code() == Code::aborted);
  CHECK(answer.status().message().find("RecvTensor expects a different device incarnation: ") == 0);
  CHECK(answer.status().message().find("was probably restarted") != std::string::npos);
  answer =
      pull(1, rendezvous_key("/job:ps/replica:0/task:0/device:CPU:0", 1, device, "x", 0, 0)).wait();
  CHECK(answer.status().code() == Code::invalid_argument);
  CHECK(pull(1, "x:0").wait().status().code() == Code::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture,
                  "worker service: what is not known is ABORTED, so that masters begin anew") {
  auto answer = run(step("none", "1", 1));
  CHECK(answer.status_code() == tensorflow::error::ABORTED);
  CHECK(answer.status_error_message().find("Session handle is not found: none") == 0);
  CHECK(try_register("none", negated).status().code() == Code::aborted);
  CHECK(create("s").ok());
  answer = run(step("s", "none", 2));
  CHECK(answer.status_code() == tensorflow::error::ABORTED);
  CHECK(answer.status_error_message().find("Graph handle is not found: none") == 0);
  tensorflow::CreateWorkerSessionRequest nameless;
  CHECK(worker->call("CreateWorkerSession", nameless.SerializeAsString()).status().code() ==
        Code::invalid_argument);
}

TEST_CASE_FIXTURE(
    Fixture, "worker service: a kernel's error names its node, and the step's other calls end") {
  CHECK(create("s").ok());
  const std::string graph = register_graph(
      "s", fed("x") +
               str_cat("node { name: 'check' op: 'CheckNumerics' device: 'DEVICE' input: 'x' ",
                       attr("T", "type: DT_FLOAT"), attr("message", "s: 'not a number'"), "} ") +
               fetched("check", "y"));
  auto request = step("s", graph, 1);
  send(request, "x", std::numeric_limits<float>::quiet_NaN());
  request.add_recv_key(own_key("y"));
  const auto answer = run(request);
  CHECK(answer.status_code() == tensorflow::error::INVALID_ARGUMENT);
  CHECK(answer.status_error_message().find("not a number") != std::string::npos);
  CHECK(answer.status_error_message().find("[[{{node check}}]]") != std::string::npos);
  CHECK(clean_up(1).ok());
}

TEST_CASE_FIXTURE(Impatient,
                  "worker service: a value that the graph never sends ends the wait for it") {
  CHECK(create("s").ok());
  const std::string graph = register_graph("s", negated);
  auto request = step("s", graph, 1);
  send(request, "x", 1);
  request.add_recv_key(own_key("y"));
  request.add_recv_key(own_key("nothing"));
  const auto answer = run(request);
  CHECK(answer.status_code() == tensorflow::error::INTERNAL);
  CHECK(answer.status_error_message().find("nothing") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "worker service: a master that goes away in a step ends it") {
  CHECK(create("s").ok());
  const std::string graph = register_graph("s", negated);
  auto waiting = worker->start("RunGraph", step("s", graph, 1).SerializeAsString());
  CHECK(comes_true([] { return counter("steps").value() == 1; }));
  waiting.cancel();
  CHECK(comes_true([] { return counter("steps").value() == 0; }));
  CHECK(clean_up(1).ok());
  // Cleaned up while it runs.
  auto other = worker->start("RunGraph", step("s", graph, 2).SerializeAsString());
  CHECK(comes_true([] { return counter("steps").value() == 1; }));
  CHECK(clean_up(2).ok());
  const auto answer = parsed<tensorflow::RunGraphResponse>(other.wait());
  CHECK(answer.status_code() == tensorflow::error::ABORTED);
  CHECK(comes_true([] { return counter("steps").value() == 0; }));
}

TEST_CASE_FIXTURE(Fixture, "worker service: a master that was started again loses what it had") {
  CHECK(create("old", 1).ok());
  const std::string graph = register_graph("old", negated);
  auto waiting = worker->start("RunGraph", step("old", graph, 1).SerializeAsString());
  CHECK(comes_true([] { return counter("steps").value() == 1; }));
  CHECK(create("new", 2).ok());
  CHECK(parsed<tensorflow::RunGraphResponse>(waiting.wait()).status_code() ==
        tensorflow::error::ABORTED);
  CHECK(run(step("old", graph, 2)).status_code() == tensorflow::error::ABORTED);
  CHECK(comes_true([] { return counter("worker_sessions").value() == 1; }));
  end("new");
  CHECK(comes_true(is_calm));
}

TEST_CASE_FIXTURE(Fixture,
                  "worker service: a session that is killed ends its steps, and nothing else") {
  CHECK(create("s").ok());
  CHECK(create("t").ok());
  const std::string graph = register_graph("s", negated);
  const std::string others = register_graph("t", negated);
  auto waiting = worker->start("RunGraph", step("s", graph, 1).SerializeAsString());
  CHECK(comes_true([] { return counter("steps").value() == 1; }));
  caf::scoped_actor self{node->system()};
  self->request(node->handles().worker, caf::infinite, FindWorkerSession{"s"})
      .receive(
          [&](const WorkerSessionCreated& found) {
            self->send_exit(found.session, caf::exit_reason::kill);
          },
          [](caf::error&) { FAIL("there is no session"); });
  CHECK(parsed<tensorflow::RunGraphResponse>(waiting.wait()).status_code() ==
        tensorflow::error::ABORTED);
  CHECK(comes_true(
      [&] { return run(step("s", graph, 2)).status_error_message().find("Session handle") == 0; }));
  auto request = step("t", others, 3);
  send(request, "x", 1);
  CHECK(run(request).status_code() == tensorflow::error::OK);
}

TEST_CASE_FIXTURE(
    Fixture,
    "worker service: a partial run comes in pieces, and its last call waits for the graph") {
  CHECK(create("s").ok());
  const std::string graph =
      register_graph("s", fed("a") + fed("b") + unary("Neg", "c", "a") + unary("Neg", "d", "b") +
                              fetched("c", "c") + fetched("d", "d"));
  auto piece = [&](const std::string& in, const std::string& out, bool is_last) {
    auto request = step("s", graph, 5);
    request.set_is_partial(true);
    request.set_is_last_partial_run(is_last);
    send(request, in, 2);
    request.add_recv_key(own_key(out));
    return run(request);
  };
  CHECK(value(piece("a", "c", false).recv(0).tensor()) == -2);
  CHECK(value(piece("b", "d", true).recv(0).tensor()) == -2);
  CHECK(clean_up(5).ok());
}

TEST_CASE_FIXTURE(
    Fixture, "worker service: a value of a task that nobody knows fails the step with a sentence") {
  CHECK(create("s").ok());
  const std::string graph =
      register_graph("s", edge("_Recv", "r", "", "edge_1_x",
                               "/job:ps/replica:0/task:0/device:CPU:0", "DEVICE", false) +
                              unary("Neg", "y", "r"));
  const auto answer = run(step("s", graph, 1));
  CHECK(answer.status_code() == tensorflow::error::FAILED_PRECONDITION);
  CHECK(answer.status_error_message().find("/job:ps/replica:0/task:0") != std::string::npos);
  CHECK(answer.status_error_message().find("--cluster") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "worker service: containers are emptied, graphs are forgotten") {
  CHECK(create("s").ok());
  const std::string graph = register_graph("s", negated);
  tensorflow::DeregisterGraphRequest forget;
  forget.set_session_handle("s");
  forget.set_graph_handle(graph);
  CHECK(worker->call("DeregisterGraph", forget.SerializeAsString()).ok());
  CHECK(run(step("s", graph, 1)).status_code() == tensorflow::error::ABORTED);
  CHECK(worker->call("CleanupAll", "").ok());
  CHECK(worker->call("Logging", "").ok());
  CHECK(worker->call("RecvBuf", "").status().code() == Code::unimplemented);
  CHECK(worker->call("Nothing", "").status().code() == Code::unimplemented);
}

TEST_CASE_FIXTURE(
    Fixture, "worker service: bytes that are no request get a sentence, and the task goes on") {
  CHECK(create("s").ok());
  const std::string graph = register_graph("s", negated);
  auto whole = step("s", graph, 1);
  send(whole, "x", 1);
  whole.add_recv_key(own_key("y"));
  const std::string requests[] = {whole.SerializeAsString(), std::string(64, '\xff')};
  std::uint64_t state = 1;
  auto next = [&](std::size_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % bound;
  };
  for (const char* method : {"GetStatus", "CreateWorkerSession", "RegisterGraph", "DeregisterGraph",
                             "RunGraph", "CleanupGraph", "RecvTensor", "DeleteWorkerSession"})
    for (int i = 0; i < 60; ++i) {
      std::string bytes = requests[next(2)];
      for (std::size_t n = next(6); n > 0; --n)
        bytes[next(bytes.size())] = static_cast<char>(next(256));
      bytes.resize(next(bytes.size() + 1));
      // Whoever waits by right (RunGraph without its value, a step that is to come) waits no longer
      // than this.
      auto call = worker->start(method, bytes, std::chrono::milliseconds(200));
      auto answer = call.wait();
      if (!answer.ok())
        CHECK_FALSE(answer.status().message().empty());
    }
  CHECK(create("after").ok());
  const std::string again = register_graph("after", negated);
  auto request = step("after", again, 1'000'000);
  send(request, "x", 1);
  CHECK(run(request).status_code() == tensorflow::error::OK);
}

} // namespace troupe::worker_service_test
