// Sends and receives through a rendezvous in memory, on a CPU and on a simulated accelerator.
#include <doctest/doctest.h>

#include <future>
#include <thread>

#include "core/base/strings.hpp"
#include "tests/support/ops/fake_device.hpp"
#include "tests/support/ops/memory_rendezvous.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

using testing::FakeDevice;
using testing::MemoryRendezvous;
using testing::TestDevice;

constexpr auto here = "/job:test/replica:0/task:0/device:CPU:0";
constexpr auto there = "/job:test/replica:0/task:1/device:CPU:0";

/// One end of a cut edge on a device.
struct EdgeEnd {
  Cancellation cancellation;
  NodeStates states;
  StepEnvironment step;
  KernelNode node;
  std::vector<Entry> inputs, outputs;
  std::optional<KernelContext> context;
  std::optional<Status> ended;

  EdgeEnd(Device& device, MemoryRendezvous& rendezvous, std::string_view op, DType dtype) {
    step.device = &device;
    step.rendezvous = &rendezvous;
    step.cancellation = &cancellation;
    step.node_states = &states;
    const OpSchema& schema = *op_library().ops.find(op);
    AttrMap attrs{{"tensor_name", std::string("edge_1_x")},
                  {"send_device", std::string(here)},
                  {"send_device_incarnation", std::int64_t{-1}},
                  {"recv_device", std::string(there)},
                  {schema.inputs.empty() ? "tensor_type" : "T", dtype}};
    REQUIRE(complete_and_check_attrs(schema, attrs).ok());
    auto bound = bind_kernel(op_library().kernels, "n", schema, std::move(attrs), device);
    REQUIRE_MESSAGE(bound.ok(), bound.status().to_string());
    node = *std::move(bound);
    outputs.resize(schema.outputs.size());
  }

  void start(std::vector<Entry> values = {}, std::uint64_t frame = 0, std::int64_t iteration = 0) {
    inputs = std::move(values);
    context.emplace(node, step, inputs, outputs);
    context->frame_id = frame;
    context->iteration = iteration;
    for (const Entry& input : inputs)
      context->is_input_dead = context->is_input_dead || !input.has_value();
    if (node.kernel->compute)
      ended = node.kernel->compute(*context);
    else
      node.kernel->compute_async(*context, [this](Status status) {
        CHECK(!ended);
        ended = std::move(status);
      });
  }
};

Entry value(float x) {
  return {Tensor::scalar(x), nullptr};
}

} // namespace

TEST_CASE("comm: a value travels, whichever half comes first") {
  TestDevice cpu;
  for (bool send_first : {true, false}) {
    MemoryRendezvous rendezvous;
    EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
    EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
    if (send_first) {
      send.start({value(7)});
      recv.start();
    } else {
      recv.start();
      CHECK(!recv.ended);
      send.start({value(7)});
    }
    REQUIRE(send.ended);
    REQUIRE(recv.ended);
    CHECK(send.ended->ok());
    CHECK(recv.ended->ok());
    CHECK(recv.outputs[0].tensor.value<float>() == 7);
    CHECK(rendezvous.pending() == 0);
  }
}

TEST_CASE("comm: a dead value makes the receiver's output dead") {
  TestDevice cpu;
  MemoryRendezvous rendezvous;
  EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
  EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
  send.start({Entry{}});
  recv.start();
  REQUIRE(recv.ended);
  CHECK(recv.ended->ok());
  CHECK(!recv.outputs[0].has_value());
}

TEST_CASE("comm: a value after a dead control input arrives as dead") {
  TestDevice cpu;
  MemoryRendezvous rendezvous;
  EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
  send.inputs = {value(1)};
  KernelContext context(send.node, send.step, send.inputs, send.outputs);
  context.is_input_dead = true;
  REQUIRE(send.node.kernel->compute(context).ok());
  EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
  recv.start();
  CHECK(!recv.outputs[0].has_value());
}

TEST_CASE("comm: each iteration of a loop has its own key") {
  TestDevice cpu;
  MemoryRendezvous rendezvous;
  EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
  EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
  send.start({value(1)}, 9, 1);
  recv.start({}, 9, 2);
  CHECK(!recv.ended);
  send.start({value(2)}, 9, 2);
  REQUIRE(recv.ended);
  CHECK(recv.outputs[0].tensor.value<float>() == 2);
  CHECK(rendezvous.pending() == 1);
}

TEST_CASE("comm: an abort ends the wait with its status") {
  TestDevice cpu;
  MemoryRendezvous rendezvous;
  EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
  recv.start();
  rendezvous.abort(aborted("the step is over"));
  REQUIRE(recv.ended);
  CHECK(*recv.ended == aborted("the step is over"));
  EdgeEnd late(cpu.device(), rendezvous, "_Recv", DType::float32);
  late.start();
  REQUIRE(late.ended);
  CHECK(*late.ended == aborted("the step is over"));
  EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
  send.start({value(1)});
  CHECK(*send.ended == aborted("the step is over"));
}

TEST_CASE("comm: a cancellation ends the wait; what arrives later is dropped") {
  TestDevice cpu;
  MemoryRendezvous rendezvous;
  EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
  recv.start();
  recv.cancellation.cancel(cancelled("stop"));
  REQUIRE(recv.ended);
  CHECK(*recv.ended == cancelled("stop"));
  EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
  send.start({value(1)});
  CHECK(send.ended->ok());
  CHECK(!recv.outputs[0].has_value());
  EdgeEnd late(cpu.device(), rendezvous, "_Recv", DType::float32);
  late.cancellation.cancel(cancelled("stop"));
  late.start();
  REQUIRE(late.ended);
  CHECK(*late.ended == cancelled("stop"));
}

TEST_CASE("comm: value and cancellation at once end the wait once") {
  TestDevice cpu;
  for (int round = 0; round < 200; ++round) {
    MemoryRendezvous rendezvous;
    EdgeEnd send(cpu.device(), rendezvous, "_Send", DType::float32);
    EdgeEnd recv(cpu.device(), rendezvous, "_Recv", DType::float32);
    std::promise<Status> ended;
    recv.context.emplace(recv.node, recv.step, recv.inputs, recv.outputs);
    recv.node.kernel->compute_async(*recv.context,
                                    [&](Status status) { ended.set_value(std::move(status)); });
    std::thread canceller([&] { recv.cancellation.cancel(cancelled("stop")); });
    send.start({value(1)});
    Status status = ended.get_future().get();
    canceller.join();
    CHECK((status.ok() || status == cancelled("stop")));
    CHECK(recv.outputs[0].has_value() == status.ok());
  }
}

TEST_CASE("comm: from and to a device's own memory, values travel as host copies") {
  FakeDevice gpu;
  MemoryRendezvous rendezvous;
  EdgeEnd send(gpu, rendezvous, "_Send", DType::float32);
  EdgeEnd recv(gpu, rendezvous, "_Recv", DType::float32);
  send.start({{gpu.upload(Tensor::scalar(5.0f)), nullptr}});
  CHECK(!send.ended);
  gpu.run_stream();
  REQUIRE(send.ended);
  recv.start();
  CHECK(!recv.ended);
  gpu.run_stream();
  REQUIRE(recv.ended);
  CHECK(recv.ended->ok());
  CHECK(recv.outputs[0].tensor.kind() == MemoryKind::device);
  CHECK(gpu.download(recv.outputs[0].tensor).value<float>() == 5);
}

TEST_CASE("comm: the host ops copy nothing") {
  FakeDevice gpu;
  MemoryRendezvous rendezvous;
  EdgeEnd send(gpu, rendezvous, "_HostSend", DType::float32);
  EdgeEnd recv(gpu, rendezvous, "_HostRecv", DType::float32);
  const Tensor x = Tensor::scalar(5.0f);
  send.start({{x, nullptr}});
  recv.start();
  CHECK(gpu.run_stream() == 0);
  REQUIRE(recv.ended);
  CHECK(recv.outputs[0].tensor.shares_buffer_with(x));
}

TEST_CASE("comm: a constant is copied to a device with its own memory") {
  FakeDevice gpu;
  const OpSchema& schema = *op_library().ops.find("Const");
  auto node =
      bind_kernel(op_library().kernels, "c", schema,
                  {{"dtype", DType::float32}, {"value", TensorBox{Tensor::scalar(2.0f)}}}, gpu);
  REQUIRE(node.ok());
  StepEnvironment step;
  step.device = &gpu;
  std::vector<Entry> outputs(1);
  KernelContext context(*node, step, {}, outputs);
  std::optional<Status> ended;
  node->kernel->compute_async(context, [&](Status status) { ended = std::move(status); });
  gpu.run_stream();
  REQUIRE(ended);
  CHECK(gpu.download(outputs[0].tensor).value<float>() == 2);
}

TEST_CASE("comm: devices that are not full names are refused when the graph is compiled") {
  TestDevice cpu;
  const OpSchema& schema = *op_library().ops.find("_Send");
  AttrMap attrs{{"tensor_name", std::string("e")},
                {"send_device", std::string("cpu")},
                {"send_device_incarnation", std::int64_t{1}},
                {"recv_device", std::string(there)},
                {"T", DType::float32}};
  REQUIRE(complete_and_check_attrs(schema, attrs).ok());
  CHECK(bind_kernel(op_library().kernels, "n", schema, std::move(attrs), cpu.device())
            .status()
            .message()
            .starts_with("Invalid rendezvous key: cpu;"));
}

TEST_CASE("comm: fed and fetched values carry their index") {
  TestDevice cpu;
  for (const char* op : {"_Arg", "_Retval"}) {
    auto node = bind_kernel(op_library().kernels, "n", *op_library().ops.find(op),
                            {{"T", DType::float32}, {"index", std::int64_t{3}}}, cpu.device());
    REQUIRE(node.ok());
    CHECK(*static_cast<const std::int64_t*>(node->prepared.get()) == 3);
  }
}

} // namespace troupe
