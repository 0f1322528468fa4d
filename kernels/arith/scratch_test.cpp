#include "kernels/arith/internal/scratch.hpp"
#include <cstdint>
#include <doctest/doctest.h>
#include <new>
#include <thread>

// There if the program runs with a sanitizer's allocator, which ends it where memory ends.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_heap_size();

namespace troupe::arith::scratch_test {
namespace {

TEST_CASE("scratch: a thread that got no memory for a large product has some for a small one") {
  if (__sanitizer_get_heap_size != nullptr)
    return;
  std::thread([] {
    CHECK(thread_scratch(Scratch::patches, 4096) != nullptr);
    CHECK_THROWS_AS(thread_scratch(Scratch::patches, std::size_t{1} << 60), std::bad_alloc);
    CHECK(thread_scratch(Scratch::patches, 64) != nullptr);
  }).join();
}

} // namespace
} // namespace troupe::arith::scratch_test
