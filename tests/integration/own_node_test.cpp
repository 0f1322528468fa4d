// A session whose master is a task that this process runs: what a gateway does.
#include <doctest/doctest.h>

#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/strings.hpp"
#include "devices/device.hpp"
#include "tests/support/free_port.hpp"

namespace troupe::own_node_test {

using troupe::testing::free_port;

namespace {

constexpr const char* ps_task = "/job:ps/replica:0/task:0";
constexpr const char* worker_task = "/job:worker/replica:0/task:0";

struct Fixture {
  Cluster cluster;
  std::shared_ptr<ClusterNode> ps, worker;
  Scope root = Scope::root();
  GraphVariable v =
      variable(root.on("/job:ps/task:0"), "v", DType::float32, {},
               ops::const_(root.on("/job:ps/task:0"), Tensor::scalar(3.0f), DType::float32));
  Output y = ops::neg(root.on("/job:worker/task:0").named("y"), v.read());

  Fixture() {
    REQUIRE(cluster.add("ps", 0, {"127.0.0.1", free_port()}).ok());
    REQUIRE(cluster.add("worker", 0, {"127.0.0.1", free_port()}).ok());
    ps = start("ps");
    worker = start("worker");
  }
  std::shared_ptr<ClusterNode> start(const char* job) const {
    NodeOptions options;
    options.cluster = cluster;
    options.job = job;
    options.compute_threads = 1;
    auto node = ClusterNode::start(options);
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    return *std::move(node);
  }
  Session open(const std::shared_ptr<ClusterNode>& node) const {
    SessionOptions options;
    options.operation_timeout_ms = 30'000;
    auto session = Session::open(node, options);
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
    return *std::move(session);
  }
};

float scalar(const Result<std::vector<Tensor>>& values) {
  REQUIRE_MESSAGE(values.ok(), values.status().to_string());
  return values->at(0).data<float>()[0];
}

} // namespace

TEST_CASE("own node: its sessions share the cluster's variables with those of other clients") {
  Fixture f;
  Session own = f.open(f.worker);
  CHECK(own.local_node() == f.worker.get());
  REQUIRE(own.extend(f.root).ok());
  REQUIRE(own.run({}, {}, {f.v.initializer().name()}).ok());
  CHECK(scalar(own.run({}, {"y"})) == -3);
  auto devices = own.devices();
  REQUIRE(devices.ok());
  CHECK(devices->size() == 2);

  auto dialled = Session::open(str_cat("caf://127.0.0.1:", f.worker->port()));
  REQUIRE_MESSAGE(dialled.ok(), dialled.status().to_string());
  REQUIRE(dialled->extend(f.root).ok());
  CHECK(scalar(dialled->run({}, {"y"})) == -3);
  CHECK(own.close().ok());
  CHECK(own.run({}, {"y"}).status().code() == Code::failed_precondition);
  CHECK(scalar(dialled->run({}, {"y"})) == -3);
}

TEST_CASE("own node: the loss of another task ends a step with that task's name") {
  Fixture f;
  Session own = f.open(f.worker);
  REQUIRE(own.extend(f.root).ok());
  REQUIRE(own.run({}, {}, {f.v.initializer().name()}).ok());
  f.ps->shut_down("a test");
  f.ps->wait();
  Status lost = own.run({}, {"y"}).status();
  CHECK((lost.code() == Code::unavailable || lost.code() == Code::aborted));
  CHECK_MESSAGE(lost.message().find(ps_task) != std::string::npos, lost.to_string());
}

TEST_CASE("own node: a session ends with its node, and none is opened on one that has left") {
  Fixture f;
  Session own = f.open(f.worker);
  REQUIRE(own.extend(f.root).ok());
  f.worker->shut_down("a test");
  f.worker->wait();
  Status left = own.run({}, {"y"}).status();
  CHECK_FALSE(left.ok());
  CHECK_MESSAGE(left.message().find(worker_task) != std::string::npos, left.to_string());
  auto late = Session::open(f.worker);
  CHECK_MESSAGE(late.status().code() == Code::unavailable, late.status().to_string());
}

TEST_CASE("own node: what cannot be kept is refused") {
  CHECK(Session::open(std::shared_ptr<ClusterNode>()).status().code() == Code::invalid_argument);
  Fixture f;
  SessionOptions options;
  options.memory_limit = 1 << 20;
  Status refused = Session::open(f.worker, options).status();
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(refused.message().find(worker_task) != std::string::npos);
}

} // namespace troupe::own_node_test
