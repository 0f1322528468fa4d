// The device for CUDA over the driver's double: memory, copies, order, failures.
#include "devices/cuda/cuda_device.hpp"

#include <doctest/doctest.h>

#include <future>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "devices/host/device_host.hpp"
#include "devices/resource/resource_manager.hpp"
#include "tests/support/cuda/cuda_double.hpp"

using namespace troupe;
using troupe::testing::CudaDouble;

namespace {

constexpr cuda::Outcome illegal_address = 700;

struct Rig {
  DeviceHost host{1};
  CudaDouble driver;
  std::shared_ptr<cuda::Gpu> gpu;
  std::unique_ptr<Device> device;

  explicit Rig(CudaDouble::Options options = {}, cuda::GpuSettings settings = {})
      : driver(options) {
    auto opened = cuda::Gpu::open(driver.libraries(), 0, settings);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    gpu = *std::move(opened);
    device = cuda::make_device("/job:a/replica:0/task:0/device:GPU:0", gpu, *host.compute);
  }
  ~Rig() {
    device = nullptr;
    gpu = nullptr;
    CHECK(driver.problems() == std::vector<std::string>{});
    CHECK(driver.bytes_in_use() == 0);
  }

  Result<Tensor> in(const Tensor& value) {
    std::promise<Result<Tensor>> answer;
    device->copy_to_device(value, device->stream(),
                           [&](Result<Tensor> copy) { answer.set_value(std::move(copy)); });
    return answer.get_future().get();
  }
  Result<Tensor> out(const Tensor& value) {
    std::promise<Result<Tensor>> answer;
    device->copy_to_host(value, device->stream(),
                         [&](Result<Tensor> copy) { answer.set_value(std::move(copy)); });
    return answer.get_future().get();
  }
};

Tensor counted(std::int64_t elements) {
  Tensor out = Tensor::make(DType::float32, {elements});
  float next = 0;
  for (float& value : out.mutable_data<float>())
    value = next++;
  return out;
}

} // namespace

TEST_CASE("cuda: what a device says of itself") {
  Rig rig({.memory = 1 << 20}, {.memory_fraction = 0.5});
  const DeviceAttributes& a = rig.device->attributes();
  CHECK(a.type == "GPU");
  CHECK(a.memory_limit == 1 << 19);
  CHECK(a.description == "device: 0, name: Double of a GPU, compute capability: 9.0");
  CHECK(rig.device->has_own_memory());
  CHECK(rig.device->host_side_allocator().kind() == MemoryKind::pinned);
  CHECK(rig.device->resources().default_container() == "a");
}

TEST_CASE("cuda: values come back as they went, whatever the order in which streams run") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rig rig({.seed = seed});
    const Tensor value = counted(1000);
    auto there = rig.in(value);
    REQUIRE_MESSAGE(there.ok(), there.status().to_string());
    CHECK(there->kind() == MemoryKind::device);
    auto second = rig.in(*rig.out(*there));
    there = Tensor();
    auto back = rig.out(*second);
    REQUIRE_MESSAGE(back.ok(), back.status().to_string());
    CHECK(equal(*back, value));
    CHECK(rig.gpu->memory().in_use() == 4000);
  }
}

TEST_CASE("cuda: nothing is copied of a tensor without elements, and objects stay on the host") {
  Rig rig;
  auto there = rig.in(Tensor::make(DType::float32, {0, 3}));
  REQUIRE(there.ok());
  auto back = rig.out(*there);
  REQUIRE(back.ok());
  CHECK(back->shape() == Shape{0, 3});
  CHECK(rig.in(*parse_literal("str[1] \"a\""))
            .status()
            .message()
            .find("a tensor of string stays in the host's memory") != std::string::npos);
}

TEST_CASE("cuda: memory is bounded, and refused with the remedy") {
  Rig rig({.memory = 1 << 20}, {.memory_fraction = 0.5});
  auto first = Tensor::allocate(rig.device->allocator(), DType::float32, Shape{100'000});
  REQUIRE(first.ok());
  auto second = Tensor::allocate(rig.device->allocator(), DType::float32, Shape{100'000});
  CHECK(second.status().code() == Code::resource_exhausted);
  CHECK(second.status().message().find("400000 of the 524288 bytes that troupe may take of the "
                                       "GPU's memory are in use") != std::string::npos);
  first = Tensor();
  CHECK(Tensor::allocate(rig.device->allocator(), DType::float32, Shape{100'000}).ok());
  CHECK(rig.gpu->memory().peak() == 400'000);
  rig.driver.fail_call("cuMemAllocAsync", cuda::out_of_memory);
  CHECK(Tensor::allocate(rig.device->allocator(), DType::float32, Shape{10}).status().code() ==
        Code::resource_exhausted);
  rig.driver.fail_call("cuMemHostAlloc", 1); // no matter of memory, so it is not tried again
  CHECK(rig.in(counted(10)).status().code() == Code::resource_exhausted);
}

TEST_CASE(
    "cuda: the host's memory for copies is bounded, and what is kept of it is given up first") {
  Rig rig({}, {.pinned_limit = 1 << 20});
  Allocator& pinned = rig.device->host_side_allocator();
  auto first = Tensor::allocate(pinned, DType::float32, Shape{100'000}); // half of it, rounded
  REQUIRE(first.ok());
  auto refused = Tensor::allocate(pinned, DType::float32, Shape{200'000});
  CHECK(refused.status().code() == Code::resource_exhausted);
  CHECK(refused.status().message().find("524288 of the 1048576 bytes of the host's memory that may "
                                        "be locked for the GPU are in use") != std::string::npos);
  first = Tensor();
  CHECK(rig.gpu->pinned().in_use() == 0);
  rig.driver.fail_call("cuMemHostAlloc", cuda::out_of_memory); // while a block is kept
  CHECK(Tensor::allocate(pinned, DType::float32, Shape{200'000}).ok());
}

TEST_CASE("cuda: an error of a call is told by it, and the device goes on") {
  Rig rig;
  for (const char* call :
       {"cuMemcpyHtoDAsync_v2", "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"}) {
    CAPTURE(call);
    rig.driver.fail_call(call, 1);
    CHECK(rig.in(counted(10)).status().code() == Code::internal);
    CHECK(rig.in(counted(10)).ok());
  }
  CHECK(rig.device->stream().synchronize().ok());
}

TEST_CASE("cuda: an error of work ends the device with its sentence, not the process") {
  DeviceHost host{1};
  CudaDouble driver;
  auto gpu = *cuda::Gpu::open(driver.libraries(), 0);
  auto device = cuda::make_device("/job:a/replica:0/task:0/device:GPU:0", gpu, *host.compute);
  for (const char* node : {"layer/relu", "layer/bias"})
    const cuda::CudaStream::Noted noted(gpu->compute(), node, "Relu");
  driver.fail_call("cuEventSynchronize", illegal_address);
  const Status failed = device->stream().synchronize();
  CHECK(failed.code() == Code::internal);
  CHECK(failed.message().find("an illegal memory access was encountered") != std::string::npos);
  CHECK(failed.message().find("it comes from one of these nodes, which ran last: 'layer/relu' "
                              "(Relu), 'layer/bias' (Relu)") != std::string::npos);
  CHECK(failed.message().find("is of no use any more until this process is started again") !=
        std::string::npos);
  CHECK(device->stream().synchronize() == failed);
  auto refused = Tensor::allocate(device->allocator(), DType::float32, Shape{1});
  CHECK(refused.status().message().find("illegal memory access") != std::string::npos);
  bool ran = false;
  device->stream().enqueue([&] { ran = true; });
  CHECK(ran); // what waits for it is not left waiting
}

TEST_CASE("cuda: boards that cannot be used are refused with the reason") {
  CudaDouble driver;
  driver.fail_call("cuDeviceGetAttribute 75", 6); // the attribute's value
  auto old = cuda::Gpu::open(driver.libraries(), 0);
  CHECK(old.status().code() == Code::failed_precondition);
  CHECK(old.status().message() == "Double of a GPU cannot be used: it has compute capability 6.0; "
                                  "7.0 and memory pools are needed");
  driver.fail_call("cuDeviceGetAttribute 115", 0);
  CHECK(cuda::Gpu::open(driver.libraries(), 0).status().message().find("no memory pools") !=
        std::string::npos);
  CHECK(cuda::Gpu::open(driver.libraries(), 1).status().message() ==
        "there is no GPU 1: the driver knows 1");
  driver.fail_call("cuDevicePrimaryCtxRetain", cuda::out_of_memory);
  CHECK(cuda::Gpu::open(driver.libraries(), 0).status().code() == Code::resource_exhausted);
}

TEST_CASE("cuda: work enqueued as a function runs in the stream's order") {
  Rig rig;
  std::promise<std::string> order;
  std::string text;
  rig.device->stream().enqueue([&] { text += "first "; });
  rig.device->stream().enqueue([&] { text += "second "; });
  rig.device->stream().when_done(
      [&](const Status& status) { order.set_value(text + (status.ok() ? "done" : "failed")); });
  CHECK(order.get_future().get() == "first second done");
}
