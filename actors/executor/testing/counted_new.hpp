// Counts what the thread that asks has asked `new` for. Defines every `new` of the program: one
// file of it includes this.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace troupe::testing {

inline constinit thread_local bool t_is_counting = false;
inline constinit thread_local std::size_t t_allocations = 0;

inline void* counted(std::size_t bytes, std::size_t alignment) {
  t_allocations += t_is_counting;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes ? bytes : 1)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

// Not inlined: g++ would take it for a mismatch with `new`.
[[gnu::noinline]] inline void release(void* memory) {
  std::free(memory);
}

/// Allocations of this thread while `once` runs.
template <class F>
std::size_t allocations_of(F once) {
  std::size_t before = t_allocations;
  t_is_counting = true;
  once();
  t_is_counting = false;
  return t_allocations - before;
}

} // namespace troupe::testing

void* operator new(std::size_t bytes) {
  return troupe::testing::counted(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return troupe::testing::counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return troupe::testing::counted(bytes, 1);
}
void operator delete(void* memory) noexcept {
  troupe::testing::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  troupe::testing::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  troupe::testing::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  troupe::testing::release(memory);
}
