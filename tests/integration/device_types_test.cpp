// Nodes with a second device type, whose memory the host cannot read: found by its folder, used
// beside the CPU over every path of tensors.
#include <doctest/doctest.h>

#include <algorithm>

#include "actors/family/services.hpp"
#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/strings.hpp"
#include "devices/factory.hpp"
#include "tests/support/free_port.hpp"

namespace troupe {
const std::vector<DeviceFactory>& test_device_factories();
}

namespace troupe::device_types_test {

using troupe::testing::free_port;

namespace {

constexpr std::int64_t elements = 1 << 20; // more than a message takes along

NodeOptions with_fake_devices(int count) {
  NodeOptions options;
  options.device_factories = &test_device_factories();
  options.device_count["GPU"] = count;
  options.compute_threads = 1;
  return options;
}

struct Pair {
  std::unique_ptr<ClusterNode> ps, worker;
  std::unique_ptr<Session> session;

  Pair(PathChoice choice, const Scope& graph) {
    Cluster cluster;
    Address at_ps{"127.0.0.1", free_port()}, at_worker{"127.0.0.1", free_port()};
    REQUIRE(cluster.add("ps", 0, at_ps).ok());
    REQUIRE(cluster.add("worker", 0, at_worker).ok());
    auto make = [&](const char* job, int devices) {
      NodeOptions options = with_fake_devices(devices);
      options.cluster = cluster;
      options.job = job;
      options.tensor_paths.choice = choice;
      auto node = ClusterNode::start(options);
      REQUIRE_MESSAGE(node.ok(), node.status().to_string());
      return *std::move(node);
    };
    ps = make("ps", 1);
    worker = make("worker", 0);
    auto opened = Session::open(str_cat("caf://", at_worker));
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    session = std::make_unique<Session>(*std::move(opened));
    REQUIRE(session->extend(graph).ok());
  }
};

Tensor counted() {
  Tensor out = Tensor::make(DType::float32, {elements});
  float next = 0;
  for (float& value : out.mutable_data<float>())
    value = next++;
  return out;
}

bool is_counted(const Tensor& tensor, float factor) {
  if (tensor.dtype() != DType::float32 || tensor.num_elements() != elements)
    return false;
  float next = 0;
  return std::ranges::all_of(tensor.data<float>(),
                             [&](float value) { return value == factor * next++; });
}

} // namespace

TEST_CASE("device types: a node has as many devices of each type as it is told") {
  auto node = ClusterNode::start(with_fake_devices(2));
  REQUIRE_MESSAGE(node.ok(), node.status().to_string());
  std::vector<std::string> names;
  for (const DeviceAttributes& device : (*node)->services().devices.attributes())
    names.push_back(device.name.substr(device.name.find("device:")));
  CHECK(names == std::vector<std::string>{"device:CPU:0", "device:GPU:0", "device:GPU:1"});
}

TEST_CASE("device types: devices that are not there, and types that nobody knows, are refused") {
  auto many = ClusterNode::start(with_fake_devices(9));
  CHECK(many.status().code() == Code::failed_precondition);
  CHECK(many.status().message().find("9 GPU devices, and there are 8") != std::string::npos);
  NodeOptions options;
  options.device_count["TPU"] = 1;
  auto unknown = ClusterNode::start(options);
  CHECK(unknown.status().code() == Code::failed_precondition);
  CHECK(unknown.status().message().find("this build knows no such type; it knows CPU") !=
        std::string::npos);
}

TEST_CASE("device types: values pass a device whose memory the host cannot read, by every path") {
  for (PathChoice choice : {PathChoice::messages, PathChoice::shared_memory, PathChoice::stream}) {
    CAPTURE(to_string(choice));
    Scope root = Scope::root();
    Scope on_gpu = root.on("/job:ps/task:0/device:GPU:0"),
          on_worker = root.on("/job:worker/task:0/device:CPU:0");
    Output x = ops::placeholder(root.named("x"), DType::float32);
    Output there = ops::identity(on_gpu, x);
    Output y = ops::neg(on_worker, there);
    Output back = ops::identity(on_gpu, y);
    Pair pair(choice, root);
    for (int step = 0; step < 3; ++step) {
      auto got = pair.session->run({{"x", counted()}}, {there.name(), y.name(), back.name()});
      REQUIRE_MESSAGE(got.ok(), got.status().to_string());
      CHECK(is_counted((*got)[0], 1));
      CHECK(is_counted((*got)[1], -1));
      CHECK(is_counted((*got)[2], -1));
    }
  }
}

TEST_CASE("device types: a variable lives there, is read and assigned from elsewhere") {
  for (PathChoice choice : {PathChoice::messages, PathChoice::shared_memory, PathChoice::stream}) {
    CAPTURE(to_string(choice));
    Scope root = Scope::root();
    Scope on_gpu = root.on("/job:ps/task:0/device:GPU:0"),
          on_worker = root.on("/job:worker/task:0/device:CPU:0");
    Output x = ops::placeholder(root.named("x"), DType::float32);
    GraphVariable v = variable(on_gpu, "v", DType::float32, {elements}, ops::neg(on_worker, x));
    Output read = ops::neg(on_worker, v.read());
    Pair pair(choice, root);
    Status assigned = pair.session->run({{"x", counted()}}, {}, {v.initializer().name()}).status();
    REQUIRE_MESSAGE(assigned.ok(), assigned.to_string());
    for (int step = 0; step < 3; ++step) {
      auto got = pair.session->run({}, {read.name(), v.read().name()});
      REQUIRE_MESSAGE(got.ok(), got.status().to_string());
      CHECK(is_counted((*got)[0], 1));
      CHECK(is_counted((*got)[1], -1));
    }
  }
}

TEST_CASE("device types: a constant is copied there, an op without a kernel for it is refused") {
  Scope root = Scope::root();
  Scope on_gpu = root.on("/job:ps/task:0/device:GPU:0");
  Output c = ops::identity(on_gpu, on_gpu.constant(Tensor::scalar(2.5f)));
  Pair pair(PathChoice::best, root);
  auto got = pair.session->run({}, {c.name()});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  CHECK((*got)[0].value<float>() == 2.5f);
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output wrong = ops::erfinv(on_gpu, x);
  const Status refused = pair.session->extend(root); // which places what is added
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(refused.message().find("no supported kernel for GPU devices") != std::string::npos);
  CHECK(pair.session->run({}, {c.name()}).ok());
}

TEST_CASE(
    "device types: what a kernel there reads on the host is copied, and so is what it writes") {
  Scope root = Scope::root();
  Scope on_gpu = root.on("/job:ps/task:0/device:GPU:0");
  Output pred = ops::placeholder(root.named("pred"), DType::bool_),
         x = ops::placeholder(root.named("x"), DType::float32);
  // Both go through the device's memory, where a host finds every byte inverted.
  Output there = ops::identity(on_gpu, pred);
  auto branches = ops::switch_(on_gpu, ops::identity(on_gpu, x), there);
  auto merged = ops::merge(on_gpu, {branches.output_false, branches.output_true});
  Output number = ops::identity(on_gpu, merged.value_index);
  REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
  Pair pair(PathChoice::best, root);
  for (bool taken : {true, false, true}) {
    CAPTURE(taken);
    auto got = pair.session->run({{"pred", Tensor::scalar(taken)}, {"x", Tensor::scalar(2.5f)}},
                                 {merged.output.name(), number.name()});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    CHECK((*got)[0].value<float>() == 2.5f);
    CHECK((*got)[1].value<std::int32_t>() == (taken ? 1 : 0));
  }
}

} // namespace troupe::device_types_test
