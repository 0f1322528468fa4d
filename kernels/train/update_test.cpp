// Optimizers and the variables that they share: locking, snapshots, handles that name nothing.
#include <thread>

#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {
namespace {

Tensor literal(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE(tensor.ok());
  return *tensor;
}

std::shared_ptr<Variable> variable(std::string_view text) {
  auto out = std::make_shared<Variable>(DType::float32);
  out->assign(literal(text));
  return out;
}

/// One CPU device, on which ops run one at a time or side by side.
class Bench {
public:
  Device& device() { return *device_; }
  Status run(std::string_view op, std::vector<Entry> inputs) {
    KernelNode node;
    node.name = "node";
    node.attrs.set("T", DType::float32);
    node.schema = op_library().ops.find(op);
    TROUPE_TRY(complete_and_check_attrs(*node.schema, node.attrs));
    KernelIo io;
    TROUPE_ASSIGN(io.types, resolve_types(*node.schema, node.attrs));
    node.io = std::make_shared<KernelIo>(std::move(io));
    TROUPE_ASSIGN(node.kernel, op_library().kernels.find(op, node.attrs, "CPU"));
    StepEnvironment step;
    step.device = device_.get();
    std::vector<Entry> outputs(node.io->types.outputs.size());
    KernelContext context(node, step, inputs, outputs);
    return node.kernel->compute(context);
  }

private:
  DeviceHost host_{2};
  std::unique_ptr<Device> device_ =
      std::move(make_cpu_devices(host_, "/job:localhost/replica:0/task:0", 1)[0]);
};

Entry value(std::string_view text) {
  return {.tensor = literal(text), .ref = nullptr};
}
Entry reference(const std::shared_ptr<Variable>& variable) {
  return {.tensor = {}, .ref = variable};
}

std::vector<Entry> momentum(const std::shared_ptr<Variable>& var,
                            const std::shared_ptr<Variable>& accum) {
  return {reference(var), reference(accum), value("f32[] 0"), value("f32[2] 1 1"),
          value("f32[] 1")};
}

TEST_CASE("update: two ops that take the same variables in opposite order both end") {
  Bench bench;
  const auto a = variable("f32[2] 0 0"), b = variable("f32[2] 0 0");
  constexpr int rounds = 2000;
  const auto run = [&](const auto& var, const auto& accum) {
    for (int i = 0; i < rounds; ++i)
      if (!bench.run("ApplyMomentum", momentum(var, accum)).ok())
        return;
  };
  std::thread other([&] { run(b, a); });
  run(a, b);
  other.join();
  CHECK(equal(a->snapshot(), literal("f32[2] 2000 2000")));
  CHECK(equal(b->snapshot(), literal("f32[2] 2000 2000")));
}

TEST_CASE("update: one variable given twice is locked once") {
  Bench bench;
  const auto a = variable("f32[2] 3 4");
  CHECK(bench.run("ApplyMomentum", momentum(a, a)).ok());
  CHECK(equal(a->snapshot(), literal("f32[2] 4 5"))); // accum + grad; the rate is 0
}

TEST_CASE("update: a reader's snapshot keeps the old numbers") {
  Bench bench;
  const auto a = variable("f32[2] 3 4");
  const Tensor before = a->snapshot();
  CHECK(bench.run("ApplyGradientDescent", {reference(a), value("f32[] 0.5"), value("f32[2] 2 4")})
            .ok());
  CHECK(equal(before, literal("f32[2] 3 4")));
  CHECK(equal(a->snapshot(), literal("f32[2] 2 2")));
}

TEST_CASE("update: without readers the variable keeps its memory") {
  Bench bench;
  const auto a = variable("f32[2] 3 4");
  const void* memory = a->snapshot().raw();
  CHECK(bench.run("ApplyGradientDescent", {reference(a), value("f32[] 0.5"), value("f32[2] 2 4")})
            .ok());
  CHECK(a->snapshot().raw() == memory);
}

TEST_CASE("update: a variable may be its own gradient") {
  Bench bench;
  const auto a = variable("f32[2] 3 4");
  CHECK(bench
            .run("ApplyGradientDescent",
                 {reference(a), value("f32[] 0.5"), {.tensor = a->snapshot(), .ref = nullptr}})
            .ok());
  CHECK(equal(a->snapshot(), literal("f32[2] 1.5 2")));
}

TEST_CASE("update: a handle that names no variable is refused") {
  Bench bench;
  ResourceHandle handle;
  handle.container = "localhost";
  handle.name = "absent";
  handle.device = bench.device().name();
  const Status status = bench.run(
      "ResourceApplyGradientDescent",
      {{.tensor = Tensor::scalar(handle), .ref = nullptr}, value("f32[] 1"), value("f32[2] 1 1")});
  CHECK(status.code() == Code::internal); // TensorFlow's code
  CHECK(status.message().find("Invalid variable reference. Resource localhost/absent/Variable") !=
        std::string::npos);
}

TEST_CASE("update: a handle of another device is refused, whatever is here under its name") {
  Bench bench;
  ResourceHandle handle;
  handle.container = "localhost";
  handle.name = "elsewhere";
  handle.device = "/job:ps/replica:0/task:0/device:CPU:0";
  auto made = bench.device().resources().lookup_or_create<Variable>(
      "localhost", "elsewhere", []() -> Result<std::shared_ptr<Variable>> {
        return std::make_shared<Variable>(DType::float32);
      });
  REQUIRE(made.ok());
  const Status status = bench.run(
      "ResourceApplyGradientDescent",
      {{.tensor = Tensor::scalar(handle), .ref = nullptr}, value("f32[] 1"), value("f32[2] 1 1")});
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.message().find(handle.device) != std::string::npos);
}

TEST_CASE("update: a handle to a variable without value is refused") {
  Bench bench;
  ResourceHandle handle;
  handle.container = "localhost";
  handle.name = "empty";
  handle.device = bench.device().name();
  auto made = bench.device().resources().lookup_or_create<Variable>(
      "localhost", "empty", []() -> Result<std::shared_ptr<Variable>> {
        return std::make_shared<Variable>(DType::float32);
      });
  REQUIRE(made.ok());
  const Status status = bench.run(
      "ResourceApplyGradientDescent",
      {{.tensor = Tensor::scalar(handle), .ref = nullptr}, value("f32[] 1"), value("f32[2] 1 1")});
  CHECK(status.code() == Code::failed_precondition);
  CHECK(status.message().find("Attempting to use uninitialized value") != std::string::npos);
}

} // namespace
} // namespace troupe
