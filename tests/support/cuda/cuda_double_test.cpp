// The double itself: that it sees what is wrong. A checker that finds nothing proves nothing.
#include "tests/support/cuda/cuda_double.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernels/gpu/device_on_host.hpp"
#include "tests/support/cuda/fibres.hpp"
#include "tests/support/cuda/internal/order_checker.hpp"

using namespace troupe;
using troupe::testing::CudaDouble;
using troupe::testing::OrderChecker;

namespace {

/// The driver's functions, and two streams.
struct Raw {
  CudaDouble gpus;
  const cuda::Driver& driver = *gpus.libraries().driver;
  cuda::StreamHandle one = nullptr, two = nullptr;

  Raw() {
    cuda::Context context = nullptr;
    REQUIRE(driver.cuDevicePrimaryCtxRetain(&context, 0) == cuda::success);
    REQUIRE(driver.cuCtxSetCurrent(context) == cuda::success);
    REQUIRE(driver.cuStreamCreate(&one, 0) == cuda::success);
    REQUIRE(driver.cuStreamCreate(&two, 0) == cuda::success);
  }
  cuda::Address take(std::size_t bytes) {
    cuda::Address memory = 0;
    REQUIRE(driver.cuMemAllocAsync(&memory, bytes, one) == cuda::success);
    return memory;
  }
  cuda::EventHandle mark(cuda::StreamHandle stream) {
    cuda::EventHandle event = nullptr;
    REQUIRE(driver.cuEventCreate(&event, 0) == cuda::success);
    REQUIRE(driver.cuEventRecord(event, stream) == cuda::success);
    return event;
  }
  void wait(cuda::EventHandle event) {
    REQUIRE(driver.cuEventSynchronize(event) == cuda::success);
    driver.cuEventDestroy_v2(event);
  }
  /// `problem` is among the last ones, which there are `count` of.
  void check_found(std::size_t count, const std::string& problem) {
    const auto all = gpus.problems();
    REQUIRE(all.size() == count);
    CHECK_MESSAGE(all.back().find(problem) != std::string::npos, all.back());
  }
};

} // namespace

TEST_CASE("double: nothing runs before somebody waits") {
  Raw raw;
  const cuda::Address memory = raw.take(4);
  void* host = nullptr;
  REQUIRE(raw.driver.cuMemHostAlloc(&host, 4, 0) == cuda::success);
  raw.driver.cuMemsetD8Async(memory, 7, 4, raw.one);
  raw.driver.cuMemcpyDtoHAsync_v2(host, memory, 4, raw.one);
  CHECK(*static_cast<unsigned char*>(host) != 7);
  raw.wait(raw.mark(raw.one));
  CHECK(*static_cast<unsigned char*>(host) == 7);
  raw.driver.cuMemFreeAsync(memory, raw.one);
  raw.driver.cuMemFreeHost(host);
  CHECK(raw.gpus.problems().empty());
}

TEST_CASE("double: work of two streams that nothing orders is a problem, an event orders it") {
  Raw raw;
  const cuda::Address memory = raw.take(16);
  raw.driver.cuMemsetD8Async(memory, 1, 16, raw.one);
  raw.driver.cuMemsetD8Async(memory, 2, 16, raw.two);
  raw.check_found(1, "filling memory writes memory that filling memory writes, and nothing says "
                     "which comes first");
  cuda::EventHandle event = raw.mark(raw.two);
  REQUIRE(raw.driver.cuStreamWaitEvent(raw.one, event, 0) == cuda::success);
  raw.driver.cuEventDestroy_v2(event);
  raw.driver.cuMemsetD8Async(memory, 3, 16, raw.one);
  CHECK(raw.gpus.problems().size() == 1);
}

TEST_CASE("double: what the host has waited for comes before what it enqueues") {
  Raw raw;
  const cuda::Address memory = raw.take(16);
  raw.driver.cuMemsetD8Async(memory, 1, 16, raw.one);
  raw.wait(raw.mark(raw.one));
  raw.driver.cuMemsetD8Async(memory, 2, 16, raw.two);
  CHECK(raw.gpus.problems().empty());
}

TEST_CASE("double: memory that was given back, and memory beyond a block's end, are problems") {
  Raw raw;
  const cuda::Address memory = raw.take(16), other = raw.take(16);
  raw.driver.cuMemsetD8Async(other, 1, 17, raw.one);
  raw.check_found(1, "filling memory writes memory that is none of the device's");
  raw.driver.cuMemFreeAsync(memory, raw.one);
  raw.driver.cuMemsetD8Async(memory, 1, 4, raw.one);
  raw.check_found(2, "writes memory after it was given back");
  raw.driver.cuMemFreeAsync(other + 4, raw.one);
  raw.check_found(3, "gives back memory that is not there");
}

TEST_CASE("double: a copy's end on the host has to be pinned") {
  Raw raw;
  const cuda::Address memory = raw.take(16);
  std::vector<char> plain(16);
  raw.driver.cuMemcpyHtoDAsync_v2(memory, plain.data(), 16, raw.one);
  raw.check_found(1, "no pinned memory");
}

TEST_CASE("checker: reads may be at once, a write waits for them") {
  OrderChecker checker;
  const std::size_t a = checker.add_stream(), b = checker.add_stream();
  char block[8];
  checker.next(a, "making");
  checker.allocated(block, sizeof block);
  checker.wait(b, checker.clock_of(a));
  checker.next(a, "first");
  checker.reads(block);
  checker.next(b, "second");
  checker.reads(block);
  CHECK(checker.problems().empty());
  checker.next(b, "third");
  checker.writes(block);
  REQUIRE(checker.problems().size() == 1);
  CHECK(checker.problems()[0] ==
        "third writes memory that first reads, and nothing says which comes first");
}

TEST_CASE("fibres: threads of a block meet at its barrier, and warps exchange values") {
  std::vector<int> order;
  gpu::host_thread = {.threads = 64};
  CHECK(testing::run_block(64, [&] {
          const unsigned self = gpu::thread_index();
          order.push_back(static_cast<int>(self));
          gpu::barrier();
          const int next = gpu::shuffle_down(static_cast<int>(self), 1);
          CHECK(next == static_cast<int>(self % 32 == 31 ? self : self + 1));
          gpu::barrier();
          order.push_back(100 + static_cast<int>(self));
        }) == "");
  REQUIRE(order.size() == 128);
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(order[i] == static_cast<int>(i));
    CHECK(order[64 + i] == 100 + static_cast<int>(i));
  }
}

TEST_CASE("fibres: a barrier that some threads never reach is found") {
  CHECK(testing::run_block(64, [] {
          if (gpu::thread_index() < 60)
            gpu::barrier();
        }) == "4 of 64 threads of a block ended while the others wait at a barrier");
}
