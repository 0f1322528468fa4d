// Steps that end on the thread of gRPC's that took them: as often, and with the same words, as
// those that actors run.
#include <barrier>
#include <mutex>
#include <thread>
#include <vector>

#include "actors/master_session/kept_answers.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/gateway/gateway_rig.hpp"
#include "tests/support/rpc/fault_proxy.hpp"

namespace troupe::gateway_direct_test {

using troupe::testing::comes_true;
using troupe::testing::FaultProxy;
using troupe::testing::GatewayRig;
using troupe::testing::parsed;
using troupe::testing::RpcClient;

namespace {

struct Fixture : GatewayRig {
  Output queue = root.named("q")
                     .add("FIFOQueueV2", std::vector<Output>{},
                          {{"component_types", std::vector<DType>{DType::float32}}})
                     .output(0);
  Operation put = root.named("put").add("QueueEnqueueV2", std::vector<Output>{queue, x},
                                        {{"Tcomponents", std::vector<DType>{DType::float32}}});
  Output got = root.named("got")
                   .add("QueueDequeueV2", std::vector<Output>{queue},
                        {{"component_types", std::vector<DType>{DType::float32}}})
                   .output(0);
  Output counted_late = [this] {
    Operation added = ops::assign_add_variable_op(root.named("add_late"), v.handle(), got);
    return ops::read_variable_op(root.named("count_late").after(std::vector<Operation>{added}),
                                 v.handle(), DType::float32);
  }();
  Output checked = ops::log(root.named("checked"),
                            root.named("numbered")
                                .add("CheckNumerics", std::vector<Output>{x},
                                     {{"T", DType::float32}, {"message", std::string("here")}})
                                .output(0));

  static std::int64_t direct_steps() { return counter("gateway_direct_steps").value(); }
  /// Runs the step until it ends without an actor.
  void learn(const tensorflow::RunStepRequest& request) const {
    const std::int64_t before = direct_steps();
    CHECK(comes_true([&] {
      CHECK(run(request).status_code() == tensorflow::error::OK);
      return direct_steps() > before;
    }));
  }
  tensorflow::RunStepRequest putting(const std::string& session, float number) const {
    auto out = step(session, "");
    out.add_target(put.name());
    feed(out, "x:0", Tensor::scalar(number));
    return out;
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "gateway, direct: requests that come twice at once run once") {
  const std::string session = open_initialized();
  const auto request = step(session, count.name());
  learn(request);
  const float before = counted(session);
  // However late one of a pair is, the other's answer must be kept still.
  constexpr int pairs = 3, each = 80;
  static_assert(pairs * each < KeptAnswers<int>::max_answers);
  std::mutex mutex;
  std::vector<std::string> wrong;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<std::barrier<>>> meet; // so that they come at once
  for (int i = 0; i < pairs; ++i)
    meet.push_back(std::make_unique<std::barrier<>>(2));
  for (int i = 0; i < 2 * pairs; ++i)
    threads.emplace_back([&, i] {
      auto own = connect();
      auto mine = request;
      for (int n = 1; n <= each; ++n) {
        meet[static_cast<std::size_t>(i / 2)]->arrive_and_wait();
        mine.set_request_id(1000 * (i / 2 + 1) + n); // two threads have the same ids
        auto answer = own->call("RunStep", mine.SerializeAsString());
        tensorflow::RunStepResponse response;
        if (!answer.ok() || !response.ParseFromString(*answer) ||
            response.status_code() != tensorflow::error::OK || response.tensor_size() != 1) {
          std::lock_guard lock{mutex};
          wrong.push_back(answer.ok() ? response.ShortDebugString() : answer.status().to_string());
        }
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(str_join(wrong, "; ") == "");
  CHECK(counted(session) == before + pairs * each);
}

TEST_CASE_FIXTURE(Fixture, "gateway, direct: an answer that is lost is given again") {
  const std::string session = open_initialized();
  FaultProxy proxy{gateway->port()};
  auto far = std::make_unique<RpcClient>("tensorflow.MasterService", proxy.port());
  CHECK(far->call("ListDevices", "").ok());
  auto request = step(session, count.name());
  learn(request);
  request.set_request_id(-7);
  const float before = counted(session);
  proxy.lose_answers();
  auto lost = far->start("RunStep", request.SerializeAsString());
  CHECK(comes_true([&] { return counted(session) == before + 1; }));
  proxy.cut();
  CHECK_FALSE(lost.wait().ok());
  CHECK(value(run(request)).value<float>() == before + 1);
  CHECK(counted(session) == before + 1);
}

TEST_CASE_FIXTURE(Fixture, "gateway, direct: a request that comes again is no other signature's") {
  const std::string session = open_initialized();
  auto request = step(session, count.name());
  request.set_request_id(5);
  CHECK(run(request).status_code() == tensorflow::error::OK);
  CHECK(run(request).status_code() == tensorflow::error::OK);
  CHECK(run(step(session, "")).status_code() == tensorflow::error::INVALID_ARGUMENT);
  CHECK(counted(session) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway, direct: a step that must wait goes on with the actors, once for all") {
  const std::string session = open_initialized();
  auto late = step(session, counted_late.name());
  const std::int64_t before = direct_steps();
  CHECK(comes_true([&] { // there is a value for each
    CHECK(run(putting(session, 1)).status_code() == tensorflow::error::OK);
    const std::int64_t so_far = direct_steps();
    CHECK(run(late).status_code() == tensorflow::error::OK);
    return so_far > before && direct_steps() > so_far;
  }));
  const float so_far = counted(session);
  late.set_request_id(31);
  auto other = connect();
  const std::int64_t running = counter("master_steps").value();
  auto first = client->start("RunStep", late.SerializeAsString());
  CHECK(comes_true([&] { return counter("master_steps").value() > running; }));
  auto again = other->start("RunStep", late.SerializeAsString());
  auto third = connect();
  const auto one = putting(session, 1).SerializeAsString();
  CHECK(third->call("RunStep", one).ok());
  CHECK(value(parsed<tensorflow::RunStepResponse>(first.wait())).value<float>() == so_far + 1);
  CHECK(value(parsed<tensorflow::RunStepResponse>(again.wait())).value<float>() == so_far + 1);
  CHECK(counted(session) == so_far + 1);
}

TEST_CASE_FIXTURE(Fixture, "gateway, direct: a failed step's words are those of the actors") {
  const std::string session = open();
  auto request = step(session, checked.name());
  feed(request, "x:0", Tensor::scalar(2.0f));
  auto bad = step(session, checked.name());
  feed(bad, "x:0", Tensor::scalar(0.0f / 0.0f));
  const auto first = run(bad);
  CHECK(first.status_code() == tensorflow::error::INVALID_ARGUMENT);
  learn(request);
  const auto later = run(bad);
  CHECK(later.status_code() == first.status_code());
  CHECK(later.status_error_message() == first.status_error_message());
  CHECK(later.status_error_message().find("[[{{node numbered}}]]") != std::string::npos);
  CHECK(value(run(request)).value<float>() == doctest::Approx(0.693147));
}

TEST_CASE_FIXTURE(Fixture, "gateway, direct: a session that was closed runs nothing more") {
  const std::string session = open_initialized();
  const auto request = step(session, count.name());
  learn(request);
  CHECK(close(session).ok());
  CHECK(run(request).status_code() == tensorflow::error::ABORTED);
}

TEST_CASE_FIXTURE(Fixture, "gateway, direct: a graph that grows keeps what was known, and more") {
  const std::string session = open_initialized();
  auto request = step(session, "y:0");
  feed(request, "x:0", Tensor::scalar(2.0f));
  learn(request);
  const NodeId first = root.graph()->capacity();
  ops::neg(root.named("late"), y);
  auto graph = root.graph_def_from(first);
  REQUIRE(graph.ok());
  tensorflow::ExtendSessionRequest extension;
  extension.set_session_handle(session);
  REQUIRE(extension.mutable_graph_def()->ParseFromString(*graph));
  extension.set_current_graph_version(version);
  CHECK(client->call("ExtendSession", extension.SerializeAsString()).ok());
  auto late = step(session, "late:0");
  feed(late, "x:0", Tensor::scalar(3.0f));
  learn(late);
  CHECK(value(run(late)).value<float>() == 3);
  CHECK(value(run(request)).value<float>() == -2);
}

TEST_CASE_FIXTURE(Fixture, "gateway, direct: feeds of another shape or dtype are told as ever") {
  const std::string session = open();
  auto request = step(session, "y:0");
  feed(request, "x:0", Tensor::scalar(2.0f));
  learn(request);
  auto larger = step(session, "y:0");
  feed(larger, "x:0", Tensor::of<float>({2}, {3, 4}));
  CHECK(value(run(larger)).data<float>()[1] == -4);
  auto other = step(session, "y:0");
  feed(other, "x:0", Tensor::scalar(2.0));
  CHECK(run(other).status_code() == tensorflow::error::INVALID_ARGUMENT);
}

} // namespace troupe::gateway_direct_test
