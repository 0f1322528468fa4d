// Where.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Where) {
  return {
      {.name = "a vector",
       .inputs = {"bool[4] true false true true"},
       .outputs = {"i64[3,1] 0 2 3"}},
      {.name = "a matrix",
       .inputs = {"bool[2,2] true false true true"},
       .outputs = {"i64[3,2] 0 0 1 0 1 1"}},
      {.name = "rank four",
       .inputs = {"bool[1,2,1,2] false true true false"},
       .outputs = {"i64[2,4] 0 0 0 1 0 1 0 0"}},
      {.name = "rows without any",
       .inputs =
           {"bool[4,1,3] false false true false false false false false false true true true"},
       .outputs = {"i64[4,3] 0 0 2 3 0 0 3 0 1 3 0 2"}},
      {.name = "all", .inputs = {"bool[2] true"}, .outputs = {"i64[2,1] 0 1"}},
      {.name = "none", .inputs = {"bool[2] false"}, .outputs = {"i64[0,1]"}},
      {.name = "no elements", .inputs = {"bool[0,2]"}, .outputs = {"i64[0,2]"}},
      {.name = "NaN counts, zeros do not",
       .inputs = {"f32[5] 0 -0 1 nan inf"},
       .outputs = {"i64[3,1] 2 3 4"}},
      {.name = "dtype f64", .inputs = {"f64[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "dtype i32", .inputs = {"i32[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "dtype i64", .inputs = {"i64[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "dtype u8", .inputs = {"u8[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "a complex number without a real part counts",
       .inputs = {"c64[3] (0,1) (0,0) (2,0)"},
       .outputs = {"i64[2,1] 0 2"}},
      {.name = "half, of rank 2",
       .inputs = {"f16[2,3] 0 -0 1 nan 0 0.00006"},
       .outputs = {"i64[3,2] 0 2 1 0 1 2"}},
      {.name = "a scalar",
       .inputs = {"bool[] true"},
       .error = "WhereOp : Unhandled input dimensions: 0"},
  };
}

// As a peer's variable is read where it lies, while its owner breaks the rules and writes it.
TEST_CASE("Where of memory that changes writes no more than it has counted") {
  constexpr std::int64_t n = 1'000'000;
  std::vector<float> memory(n);
  testing::TestDevice device;
  AttrMap attrs;
  attrs.set("T", DType::float32);
  const OpLibrary& library = op_library();
  auto bound =
      bind_kernel(library.kernels, "n", *library.ops.find("Where"), attrs, device.device());
  REQUIRE_MESSAGE(bound.ok(), bound.status().to_string());
  for (int round = 0; round < 60; ++round) {
    std::ranges::fill(memory, 0.0f);
    std::atomic<bool> goes{false};
    std::thread owner([&] {
      goes.wait(false);
      for (std::int64_t i = n; i-- > 0;)
        std::atomic_ref(memory[static_cast<std::size_t>(i)]).store(1.0f, std::memory_order_relaxed);
    });
    std::vector<Entry> inputs(1), outputs(1);
    inputs[0].tensor =
        Tensor(DType::float32, Shape{n},
               Buffer::wrap_read_only(memory.data(), n * sizeof(float), [](void*) {}));
    KernelContext context{*bound, device.step(), inputs, outputs};
    goes = true;
    goes.notify_one();
    Status status = testing::run_kernel(context);
    owner.join();
    CHECK_MESSAGE(status.ok(), status.to_string());
    CHECK(outputs[0].tensor.shape().dim(1) == 1);
  }
}

} // namespace
} // namespace troupe
