// What is called of NVIDIA's driver (libcuda.so.1), opened at run time, with the types of its
// binary interface: so that one executable runs on machines with and without it, and is built
// without CUDA's headers. Names, numbers and signatures are those of cuda.h (CUDA 12.0 and later);
// tests put functions of their own behind the same table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/status.hpp"

namespace troupe::cuda {

using Outcome = int;           ///< CUresult
using Ordinal = int;           ///< CUdevice
using Address = std::uint64_t; ///< CUdeviceptr
using Context = struct CUctx_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using MemoryPool = struct CUmemPoolHandle_st*;

inline constexpr Outcome success = 0, out_of_memory = 2, not_initialized = 3, no_device = 100,
                         no_binary_for_gpu = 209, not_ready = 600;
/// Flags: a stream does not wait for the legacy default stream; an event keeps no time, and whoever
/// waits for it sleeps.
inline constexpr unsigned stream_non_blocking = 1, event_blocking_sync = 1,
                          event_disable_timing = 2;
inline constexpr int attribute_multiprocessors = 16, attribute_major = 75, attribute_minor = 76,
                     attribute_memory_pools = 115;
inline constexpr int pool_release_threshold = 4; ///< bytes (cuuint64_t) that a pool keeps

// Name, parameters.
#define TROUPE_CUDA_DRIVER_FUNCTIONS(X)                                                            \
  X(cuInit, (unsigned flags))                                                                      \
  X(cuDriverGetVersion, (int* version))                                                            \
  X(cuGetErrorName, (Outcome outcome, const char** text))                                          \
  X(cuGetErrorString, (Outcome outcome, const char** text))                                        \
  X(cuDeviceGetCount, (int* count))                                                                \
  X(cuDeviceGet, (Ordinal * device, int ordinal))                                                  \
  X(cuDeviceGetName, (char* name, int length, Ordinal device))                                     \
  X(cuDeviceGetAttribute, (int* value, int attribute, Ordinal device))                             \
  X(cuDeviceTotalMem_v2, (std::size_t * bytes, Ordinal device))                                    \
  X(cuDeviceGetDefaultMemPool, (MemoryPool * pool, Ordinal device))                                \
  X(cuMemPoolSetAttribute, (MemoryPool pool, int attribute, void* value))                          \
  X(cuDevicePrimaryCtxRetain, (Context * context, Ordinal device))                                 \
  X(cuDevicePrimaryCtxRelease_v2, (Ordinal device))                                                \
  X(cuCtxSetCurrent, (Context context))                                                            \
  X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                    \
  X(cuMemAllocAsync, (Address * memory, std::size_t bytes, StreamHandle stream))                   \
  X(cuMemFreeAsync, (Address memory, StreamHandle stream))                                         \
  X(cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                            \
  X(cuMemFreeHost, (void* memory))                                                                 \
  X(cuMemcpyHtoDAsync_v2, (Address to, const void* from, std::size_t bytes, StreamHandle stream))  \
  X(cuMemcpyDtoHAsync_v2, (void* to, Address from, std::size_t bytes, StreamHandle stream))        \
  X(cuMemcpyDtoDAsync_v2, (Address to, Address from, std::size_t bytes, StreamHandle stream))      \
  X(cuMemsetD8Async, (Address to, unsigned char byte, std::size_t bytes, StreamHandle stream))     \
  X(cuStreamCreate, (StreamHandle * stream, unsigned flags))                                       \
  X(cuStreamDestroy_v2, (StreamHandle stream))                                                     \
  X(cuStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags))                   \
  X(cuLaunchHostFunc, (StreamHandle stream, void (*function)(void*), void* argument))              \
  X(cuEventCreate, (EventHandle * event, unsigned flags))                                          \
  X(cuEventDestroy_v2, (EventHandle event))                                                        \
  X(cuEventRecord, (EventHandle event, StreamHandle stream))                                       \
  X(cuEventSynchronize, (EventHandle event))                                                       \
  X(cuEventElapsedTime, (float* milliseconds, EventHandle from, EventHandle to))                   \
  X(cuModuleLoadData, (Module * module, const void* image))                                        \
  X(cuModuleUnload, (Module module))                                                               \
  X(cuModuleGetFunction, (Function * function, Module module, const char* name))                   \
  X(cuLaunchKernel, (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,         \
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,  \
                     StreamHandle stream, void** arguments, void** extra))

/// The functions, under their own names.
struct Driver {
#define TROUPE_CUDA_MEMBER(name, parameters) Outcome(*name) parameters = nullptr;
  TROUPE_CUDA_DRIVER_FUNCTIONS(TROUPE_CUDA_MEMBER)
#undef TROUPE_CUDA_MEMBER

  /// Opens the driver at the first call and initialises it; it stays open. FAILED_PRECONDITION,
  /// with the remedy, where there is none, where it is too old, or where it finds no GPU.
  static Result<const Driver*> open();
};

/// `what` ("copying to the host") failed with `outcome`: RESOURCE_EXHAUSTED for memory, INTERNAL
/// for all else, in the driver's words.
Status failure(const Driver& driver, std::string_view what, Outcome outcome);

} // namespace troupe::cuda
