// A cluster whose two tasks know of each other only that they speak TensorFlow's WorkerService:
// each takes the other for one of TensorFlow's servers, so that every value and every order goes
// over gRPC, in both directions.
#include <doctest/doctest.h>

#include "actors/node/node.hpp"
#include "api/grpc/foreign_task.hpp"
#include "api/grpc/gateway.hpp"
#include "api/ops.hpp"
#include "api/scope.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/gateway/gateway_rig.hpp"

namespace troupe::foreign_task_test {

using troupe::testing::comes_true;
using troupe::testing::free_port;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker = "/job:worker/replica:0/task:0";

/// One of the two.
struct Task {
  std::shared_ptr<ForeignTasks> foreign = std::make_shared<ForeignTasks>();
  std::shared_ptr<ClusterNode> node;
  std::unique_ptr<Gateway> gateway;

  Task(const Cluster& cluster, const std::string& job) {
    NodeOptions options;
    options.cluster = cluster;
    options.job = job;
    options.compute_threads = 1;
    options.listen = Address{"127.0.0.1", 0};
    options.timeouts.lease = std::chrono::seconds(2);
    options.find_address = [](const Address&, std::chrono::milliseconds,
                              const StopEvent*) -> Result<Address> {
      return unimplemented("what answers there is no node of troupe");
    };
    options.dial_foreign = [foreign = foreign](caf::actor_system& system, const Address& address,
                                               std::chrono::milliseconds budget) {
      return foreign->dial(system, address, budget);
    };
    auto started = ClusterNode::start(options);
    REQUIRE_MESSAGE(started.ok(), started.status().to_string());
    node = *std::move(started);
    foreign->attach(node->shared_services());
    GatewayOptions of_gateway;
    of_gateway.address = *cluster.address_of(task_name(job, 0));
    of_gateway.cluster = cluster;
    auto opened = Gateway::start(*node, of_gateway);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    gateway = *std::move(opened);
  }
  ~Task() {
    gateway.reset();
    foreign->shut_down();
  }
};

struct Fixture {
  Cluster cluster = [] {
    Cluster out;
    REQUIRE(out.add("ps", 0, Address{"127.0.0.1", free_port()}).ok());
    REQUIRE(out.add("worker", 0, Address{"127.0.0.1", free_port()}).ok());
    return out;
  }();
  std::optional<Task> of_ps{std::in_place, cluster, "ps"};
  Task of_worker{cluster, "worker"};
  Scope root = Scope::root();

  Output placeholder(const char* name, DType dtype, const char* task = worker) {
    return root.on(task)
        .named(name)
        .add("Placeholder", std::vector<Output>{}, {{"dtype", dtype}})
        .output(0);
  }
  // x and "t" + 1: there and back again, by way of a variable of the other task's.
  void build() {
    Output x = placeholder("x", DType::float32);
    GraphVariable v = variable(root.on(ps), "v", DType::float32, {},
                               ops::const_(root.on(ps), Tensor::scalar(10.0f), DType::float32));
    initializer = v.initializer().name();
    Output there = ops::mul(root.on(ps).named("there"), x, v.read());
    root.on(worker).named("y").add("Neg", std::vector<Output>{there});
    Output t = placeholder("t", DType::string);
    Output moved = root.on(ps).named("moved").add("Identity", std::vector<Output>{t}).output(0);
    root.on(worker).named("u").add("Identity", std::vector<Output>{moved});
    root.on(ps)
        .named("fed_there")
        .add("Neg", std::vector<Output>{placeholder("z", DType::float32, ps)});
    root.on(ps).named("checked").add("CheckNumerics", std::vector<Output>{there},
                                     {{"message", std::string("not a number")}});
  }
  std::string initializer;

  Session open() {
    auto session = Session::open(of_worker.node);
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
    REQUIRE(session->extend(root).ok());
    return *std::move(session);
  }
  static Tensor value(const Result<std::vector<Tensor>>& result) {
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    return result->at(0);
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "foreign task: values go there and come back, in step after step") {
  build();
  {
    Session session = open();
    CHECK(session.devices()->size() == 2);
    CHECK(session.run({}, {}, {initializer}).ok());
    for (int i = 0; i < 5; ++i) {
      const auto x = static_cast<float>(i);
      CHECK(value(session.run({{"x", Tensor::scalar(x)}}, {"y"})).value<float>() == -10 * x);
      CHECK(value(session.run({{"t", Tensor::scalar(std::string("x"))}}, {"u"}))
                .value<std::string>() == "x");
      CHECK(value(session.run({{"z", Tensor::scalar(x)}}, {"fed_there"})).value<float>() == -x);
    }
    Tensor large = Tensor::zeros(DType::float32, {1 << 20});
    large.mutable_data<float>().back() = 2;
    CHECK(value(session.run({{"x", large}}, {"y"})).data<float>().back() == -20);
  }
  CHECK(comes_true([] {
    return counter("worker_sessions").value() == 0 && counter("rendezvous").value() == 0;
  }));
}

TEST_CASE_FIXTURE(Fixture, "foreign task: an error there names node and task") {
  build();
  Session session = open();
  Status uninitialized = session.run({{"x", Tensor::scalar(1.0f)}}, {"y"}).status();
  CHECK(uninitialized.code() == Code::failed_precondition);
  CHECK(session.run({}, {}, {initializer}).ok());
  Status status =
      session.run({{"x", Tensor::scalar(std::numeric_limits<float>::infinity())}}, {"checked"})
          .status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.message().find("not a number") != std::string::npos);
  CHECK(status.message().find("[[") == std::string::npos);
  CHECK(status.origin().node == "checked");
  CHECK(status.origin().device.starts_with(ps));
  CHECK(value(session.run({{"x", Tensor::scalar(1.0f)}}, {"y"})).value<float>() == -10);
}

TEST_CASE_FIXTURE(
    Fixture, "foreign task: a step that waits there ends by its deadline, and leaves nothing") {
  Operation queue =
      root.on(ps).named("queue").add("FIFOQueueV2", std::vector<Output>{},
                                     {{"component_types", std::vector<DType>{DType::float32}}});
  Output taken = root.on(ps)
                     .named("taken")
                     .add("QueueDequeueV2", std::vector<Output>{queue.output(0)},
                          {{"component_types", std::vector<DType>{DType::float32}}})
                     .output(0);
  root.on(worker).named("y").add("Neg", std::vector<Output>{taken});
  Session session = open();
  RunOptions options;
  options.timeout_ms = 300;
  CHECK(session.run({}, {"y"}, {}, options).status().code() == Code::deadline_exceeded);
  CHECK(comes_true([] { return counter("steps").value() == 0; }));
}

TEST_CASE_FIXTURE(
    Fixture,
    "foreign task: one that ends is told of, and one that is there again serves new sessions") {
  build();
  {
    Session session = open();
    CHECK(session.run({}, {}, {initializer}).ok());
    of_ps.reset();
    Status status = session.run({{"x", Tensor::scalar(1.0f)}}, {"y"}).status();
    CHECK(status.code() == Code::unavailable);
    CHECK(status.message().find(ps) != std::string::npos);
  }
  of_ps.emplace(cluster, "ps"); // at once: what was known of it is not forgotten yet
  Session session = open();
  CHECK(session.run({}, {}, {initializer}).ok());
  CHECK(value(session.run({{"x", Tensor::scalar(1.0f)}}, {"y"})).value<float>() == -10);
}

TEST_CASE_FIXTURE(Fixture,
                  "foreign task: a session on each side at once, each the other's worker") {
  build();
  auto at_ps = Session::open(of_ps->node);
  REQUIRE_MESSAGE(at_ps.ok(), at_ps.status().to_string());
  REQUIRE(at_ps->extend(root).ok());
  Session at_worker = open();
  CHECK(at_ps->run({}, {}, {initializer}).ok());
  for (int i = 0; i < 3; ++i) {
    CHECK(value(at_ps->run({{"x", Tensor::scalar(1.0f)}}, {"y"})).value<float>() == -10);
    CHECK(value(at_worker.run({{"x", Tensor::scalar(2.0f)}}, {"y"})).value<float>() ==
          -20); // the same variable
  }
}

TEST_CASE("foreign task: where nobody answers, or nothing was attached, a dial says so") {
  NodeOptions options;
  auto node = ClusterNode::start(options);
  REQUIRE(node.ok());
  ForeignTasks foreign;
  const Address nobody{"127.0.0.1", free_port()};
  CHECK(foreign.dial((*node)->system(), nobody, std::chrono::milliseconds(100)).status().code() ==
        Code::unavailable);
  foreign.attach((*node)->shared_services());
  Status status = foreign.dial((*node)->system(), nobody, std::chrono::milliseconds(100)).status();
  CHECK(status.code() == Code::unavailable);
  CHECK(status.message().find(nobody.to_string()) != std::string::npos);
  foreign.shut_down();
  CHECK(foreign.dial((*node)->system(), nobody, std::chrono::milliseconds(100)).status().code() ==
        Code::unavailable);
}

} // namespace troupe::foreign_task_test
