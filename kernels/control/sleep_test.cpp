// Cases of what sleeps, and of a step's deadline.
#include <doctest/doctest.h>

#include <chrono>
#include <future>

#include "core/base/clock.hpp"
#include "core/tensor/literal.hpp"
#include "tests/support/ops/op_cases.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SleepOp) {
  return {
      {.name = "not at all", .inputs = {"i32[] 0"}},
      {.name = "less than that", .inputs = {"i32[] -1"}},
      {.name = "a vector",
       .inputs = {"i32[2] 0 1"},
       .error = "Expected argument 0 to be a scalar. ReceivedTensor<type: int32 shape: [2] "
                "values: 0 1>"},
  };
}

TROUPE_OP_CASES(SleepIdentityOp) {
  return {
      {.name = "floats", .inputs = {"i32[] 0", "f32[2] 1 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "text", .inputs = {"i32[] -7", "str[] \"x\""}, .outputs = {"str[] \"x\""}},
      {.name = "none", .inputs = {"i32[] 0", "i64[0,3]"}, .outputs = {"i64[0,3]"}},
      {.name = "a vector",
       .inputs = {"i32[1] 0", "f32[] 1"},
       .error = "Expected argument 0 to be a scalar. ReceivedTensor<type: int32 shape: [1] "
                "values: 0>"},
  };
}

TROUPE_OP_CASES(GetDeadline) {
  return {{.name = "none was set", .error = "Deadline has not ben set."}};
}

KernelNode node_of(const char* op, testing::TestDevice& device, AttrMap attrs = {}) {
  const OpLibrary& library = op_library();
  auto node =
      bind_kernel(library.kernels, "n", *library.ops.find(op), std::move(attrs), device.device());
  REQUIRE_MESSAGE(node.ok(), node.status().to_string());
  return *std::move(node);
}

struct Asleep {
  testing::TestDevice device;
  KernelNode node = node_of("SleepIdentityOp", device, {{"T", DType::float32}});
  std::vector<Entry> inputs{2}, outputs{1};
  std::promise<Status> ended;
  std::optional<KernelContext> context;

  void begin(std::int32_t seconds) {
    inputs[0].tensor = Tensor::scalar(seconds);
    inputs[1].tensor = Tensor::scalar(2.5f);
    context.emplace(node, device.step(), inputs, outputs);
    node.kernel->compute_async(*context, [this](Status status) { ended.set_value(status); });
  }
};

TEST_CASE_FIXTURE(Asleep, "sleep: a second later it is there") {
  const std::int64_t start = steady_micros();
  begin(1);
  const Status status = ended.get_future().get();
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  CHECK(steady_micros() - start >= 1'000'000);
  CHECK(outputs[0].tensor.value<float>() == 2.5f);
}

TEST_CASE_FIXTURE(Asleep, "sleep: ends when its step is cancelled") {
  begin(3600);
  auto future = ended.get_future();
  CHECK(future.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  device.step().cancellation->cancel(aborted("enough"));
  CHECK(future.get() == aborted("enough"));
}

TEST_CASE("deadline: of a step that has one, on the wall's clock") {
  testing::TestDevice device;
  const KernelNode node = node_of("GetDeadline", device);
  device.step().cancellation->set_deadline(1, steady_micros(), 3'600'000'000);
  device.step().cancellation->clear_deadline(); // others watch it now
  auto out = testing::run_kernel(node, device.step(), {}, {});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  const std::int64_t left = (*out)[0].tensor.value<std::int64_t>() - wall_micros();
  CHECK(left > 3'500'000'000);
  CHECK(left <= 3'600'100'000);
}

} // namespace
} // namespace troupe
