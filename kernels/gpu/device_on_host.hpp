// The words of kernels/gpu/device.hpp for code of the host: a .cu file compiled with this header is
// a set of functions that the double of the driver (cuda_double.hpp) calls, a thread of a grid at a
// time. Threads that wait for each other are fibres of one thread of the host.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/tensor/types.hpp"
#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {

using troupe::BFloat16;
using troupe::Half;

/// Where the running thread of a grid is.
struct HostThread {
  unsigned thread = 0, threads = 1, block = 0, blocks = 1, row = 0;
};
extern HostThread host_thread;

/// Told by a kernel's entry of each pointer among its arguments.
using Touch = void (*)(void* to, const void* memory, bool is_written);

/// A kernel as the double finds it.
struct HostKernel {
  const char* name;
  bool is_cooperative;
  void (*run)(void** arguments);                            ///< one thread
  void (*touched)(void** arguments, Touch touch, void* to); ///< its pointers
  int parameters;
  const int* sizes; ///< bytes of each
};
bool add_host_kernel(const HostKernel& kernel);

/// Of cooperative kernels; see cuda_double.hpp.
void wait_for_block();
/// Shows `bytes` (at most 16) of this thread to the threads of its warp, and takes what the thread
/// `lanes` further has shown; its own if there is none.
void exchange_in_warp(void* value, unsigned bytes, unsigned lanes);

inline unsigned thread_index() {
  return host_thread.thread;
}
inline unsigned block_threads() {
  return host_thread.threads;
}
inline unsigned block_index() {
  return host_thread.block;
}
inline unsigned row_of_blocks() {
  return host_thread.row;
}
inline unsigned blocks() {
  return host_thread.blocks;
}
inline void barrier() {
  wait_for_block();
}
template <class T>
T shuffle_down(T value, unsigned lanes) {
  exchange_in_warp(&value, sizeof value, lanes);
  return value;
}
inline std::uint32_t high_of_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}
inline float float_of_bits(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline double double_of_bits(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline float to_float(Half value) {
  return static_cast<float>(value);
}
inline float to_float(BFloat16 value) {
  return static_cast<float>(value);
}
template <class T>
T from_float(float value) {
  return T(value);
}
// The threads of a grid run one after the other.
template <class T>
void add_atomically(T* to, T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    *to = T(to_float(*to) + to_float(value));
  else
    *to = static_cast<T>(*to + value);
}

namespace host {

template <class T>
void touch_one(const T& argument, Touch touch, void* to) {
  if constexpr (std::is_pointer_v<T>) {
    touch(to, argument, !std::is_const_v<std::remove_pointer_t<T>>);
  } else if constexpr (std::is_same_v<T, InputList> || std::is_same_v<T, OutputList>) {
    for (int i = 0; i < argument.count; ++i)
      touch(to, argument.data[i], std::is_same_v<T, OutputList>);
  }
}

template <auto function>
struct Entry;
template <class... Parameters, void (*function)(Parameters...)>
struct Entry<function> {
  static constexpr int count = sizeof...(Parameters);
  static constexpr int sizes[] = {static_cast<int>(sizeof(Parameters))...};
  static void run(void** arguments) {
    call(arguments, std::make_index_sequence<sizeof...(Parameters)>());
  }
  static void touched(void** arguments, Touch touch, void* to) {
    visit(arguments, touch, to, std::make_index_sequence<sizeof...(Parameters)>());
  }

private:
  template <std::size_t... I>
  static void call(void** arguments, std::index_sequence<I...>) {
    function(*static_cast<Parameters*>(arguments[I])...);
  }
  template <std::size_t... I>
  static void visit(void** arguments, Touch touch, void* to, std::index_sequence<I...>) {
    (touch_one(*static_cast<Parameters*>(arguments[I]), touch, to), ...);
  }
};

} // namespace host
} // namespace troupe::gpu

#define TROUPE_DEVICE inline
#define TROUPE_UNROLL
// Blocks run one after the other, on one thread.
#define TROUPE_SHARED(type, name, count) static type name[count]
#define TROUPE_GPU_ENTRY(symbol, parameters, is_cooperative)                                       \
  static void symbol parameters;                                                                   \
  [[maybe_unused]] static const bool symbol##_added = ::troupe::gpu::add_host_kernel(              \
      {#symbol, is_cooperative, &::troupe::gpu::host::Entry<&symbol>::run,                         \
       &::troupe::gpu::host::Entry<&symbol>::touched, ::troupe::gpu::host::Entry<&symbol>::count,  \
       ::troupe::gpu::host::Entry<&symbol>::sizes});                                               \
  static void symbol parameters
