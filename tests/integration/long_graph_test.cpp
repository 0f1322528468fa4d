// Graphs that are longer than a message between nodes: to the master, and from it to another task.
#include <doctest/doctest.h>

#include "actors/node/node.hpp"
#include "api/scope.hpp"
#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "tests/support/free_port.hpp"

namespace troupe::long_graph_test {

using troupe::testing::free_port;

namespace {

std::unique_ptr<ClusterNode> node_of(const Cluster& cluster, const char* job) {
  NodeOptions options;
  options.cluster = cluster;
  options.job = job;
  options.compute_threads = 1;
  auto node = ClusterNode::start(options);
  REQUIRE_MESSAGE(node.ok(), node.status().to_string());
  return *std::move(node);
}

Session session_at(const Address& address) {
  auto opened = Session::open(str_cat("caf://", address));
  REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
  return *std::move(opened);
}

} // namespace

TEST_CASE("long graph: it travels in pieces, and the sessions beside it go on") {
  Cluster cluster;
  const Address at_ps{"127.0.0.1", free_port()}, at_worker{"127.0.0.1", free_port()};
  REQUIRE(cluster.add("ps", 0, at_ps).ok());
  REQUIRE(cluster.add("worker", 0, at_worker).ok());
  const auto ps = node_of(cluster, "ps"), worker = node_of(cluster, "worker");

  Scope root = Scope::root(), on_ps = root.on("/job:ps/task:0");
  const Output small = on_ps.named("small").constant(Tensor::scalar(5.0f));
  root.on("/job:worker/task:0").named("read").add("Neg", std::vector<Output>{small});
  Session other = session_at(at_worker);
  REQUIRE(other.extend(root).ok());
  REQUIRE(other.run({}, {"read"}).ok());

  Tensor values = Tensor::zeros(DType::float32, {std::int64_t{17} << 20});
  values.mutable_data<float>().front() = 1;
  values.mutable_data<float>().back() = 2;
  const Output large = on_ps.named("large").constant(values);
  on_ps.named("sum").add("Sum", std::vector<Input>{large, Tensor::vector<std::int32_t>({0})});
  REQUIRE(root.status().ok());
  REQUIRE(root.graph_def().size() > std::size_t{64} << 20);
  Session session = session_at(at_worker);
  const Status extended = session.extend(root);
  REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  const auto sum = session.run({}, {"sum"});
  REQUIRE_MESSAGE(sum.ok(), sum.status().to_string());
  CHECK(sum->at(0).value<float>() == 3);

  const auto read = other.run({}, {"read"});
  REQUIRE_MESSAGE(read.ok(), read.status().to_string());
  CHECK(read->at(0).value<float>() == -5);
}

} // namespace troupe::long_graph_test
