#include "kernels/framework/wait.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "core/tensor/literal.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

/// A kernel of an op with one float output.
struct Fixture {
  testing::TestDevice device;
  KernelNode node;
  std::vector<Entry> outputs{1};
  std::optional<Status> ended;
  Arrived arrived;
  int withdrawn = 0;

  Fixture() { node.io = std::make_shared<KernelIo>(KernelIo{{{}, {DType::float32}}, {}}); }
  Cancellation& cancellation() { return *device.step().cancellation; }
  KernelDone done() {
    return [this](Status status) {
      REQUIRE_FALSE(ended.has_value());
      ended = std::move(status);
    };
  }
  void start(KernelContext& c) {
    wait_for(
        c, done(), [this](Arrived a) { arrived = std::move(a); }, [this] { ++withdrawn; });
  }
};

} // namespace

TEST_CASE("wait: what arrives later becomes the outputs") {
  Fixture f;
  KernelContext c(f.node, f.device.step(), {}, f.outputs);
  f.start(c);
  CHECK_FALSE(f.ended.has_value());
  f.arrived(Tensors{Tensor::scalar(1.5f)});
  REQUIRE(f.ended.has_value());
  CHECK(f.ended->ok());
  CHECK(f.outputs[0].tensor.value<float>() == 1.5f);
  f.cancellation().cancel(aborted("late"));
  CHECK(f.withdrawn == 0);
}

TEST_CASE("wait: what arrives at once, and errors") {
  Fixture f;
  KernelContext c(f.node, f.device.step(), {}, f.outputs);
  wait_for(
      c, f.done(), [](Arrived a) { a(out_of_range("no more")); }, [&] { ++f.withdrawn; });
  REQUIRE(f.ended.has_value());
  CHECK(*f.ended == out_of_range("no more"));
  CHECK(f.withdrawn == 0);
}

TEST_CASE("wait: a value of another dtype than the output's is an error") {
  Fixture f;
  KernelContext c(f.node, f.device.step(), {}, f.outputs);
  f.start(c);
  f.arrived(Tensors{Tensor::scalar(std::int32_t{1})});
  REQUIRE(f.ended.has_value());
  CHECK(f.ended->code() == Code::internal);
}

TEST_CASE("wait: a cancelled step takes its request back") {
  Fixture f;
  KernelContext c(f.node, f.device.step(), {}, f.outputs);
  f.start(c);
  f.cancellation().cancel(aborted("enough"));
  CHECK(f.withdrawn == 1);
  REQUIRE(f.ended.has_value());
  CHECK(*f.ended == aborted("enough"));
  f.arrived(Tensors{Tensor::scalar(1.5f)}); // too late: nobody is told
  CHECK_FALSE(f.outputs[0].has_value());
}

TEST_CASE("wait: a step that is cancelled already asks for nothing") {
  Fixture f;
  f.cancellation().cancel(aborted("enough"));
  KernelContext c(f.node, f.device.step(), {}, f.outputs);
  f.start(c);
  CHECK_FALSE(f.arrived);
  REQUIRE(f.ended.has_value());
  CHECK(*f.ended == aborted("enough"));
}

TEST_CASE("wait: a step that is cancelled while it asks takes its request back afterwards") {
  Fixture f;
  KernelContext c(f.node, f.device.step(), {}, f.outputs);
  std::vector<std::string> events;
  wait_for(
      c, f.done(),
      [&](Arrived) {
        f.cancellation().cancel(aborted("enough"));
        events.push_back("asked");
      },
      [&] { events.push_back("withdrawn"); });
  CHECK(events == std::vector<std::string>{"withdrawn", "asked", "withdrawn"});
  REQUIRE(f.ended.has_value());
  CHECK(*f.ended == aborted("enough"));
}

} // namespace troupe
