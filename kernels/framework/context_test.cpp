// Kernels on a device with its own memory: where outputs live, what may be forwarded, references,
// dead inputs, asynchronous kernels.
#include "kernels/framework/context.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/fake_device.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

using testing::FakeDevice;
using testing::TestDevice;

Status nothing(KernelContext&) {
  return {};
}

/// One node of an op that a test makes up, on one device.
struct Harness {
  OpLibrary library;
  Device& device;
  Cancellation cancellation;
  NodeStates states;
  StepEnvironment step;
  std::vector<Entry> inputs, outputs;
  KernelNode node;

  explicit Harness(Device& on) : device(on) {
    step.device = &on;
    step.cancellation = &cancellation;
    step.node_states = &states;
  }

  void add(std::string_view ins, std::string_view outs, KernelOptions options = {}) {
    OpLibrary::Builder op = library.op("Op");
    if (!ins.empty())
      op.input(ins);
    if (!outs.empty())
      op.output(outs);
    op.shape_fn(shape_unknown)
        .not_differentiable("it is a test")
        .kernel_on_all_devices(nothing, std::move(options));
  }

  void bind(std::vector<Entry> values) {
    auto bound = bind_kernel(library.kernels, "n", *library.ops.find("Op"), {}, device);
    REQUIRE_MESSAGE(bound.ok(), bound.status().to_string());
    node = *std::move(bound);
    inputs = std::move(values);
    outputs.assign(node.io->types.outputs.size(), {});
  }

  KernelContext context() { return {node, step, inputs, outputs}; }
};

Tensor floats() {
  return Tensor::vector<float>({1, 2, 3});
}

} // namespace

TEST_CASE("context: outputs are in device memory unless the kernel wants them on the host") {
  FakeDevice gpu;
  Harness h(gpu);
  h.add("", "here: float; there: float; text: string", {.host_outputs = {"there"}});
  h.bind({});
  KernelContext c = h.context();
  CHECK(c.allocate_output(0, {4})->kind() == MemoryKind::device);
  CHECK(c.allocate_output(1, {4})->kind() == MemoryKind::host);
  CHECK(c.allocate_output(2, {4})->kind() == MemoryKind::host);
  CHECK(c.allocate_temp(DType::float32, {4})->kind() == MemoryKind::device);
  CHECK(h.outputs[0].tensor.shape() == Shape{4});
  CHECK(gpu.bytes_in_use() > 0);
  h.outputs.clear();
  CHECK(gpu.bytes_in_use() == 0);
}

TEST_CASE("context: a CPU has one memory, so nothing is marked") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("", "x: float", {.host_outputs = {"x"}});
  h.bind({});
  CHECK(h.node.io->output_in_host_memory.empty());
}

TEST_CASE("context: host inputs are found by their declared names, lists as a whole") {
  OpLibrary library;
  library.op("Listed")
      .input("sizes: N * int32; x: float; names: string")
      .attr("N: int")
      .shape_fn(shape_none)
      .not_differentiable("it is a test")
      .kernel_on_all_devices(nothing, {.host_inputs = {"sizes"}});
  const OpSchema& schema = *library.ops.find("Listed");
  const AttrMap attrs{{"N", std::int64_t{2}}};
  auto types = resolve_types(schema, attrs);
  REQUIRE(types.ok());
  auto flags = in_host_memory(schema.inputs, {"sizes"}, attrs, types->inputs);
  REQUIRE(flags.ok());
  CHECK(*flags == std::vector<bool>{true, true, false, true});
}

TEST_CASE("context: an input that nobody else holds becomes the output") {
  FakeDevice gpu;
  Harness h(gpu);
  h.add("a: float; b: float", "y: float");
  h.bind({{gpu.upload(floats()), nullptr}, {gpu.upload(floats()), nullptr}});
  const void* second = h.inputs[1].tensor.raw();
  const Tensor held = h.inputs[0].tensor;
  KernelContext c = h.context();
  auto out = c.forward_or_allocate({0, 1}, 0, {3, 1});
  REQUIRE(out.ok());
  CHECK(out->raw() == second);
  CHECK(out->shape() == Shape{3, 1});
  CHECK(h.outputs[0].tensor.shares_buffer_with(h.inputs[1].tensor));
}

TEST_CASE("context: no forwarding of what is shared, too small, elsewhere or of another size") {
  FakeDevice gpu;
  Harness h(gpu);
  h.add("x: float", "same: float; wide: double; bits: int32; host: float",
        {.host_outputs = {"host"}});
  h.bind({{gpu.upload(floats()), nullptr}});
  KernelContext c = h.context();
  const void* x = c.input(0).raw();
  CHECK(c.forward_or_allocate(0, 1, {3})->raw() != x);
  CHECK(c.forward_or_allocate(0, 0, {4})->raw() != x);
  auto host = c.forward_or_allocate(0, 3, {3});
  CHECK(host->raw() != x);
  CHECK(host->kind() == MemoryKind::host);
  auto bits = c.forward_or_allocate(0, 2, {3});
  CHECK(bits->raw() == x);
  CHECK(bits->dtype() == DType::int32);
  // The output holds it now.
  CHECK(c.forward_or_allocate(0, 0, {3})->raw() != x);
}

TEST_CASE("context: text is forwarded only as text") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("x: string", "y: string; z: resource");
  h.bind({{Tensor::scalar("a"), nullptr}});
  KernelContext c = h.context();
  const void* x = c.input(0).raw();
  CHECK(c.forward_or_allocate(0, 1, {})->raw() != x);
  CHECK(c.forward_or_allocate(0, 0, {})->raw() == x);
}

TEST_CASE("context: an output of another dtype than declared is refused") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("", "y: float");
  h.bind({});
  CHECK(h.context().set_output(0, Tensor::scalar<std::int32_t>(1)) ==
        internal("Output 0 of type int32 does not match declared output type float for node n"));
}

TEST_CASE("context: references and dead inputs are told apart") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("v: Ref(float); x: float", "w: Ref(float); y: float");
  auto variable = std::make_shared<Variable>(DType::float32);
  h.bind({{Tensor(), variable}, {}});
  KernelContext c = h.context();
  CHECK(c.has_input(0));
  CHECK(!c.has_input(1));
  CHECK(c.input_ref(0) == variable);
  c.set_output_ref(0, c.input_ref(0));
  CHECK(h.outputs[0].ref == variable);
  CHECK(h.outputs[0].has_value());
  REQUIRE(c.set_output(1, Tensor::scalar(1.0f)).ok());
  c.set_output_dead(1);
  CHECK(!h.outputs[1].has_value());
}

TEST_CASE("context: a handle input is one handle") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("r: resource", "");
  ResourceHandle handle;
  handle.name = "v";
  h.bind({{Tensor::scalar(handle), nullptr}});
  CHECK(h.context().input_handle(0)->name == "v");
  h.bind({{Tensor::make(DType::resource, {2}), nullptr}});
  CHECK(h.context().input_handle(0).status().message().find("must be one resource handle") !=
        std::string::npos);
}

TEST_CASE("context: a long loop ends when its step is cancelled, one of updates does not") {
  TestDevice device;
  constexpr std::int64_t total = 1000;
  constexpr double cost = 1e7; // ns for each index: a slice of its own
  for (bool parallel : {false, true}) {
    Harness h(device.device());
    h.add("", "");
    h.bind({});
    const KernelContext c = h.context();
    std::atomic<std::int64_t> visited{0};
    const auto body = [&](std::int64_t begin, std::int64_t end) {
      visited += end - begin;
      h.cancellation.cancel(cancelled("enough"));
    };
    CHECK_THROWS_AS(parallel ? c.parallel_for(total, cost, body) : c.serial_for(total, cost, body),
                    StepCancelled);
    CHECK(visited < total);
    CHECK(visited > 0);
    CHECK_THROWS_AS(c.stop_if_cancelled(), StepCancelled);
    visited = 0;
    c.parallel_for_to_the_end(total, cost, body);
    CHECK(visited == total);
    visited = 0;
    c.parallel_for(total, 0.1, body); // too short to look
    CHECK(visited == total);
  }
}

TEST_CASE("context: items that cost nothing are counted, too, and a loop of very many ends") {
  TestDevice device;
  for (bool parallel : {false, true}) {
    Harness h(device.device());
    h.add("", "");
    h.bind({});
    const KernelContext c = h.context();
    const auto body = [&](std::int64_t, std::int64_t) {
      h.cancellation.cancel(cancelled("enough"));
    };
    constexpr std::int64_t total = std::int64_t{1} << 40;
    CHECK_THROWS_AS(parallel ? c.parallel_for(total, 0, body) : c.serial_for(total, 0, body),
                    StepCancelled);
  }
}

TEST_CASE("context: slices of a long loop cover it once") {
  TestDevice device;
  Harness h(device.device());
  h.add("", "");
  h.bind({});
  const KernelContext c = h.context();
  for (double cost : {1e5, 3e6, 1e9, 1e300}) {
    std::vector<std::atomic<int>> visits(1237);
    const auto body = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        ++visits[static_cast<std::size_t>(i)];
    };
    c.parallel_for(1237, cost, body);
    c.serial_for(1237, cost, body);
    CHECK(std::ranges::all_of(visits, [](const auto& n) { return n == 2; }));
  }
}

TEST_CASE("context: node state lasts beyond a step and belongs to the node's name") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("", "");
  h.bind({});
  auto make = [] { return std::make_shared<int>(0); };
  *h.context().node_state<int>(make) += 1;
  *h.context().node_state<int>(make) += 1;
  CHECK(*h.context().node_state<int>(make) == 2);
  h.node.name = "other";
  CHECK(*h.context().node_state<int>(make) == 0);
}

TEST_CASE("context: what prepare refuses stops the binding") {
  TestDevice cpu;
  Harness h(cpu.device());
  h.add("", "", {.prepare = [](PrepareContext& c) -> Result<std::shared_ptr<const void>> {
          return invalid_argument(std::string(c.node_name()) + " on " +
                                  std::string(c.device_name()));
        }});
  auto bound = bind_kernel(h.library.kernels, "n", *h.library.ops.find("Op"), {}, h.device);
  CHECK(bound.status() == invalid_argument("n on " + h.device.name()));
}

TEST_CASE("context: devices of one process keep their resources apart") {
  FakeDevice first, second("/job:test/replica:0/task:0/device:GPU:1");
  Harness a(first), b(second);
  for (Harness* h : {&a, &b}) {
    h->add("", "");
    h->bind({});
  }
  auto make = [] {
    return Result<std::shared_ptr<Variable>>(std::make_shared<Variable>(DType::float32));
  };
  REQUIRE(a.context().resources().lookup_or_create<Variable>("", "v", make).ok());
  CHECK(a.context().resources().lookup<Variable>("", "v").ok());
  CHECK(!b.context().resources().lookup<Variable>("", "v").ok());
  CHECK(a.context().device().name() != b.context().device().name());
}

TEST_CASE("context: an asynchronous kernel ends when the device's stream gets there") {
  FakeDevice gpu;
  Harness h(gpu);
  h.library.kernels.add(
      {.op = "Op", .device_type = "GPU", .compute_async = [](KernelContext& c, KernelDone done) {
         c.device().copy_to_device(floats(), c.stream(),
                                   [&c, done = std::move(done)](Result<Tensor> copy) {
                                     done(copy.ok() ? c.set_output(0, *copy) : copy.status());
                                   });
       }});
  h.library.ops.add(SchemaBuilder("Op")
                        .output("y: float")
                        .shape_fn(shape_unknown)
                        .not_differentiable("it is a test")
                        .build());
  h.bind({});
  KernelContext c = h.context();
  int ended = 0;
  h.node.kernel->compute_async(c, [&](Status status) {
    CHECK(status.ok());
    ++ended;
  });
  CHECK(ended == 0);
  CHECK(gpu.run_stream() == 1);
  CHECK(ended == 1);
  REQUIRE(h.outputs[0].has_value());
  CHECK(h.outputs[0].tensor.kind() == MemoryKind::device);
  CHECK(equal(gpu.download(h.outputs[0].tensor), floats()));
}

} // namespace troupe
