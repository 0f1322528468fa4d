// Faults between a gateway and its clients: what a client is told to have run has run once.
#include <algorithm>
#include <random>

#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/gateway/gateway_rig.hpp"
#include "tests/support/rpc/fault_proxy.hpp"

namespace troupe::gateway_faults_test {

using troupe::testing::comes_true;
using troupe::testing::FaultProxy;
using troupe::testing::GatewayRig;
using troupe::testing::parsed;
using troupe::testing::RpcClient;

namespace {

constexpr std::int64_t large_elements = 16 << 20; // 64 MiB

struct Fixture : GatewayRig {
  FaultProxy proxy{gateway->port()};
  std::unique_ptr<RpcClient> far = connect_far(); ///< behind the proxy
  Output twice = ops::neg(root.named("twice"), y);
  /// Waits until somebody puts a value into the queue.
  Operation queue = root.named("q").add("FIFOQueueV2", std::vector<Output>{},
                                        {{"component_types", std::vector<DType>{DType::float32}}});
  Operation put = root.named("put").add("QueueEnqueueV2", std::vector<Output>{queue.output(0), x},
                                        {{"Tcomponents", std::vector<DType>{DType::float32}}});
  Operation got = root.named("got").add("QueueDequeueV2", std::vector<Output>{queue.output(0)},
                                        {{"component_types", std::vector<DType>{DType::float32}}});
  Operation added_late =
      ops::assign_add_variable_op(root.named("add_late"), v.handle(), got.output(0));
  Output count_late =
      ops::read_variable_op(root.named("count_late").after(std::vector<Operation>{added_late}),
                            v.handle(), DType::float32);

  std::unique_ptr<RpcClient> connect_far() const {
    return std::make_unique<RpcClient>("tensorflow.MasterService", proxy.port(),
                                       RpcClient::Connects::with_first_call); // what may break, too
  }
  /// As TensorFlow's client: the same request again, while the wire is broken.
  Result<std::string> call(const std::string& method, const std::string& request) {
    for (int i = 0; i < 100; ++i) {
      auto answer = far->call(method, request);
      if (answer.ok() ||
          (answer.status().code() != Code::unavailable && answer.status().code() != Code::unknown))
        return answer;
      far = connect_far();
    }
    return unavailable("the wire stays broken");
  }
  tensorflow::RunStepResponse run_far(const tensorflow::RunStepRequest& step) {
    return parsed<tensorflow::RunStepResponse>(call("RunStep", step.SerializeAsString()));
  }
  void warm_up() { // the connection stands
    CHECK(far->call("ListDevices", "").ok());
  }
};

tensorflow::RunStepRequest with_id(tensorflow::RunStepRequest step, std::int64_t id) {
  step.set_request_id(id);
  return step;
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "gateway faults: an answer that is lost is given again") {
  const std::string session = open_initialized();
  const auto request = with_id(step(session, count.name()), 7);
  warm_up();
  proxy.lose_answers();
  auto lost = far->start("RunStep", request.SerializeAsString());
  CHECK(comes_true([&] { return counted(session) == 1; }));
  proxy.cut();
  CHECK_FALSE(lost.wait().ok());
  CHECK(value(run_far(request)).value<float>() == 1);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture, "gateway faults: a request that comes twice at once runs once") {
  const std::string session = open_initialized();
  // Neither has a graph yet, so that both wait for it.
  const auto request = with_id(step(session, count_late.name()), -9).SerializeAsString();
  auto other = connect();
  auto first = client->start("RunStep", request), second = other->start("RunStep", request);
  auto put_one = step(session, "");
  put_one.add_target(put.name());
  feed(put_one, "x:0", Tensor::scalar(1.0f));
  auto third = connect();
  auto putting = third->start("RunStep", put_one.SerializeAsString());
  CHECK(value(parsed<tensorflow::RunStepResponse>(first.wait())).value<float>() == 1);
  CHECK(value(parsed<tensorflow::RunStepResponse>(second.wait())).value<float>() == 1);
  CHECK(putting.wait().ok());
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway faults: a client that comes back joins its step that still runs") {
  const std::string session = open_initialized();
  const auto request = with_id(step(session, count_late.name()), 11);
  warm_up();
  auto lost = far->start("RunStep", request.SerializeAsString());
  CHECK(comes_true([] { return counter("master_steps").value() == 1; }));
  proxy.cut();
  CHECK_FALSE(lost.wait().ok());
  far = connect_far();
  auto again = far->start("RunStep", request.SerializeAsString());
  auto put_one = step(session, "");
  put_one.add_target(put.name());
  feed(put_one, "x:0", Tensor::scalar(1.0f));
  CHECK(run(put_one).status_code() == tensorflow::error::OK);
  CHECK(value(parsed<tensorflow::RunStepResponse>(again.wait())).value<float>() == 1);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway faults: a connection that is cut in the middle of 64 MiB of feeds") {
  const std::string session = open_initialized();
  auto request = with_id(step(session, count.name()), 13);
  request.add_fetch("twice:0");
  Tensor large = Tensor::zeros(DType::float32, {large_elements});
  large.mutable_data<float>()[large_elements - 1] = 5;
  feed(request, "x:0", large);
  warm_up();
  proxy.cut_after_bytes_to_server(20 << 20);
  auto answer = run_far(request);
  CHECK(proxy.faults() == 1);
  CHECK(value(answer).value<float>() == 1);
  CHECK(value(answer, 1).data<float>()[large_elements - 1] == 5);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway faults: a connection that is cut in the middle of 64 MiB of fetches") {
  const std::string session = open_initialized();
  auto request = with_id(step(session, count.name()), 17);
  request.add_fetch("y:0");
  Tensor large = Tensor::zeros(DType::float32, {large_elements});
  large.mutable_data<float>()[large_elements - 1] = 5;
  feed(request, "x:0", large);
  warm_up();
  proxy.cut_after_bytes_to_client(20 << 20);
  auto answer = run_far(request);
  CHECK(proxy.faults() == 1);
  CHECK(value(answer).value<float>() == 1);
  CHECK(value(answer, 1).data<float>()[large_elements - 1] == -5);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway faults: a large answer is not kept when another step has begun") {
  const std::string session = open_initialized();
  auto request = with_id(step(session, count.name()), 19);
  request.add_fetch("y:0");
  feed(request, "x:0", Tensor::zeros(DType::float32, {large_elements}));
  CHECK(value(run(request)).value<float>() == 1);
  CHECK(value(run(with_id(step(session, count.name()), 20))).value<float>() == 2);
  auto again = run(request); // but it is known, and does not run again
  CHECK(again.status_code() == tensorflow::error::ABORTED);
  CHECK(again.status_error_message().find(
            "The same RunStep (Master) request was received twice.") == 0);
  CHECK(counted(session) == 2);
}

TEST_CASE_FIXTURE(Fixture, "gateway faults: a callable whose answer is lost has run once") {
  const std::string session = open_initialized();
  tensorflow::MakeCallableRequest make;
  make.set_session_handle(session);
  make.mutable_options()->add_fetch(count.name());
  (void)parsed<tensorflow::MakeCallableResponse>(
      client->call("MakeCallable", make.SerializeAsString()));
  tensorflow::RunCallableRequest request;
  request.set_session_handle(session);
  request.set_request_id(23);
  warm_up();
  proxy.lose_answers();
  auto lost = far->start("RunCallable", request.SerializeAsString());
  CHECK(comes_true([&] { return counted(session) == 1; }));
  proxy.cut();
  CHECK_FALSE(lost.wait().ok());
  auto answer =
      parsed<tensorflow::RunCallableResponse>(call("RunCallable", request.SerializeAsString()));
  REQUIRE(answer.fetch_size() == 1);
  CHECK(tensor_from_bytes(answer.fetch(0).SerializeAsString())->value<float>() == 1);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway faults: a piece of a step whose answer is lost is given again") {
  const std::string session = open_initialized();
  tensorflow::PartialRunSetupRequest set_up;
  set_up.set_session_handle(session);
  set_up.add_feed("x:0");
  set_up.add_fetch("y:0");
  set_up.add_fetch(count.name());
  const std::string handle = parsed<tensorflow::PartialRunSetupResponse>(
                                 client->call("PartialRunSetup", set_up.SerializeAsString()))
                                 .partial_run_handle();
  auto piece = with_id(step(session, count.name()), 29);
  piece.set_partial_run_handle(handle);
  warm_up();
  proxy.lose_answers();
  auto lost = far->start("RunStep", piece.SerializeAsString());
  CHECK(comes_true([&] { return counted(session) == 1; }));
  proxy.cut();
  CHECK_FALSE(lost.wait().ok());
  CHECK(value(run_far(piece)).value<float>() == 1);
  auto last = with_id(step(session, "y:0"), 30);
  last.set_partial_run_handle(handle);
  feed(last, "x:0", Tensor::scalar(3.0f));
  CHECK(value(run_far(last)).value<float>() == -3);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture, "gateway faults: an extension whose answer is lost has been made once") {
  const std::string session = open();
  const NodeId first = root.graph()->capacity();
  ops::neg(root.named("late"), y);
  tensorflow::ExtendSessionRequest request;
  request.set_session_handle(session);
  REQUIRE(request.mutable_graph_def()->ParseFromString(*root.graph_def_from(first)));
  request.set_current_graph_version(version);
  const std::string bytes = request.SerializeAsString();
  auto again = [&] {
    return parsed<tensorflow::ExtendSessionResponse>(call("ExtendSession", bytes))
        .new_graph_version();
  };
  auto other = connect();
  auto one = client->start("ExtendSession", bytes), two = other->start("ExtendSession", bytes);
  CHECK(parsed<tensorflow::ExtendSessionResponse>(one.wait()).new_graph_version() == version + 1);
  CHECK(parsed<tensorflow::ExtendSessionResponse>(two.wait()).new_graph_version() == version + 1);
  CHECK(again() == version + 1);
  auto late = step(session, "late:0");
  feed(late, "x:0", Tensor::scalar(2.0f));
  CHECK(value(run(late)).value<float>() == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway faults: over a wire that breaks at random, each step runs once") {
  const std::string session = open_initialized();
  std::mt19937 random(20260214);
  std::uniform_int_distribution<int> kinds(0, 4), bytes(1, 400);
  int acknowledged = 0;
  for (int i = 1; i <= 150; ++i) {
    switch (kinds(random)) {
    case 0:
      proxy.cut_after_bytes_to_server(static_cast<std::uint64_t>(bytes(random)));
      break;
    case 1:
      proxy.cut_after_bytes_to_client(static_cast<std::uint64_t>(bytes(random)));
      break;
    case 2: {
      auto lost =
          far->start("RunStep", with_id(step(session, count.name()), i).SerializeAsString());
      proxy.cut();
      (void)lost.wait();
      break;
    }
    default:
      break;
    }
    auto answer = run_far(with_id(step(session, count.name()), i));
    CHECK(value(answer).value<float>() == static_cast<float>(++acknowledged));
  }
  CHECK(proxy.faults() > 30);
  CHECK(counted(session) == static_cast<float>(acknowledged));
}

} // namespace troupe::gateway_faults_test
