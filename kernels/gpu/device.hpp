// What .cu files are written in: CUDA's threads, shared memory and shuffles under names of our own.
// nvcc makes code for GPUs of them. Tests make code for the host of the same source, where a grid
// is a loop and the threads of a block are fibres (kernels/gpu/device_on_host.hpp).
//
//   #define SCALE (float factor, const void* x, void* y, std::int64_t n)
//   TROUPE_GPU_KERNEL(scale, SCALE) {
//     for (std::int64_t i = first(); i < n; i += stride())
//       elements<T>(y)[i] = narrow<T>(factor * widen(elements<T>(x)[i]));
//   }
//   TROUPE_GPU_INSTANCE(scale, f32, float, SCALE, (factor, x, y, n))
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/gpu/kernel.hpp"

#ifdef __CUDACC__

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define TROUPE_DEVICE __device__ __forceinline__
#define TROUPE_SHARED(type, name, count) __shared__ type name[count]
#define TROUPE_UNROLL _Pragma("unroll")
#define TROUPE_GPU_ENTRY(symbol, parameters, is_cooperative)                                       \
  extern "C" __global__ void __launch_bounds__(1024) symbol parameters

namespace troupe::gpu {

using Half = __half;
using BFloat16 = __nv_bfloat16;

TROUPE_DEVICE unsigned thread_index() {
  return threadIdx.x;
}
TROUPE_DEVICE unsigned block_threads() {
  return blockDim.x;
}
TROUPE_DEVICE unsigned block_index() {
  return blockIdx.x;
}
TROUPE_DEVICE unsigned row_of_blocks() {
  return blockIdx.y;
}
TROUPE_DEVICE unsigned blocks() {
  return gridDim.x;
}
TROUPE_DEVICE void barrier() {
  __syncthreads();
}
template <class T>
TROUPE_DEVICE T shuffle_down(T value, unsigned lanes) {
  return __shfl_down_sync(0xffffffffu, value, lanes);
}
TROUPE_DEVICE std::uint32_t high_of_product(std::uint32_t a, std::uint32_t b) {
  return __umulhi(a, b);
}
TROUPE_DEVICE void add_atomically(float* to, float value) {
  atomicAdd(to, value);
}
TROUPE_DEVICE void add_atomically(double* to, double value) {
  atomicAdd(to, value);
}
TROUPE_DEVICE void add_atomically(std::int32_t* to, std::int32_t value) {
  atomicAdd(to, value);
}
TROUPE_DEVICE void add_atomically(std::int64_t* to, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
TROUPE_DEVICE void add_atomically(Half* to, Half value) {
  atomicAdd(to, value);
}
TROUPE_DEVICE void add_atomically(BFloat16* to, BFloat16 value) {
  atomicAdd(to, value);
}
TROUPE_DEVICE float float_of_bits(std::uint32_t bits) {
  return __uint_as_float(bits);
}
TROUPE_DEVICE double double_of_bits(std::uint64_t bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
TROUPE_DEVICE float to_float(Half value) {
  return __half2float(value);
}
TROUPE_DEVICE float to_float(BFloat16 value) {
  return __bfloat162float(value);
}
template <class T>
TROUPE_DEVICE T from_float(float value);
template <>
TROUPE_DEVICE Half from_float<Half>(float value) {
  return __float2half_rn(value);
}
template <>
TROUPE_DEVICE BFloat16 from_float<BFloat16>(float value) {
  return __float2bfloat16_rn(value);
}

} // namespace troupe::gpu

#else

#include "kernels/gpu/device_on_host.hpp"

#endif

namespace troupe::gpu {

template <class T>
TROUPE_DEVICE const T* elements(const void* memory) {
  return static_cast<const T*>(memory);
}
template <class T>
TROUPE_DEVICE T* elements(void* memory) {
  return static_cast<T*>(memory);
}

/// Less and more than any other number.
template <class T>
inline constexpr T lowest = std::numeric_limits<T>::has_infinity
                                ? static_cast<T>(-std::numeric_limits<T>::infinity())
                                : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T highest = std::numeric_limits<T>::has_infinity
                                 ? std::numeric_limits<T>::infinity()
                                 : std::numeric_limits<T>::max();

/// The type that elements are computed in: f32 for half and bfloat16, else their own.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<Half> {
  using type = float;
};
template <>
struct Wide<BFloat16> {
  using type = float;
};
template <class T>
using WideOf = typename Wide<T>::type;

template <class T>
TROUPE_DEVICE WideOf<T> widen(T value) {
  if constexpr (std::is_same_v<WideOf<T>, T>)
    return value;
  else
    return to_float(value);
}
template <class T>
TROUPE_DEVICE T narrow(WideOf<T> value) {
  if constexpr (std::is_same_v<WideOf<T>, T>)
    return value;
  else
    return from_float<T>(value);
}

/// Of this thread among all threads of the grid, and how many there are.
TROUPE_DEVICE std::int64_t first() {
  return static_cast<std::int64_t>(block_index()) * block_threads() + thread_index();
}
TROUPE_DEVICE std::int64_t stride() {
  return static_cast<std::int64_t>(blocks()) * block_threads();
}

/// n / by, of n >= 0.
TROUPE_DEVICE std::int64_t divided(std::int64_t n, const Divider& by) {
  if (n >= std::int64_t{1} << 31)
    return n / by.divisor;
  if (by.divisor >= std::int64_t{1} << 31)
    return 0;
  const auto small = static_cast<std::uint32_t>(n);
  return (high_of_product(small, by.multiplier) + small) >> by.shift;
}
/// Takes the remainder by `by` off n, which becomes the quotient.
TROUPE_DEVICE std::int64_t split(std::int64_t& n, const Divider& by) {
  const std::int64_t quotient = divided(n, by), rest = n - quotient * by.divisor;
  n = quotient;
  return rest;
}

/// Offsets of the elements of the first so many inputs.
template <int inputs>
struct Offsets {
  std::int64_t of[inputs];
};
/// Those of output element `i`.
template <int inputs>
TROUPE_DEVICE Offsets<inputs> offsets_of(const Broadcast& plan, std::int64_t i) {
  Offsets<inputs> out{};
  for (int d = plan.rank - 1; d >= 0; --d) {
    const std::int64_t at = d > 0 ? split(i, plan.by[d]) : i;
    for (int input = 0; input < inputs; ++input)
      out.of[input] += at * plan.strides[input][d];
  }
  return out;
}
TROUPE_DEVICE std::int64_t offset_of(const Broadcast& plan, std::int64_t i) {
  return offsets_of<1>(plan, i).of[0];
}

/// Elements that one load takes: memory is quick where each thread moves 16 bytes.
template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T at[size];
};
/// Whether packs may be loaded from there.
TROUPE_DEVICE bool holds_packs(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0;
}
/// The elements from `at` on, or that one so many times.
template <class T>
TROUPE_DEVICE Pack<T> run_at(const T* at, bool is_run) {
  if (is_run)
    return *reinterpret_cast<const Pack<T>*>(at);
  Pack<T> out;
  for (T& element : out.at)
    element = *at;
  return out;
}

/// y[i] = f(x[i]) for all n.
template <class T, class F>
TROUPE_DEVICE void map(const void* x, void* y, std::int64_t n, F f) {
  std::int64_t done = 0;
  if (holds_packs(x) && holds_packs(y)) {
    const std::int64_t packs = n / Pack<T>::size;
    for (std::int64_t i = first(); i < packs; i += stride()) {
      Pack<T> values = elements<Pack<T>>(x)[i];
      TROUPE_UNROLL // an array that is indexed would lie in memory
          for (int k = 0; k < Pack<T>::size; ++k) values.at[k] = f(values.at[k]);
      elements<Pack<T>>(y)[i] = values;
    }
    done = packs * Pack<T>::size;
  }
  for (std::int64_t i = done + first(); i < n; i += stride())
    elements<T>(y)[i] = f(elements<T>(x)[i]);
}
/// z[i] = f(x[i], y[i]) for all n.
template <class T, class F>
TROUPE_DEVICE void map(const void* x, const void* y, void* z, std::int64_t n, F f) {
  std::int64_t done = 0;
  if (holds_packs(x) && holds_packs(y) && holds_packs(z)) {
    const std::int64_t packs = n / Pack<T>::size;
    for (std::int64_t i = first(); i < packs; i += stride()) {
      Pack<T> left = elements<Pack<T>>(x)[i];
      const Pack<T> right = elements<Pack<T>>(y)[i];
      TROUPE_UNROLL
      for (int k = 0; k < Pack<T>::size; ++k)
        left.at[k] = f(left.at[k], right.at[k]);
      elements<Pack<T>>(z)[i] = left;
    }
    done = packs * Pack<T>::size;
  }
  for (std::int64_t i = done + first(); i < n; i += stride())
    elements<T>(z)[i] = f(elements<T>(x)[i], elements<T>(y)[i]);
}

/// `combine` over the threads of a warp; the result is with its first.
template <class T, class Combine>
TROUPE_DEVICE T over_warp(T value, Combine combine) {
  for (unsigned lanes = 16; lanes > 0; lanes /= 2)
    value = combine(value, shuffle_down(value, lanes));
  return value;
}

/// `combine` over the threads of a block, of which there are a multiple of 32; the result is with
/// thread 0. For cooperative kernels; every thread calls it.
template <class T, class Combine>
TROUPE_DEVICE T over_block(T value, T neutral, Combine combine) {
  TROUPE_SHARED(T, of_warps, 32);
  value = over_warp(value, combine);
  const unsigned lane = thread_index() % 32, warp = thread_index() / 32;
  barrier(); // an earlier call's values were read
  if (lane == 0)
    of_warps[warp] = value;
  barrier();
  if (warp == 0) {
    value = lane < block_threads() / 32 ? of_warps[lane] : neutral;
    value = over_warp(value, combine);
  }
  return value;
}

/// The same with every thread.
template <class T, class Combine>
TROUPE_DEVICE T over_block_for_all(T value, T neutral, Combine combine) {
  TROUPE_SHARED(T, result, 1);
  value = over_block(value, neutral, combine);
  if (thread_index() == 0)
    result[0] = value;
  barrier();
  return result[0];
}

} // namespace troupe::gpu

// A kernel: a function of its elements' type T, and what makes an instance of it for one dtype.
// Parameters are those of the signature that it was declared with, in namespace
// troupe::gpu::kernels.
#define TROUPE_GPU_KERNEL(name, parameters)                                                        \
  template <class T>                                                                               \
  TROUPE_DEVICE void run_##name parameters
#define TROUPE_GPU_INSTANCE_AS(name, suffix, T, parameters, arguments, is_cooperative)             \
  static_assert(                                                                                   \
      std::is_same_v<                                                                              \
          void parameters,                                                                         \
          ::troupe::gpu::SignatureOf<std::decay_t<decltype(::troupe::gpu::kernels::name)>>::type>, \
      "the kernel was declared with another signature");                                           \
  TROUPE_GPU_ENTRY(name##_##suffix, parameters, is_cooperative) {                                  \
    run_##name<T> arguments;                                                                       \
  }
#define TROUPE_GPU_INSTANCE(name, suffix, T, parameters, arguments)                                \
  TROUPE_GPU_INSTANCE_AS(name, suffix, T, parameters, arguments, false)
// Of a kernel whose threads wait for each other: barrier(), shuffle_down(), over_block().
#define TROUPE_GPU_COOPERATIVE(name, suffix, T, parameters, arguments)                             \
  TROUPE_GPU_INSTANCE_AS(name, suffix, T, parameters, arguments, true)

// Instances for several dtypes. MAKE is one of the two above.
#define TROUPE_GPU_FLOATS(MAKE, name, parameters, arguments)                                       \
  MAKE(name, f32, float, parameters, arguments)                                                    \
  MAKE(name, f64, double, parameters, arguments)                                                   \
  MAKE(name, f16, ::troupe::gpu::Half, parameters, arguments)                                      \
  MAKE(name, bf16, ::troupe::gpu::BFloat16, parameters, arguments)
// By the size of elements that are only moved.
#define TROUPE_GPU_SIZES(MAKE, name, parameters, arguments)                                        \
  MAKE(name, u8, std::uint8_t, parameters, arguments)                                              \
  MAKE(name, u16, std::uint16_t, parameters, arguments)                                            \
  MAKE(name, u32, std::uint32_t, parameters, arguments)                                            \
  MAKE(name, u64, std::uint64_t, parameters, arguments)
#define TROUPE_GPU_INTEGERS(MAKE, name, parameters, arguments)                                     \
  MAKE(name, i32, std::int32_t, parameters, arguments)                                             \
  MAKE(name, i64, std::int64_t, parameters, arguments)
