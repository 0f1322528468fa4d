// The driver's functions, as the double answers them.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/strings.hpp"
#include "tests/support/cuda/internal/machine.hpp"

// What the driver's handles point to.
namespace troupe::cuda {
struct CUevent_st {
  std::shared_ptr<testing::Mark> mark;
};
} // namespace troupe::cuda

namespace troupe::testing {
namespace {

using namespace cuda;

constexpr Outcome invalid_value = 1, invalid_context = 201, not_found_outcome = 500;
constexpr std::size_t guard_bytes = 64;
constexpr unsigned char guard_byte = 0xA5, garbage = 0xFB;

thread_local int current_gpu = -1;

using Machine = CudaDouble::Machine;
using Guard = std::scoped_lock<std::mutex>;

DoubleStream& of(StreamHandle handle) {
  return *reinterpret_cast<DoubleStream*>(handle);
}

// What every call of a context begins with.
#define TROUPE_DOUBLE_BEGIN(function)                                                              \
  Machine& m = machine();                                                                          \
  Guard guard(m.lock);                                                                             \
  if (auto outcome = m.injected(#function))                                                        \
    return *outcome;                                                                               \
  if (current_gpu < 0)                                                                             \
    return invalid_context;                                                                        \
  if (m.failed(current_gpu) != success)                                                            \
    return m.failed(current_gpu);

struct Told { // a call outside any context
  Machine& m = machine();
  Guard guard{m.lock};
};

Outcome init(unsigned) {
  return success;
}
Outcome driver_version(int* version) {
  *version = 12040;
  return success;
}
Outcome error_name(Outcome outcome, const char** text) {
  *text = outcome == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : outcome == 700         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                   : "CUDA_ERROR_OF_THE_DOUBLE";
  return success;
}
Outcome error_string(Outcome outcome, const char** text) {
  *text = outcome == out_of_memory ? "out of memory"
          : outcome == 700         ? "an illegal memory access was encountered"
                                   : "an error of the double";
  return success;
}
Outcome device_count(int* count) {
  Told told;
  if (auto outcome = told.m.injected("cuDeviceGetCount"))
    return *outcome;
  *count = told.m.options.gpus;
  return success;
}
Outcome device_get(Ordinal* device, int ordinal) {
  *device = ordinal;
  return success;
}
Outcome device_name(char* name, int length, Ordinal) {
  std::strncpy(name, "Double of a GPU", static_cast<std::size_t>(length));
  return success;
}
Outcome device_attribute(int* value, int attribute, Ordinal) {
  Told told;
  if (auto outcome = told.m.injected(str_cat("cuDeviceGetAttribute ", attribute))) {
    *value = *outcome;
    return success;
  }
  *value = attribute == attribute_major             ? 9
           : attribute == attribute_minor           ? 0
           : attribute == attribute_multiprocessors ? 4
                                                    : 1;
  return success;
}
Outcome total_memory(std::size_t* bytes, Ordinal) {
  *bytes = static_cast<std::size_t>(machine().options.memory);
  return success;
}
Outcome default_pool(MemoryPool* pool, Ordinal) {
  *pool = nullptr;
  return success;
}
Outcome pool_attribute(MemoryPool, int, void*) {
  return success;
}
Outcome retain(Context* context, Ordinal device) {
  Told told;
  if (auto outcome = told.m.injected("cuDevicePrimaryCtxRetain"))
    return *outcome;
  *context = reinterpret_cast<Context>(static_cast<std::uintptr_t>(device) + 1);
  return success;
}
Outcome release(Ordinal) {
  return success;
}
Outcome set_current(Context context) {
  current_gpu = static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1;
  return success;
}
Outcome memory_info(std::size_t* free, std::size_t* total) {
  TROUPE_DOUBLE_BEGIN(cuMemGetInfo_v2)
  *total = static_cast<std::size_t>(m.options.memory);
  *free = *total - static_cast<std::size_t>(m.in_use[static_cast<std::size_t>(current_gpu)]);
  return success;
}

Outcome allocate(Address* memory, std::size_t bytes, StreamHandle stream) {
  TROUPE_DOUBLE_BEGIN(cuMemAllocAsync)
  std::int64_t& in_use = m.in_use[static_cast<std::size_t>(current_gpu)];
  if (in_use + static_cast<std::int64_t>(bytes) > m.options.memory)
    return out_of_memory;
  in_use += static_cast<std::int64_t>(bytes);
  const std::size_t rounded = (bytes + guard_bytes - 1) / guard_bytes * guard_bytes;
  auto* block =
      static_cast<unsigned char*>(std::aligned_alloc(guard_bytes, rounded + 2 * guard_bytes));
  std::memset(block, guard_byte, rounded + 2 * guard_bytes);
  std::memset(block + guard_bytes, garbage, bytes);
  *memory = reinterpret_cast<Address>(block + guard_bytes);
  m.blocks.insert(block);
  m.checker.next(of(stream).number, "an allocation");
  m.checker.allocated(block + guard_bytes, bytes);
  std::memcpy(block, &bytes, sizeof bytes); // in the guard: how much it is
  return success;
}

void check_guards(Machine& m, const unsigned char* memory) {
  const unsigned char* block = memory - guard_bytes;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  bool whole = true;
  for (std::size_t i = sizeof bytes; i < guard_bytes; ++i)
    whole = whole && block[i] == guard_byte;
  for (std::size_t i = 0; i < guard_bytes; ++i)
    whole = whole && memory[bytes + i] == guard_byte;
  if (!whole)
    m.checker.report(str_cat("something was written beside a block of ", bytes, " bytes"));
}

Outcome free_memory(Address address, StreamHandle stream) {
  Machine& m = machine();
  Guard guard(m.lock);
  auto* memory = reinterpret_cast<unsigned char*>(address);
  m.checker.next(of(stream).number, "giving memory back");
  if (!m.checker.freed(memory))
    return invalid_value;
  std::size_t bytes = 0;
  std::memcpy(&bytes, memory - guard_bytes, sizeof bytes);
  m.in_use[static_cast<std::size_t>(of(stream).gpu)] -= static_cast<std::int64_t>(bytes);
  m.enqueue(of(stream), {.run = [&m, memory] {
              Guard inner(m.lock);
              check_guards(m, memory);
              m.blocks.erase(memory - guard_bytes);
              std::free(memory - guard_bytes);
              return success;
            }});
  return success;
}

Outcome allocate_host(void** memory, std::size_t bytes, unsigned) {
  TROUPE_DOUBLE_BEGIN(cuMemHostAlloc)
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::memset(*memory, garbage, bytes);
  m.pinned[static_cast<const char*>(*memory)] = bytes;
  return success;
}
Outcome free_host(void* memory) {
  Machine& m = machine();
  Guard guard(m.lock);
  m.pinned.erase(static_cast<const char*>(memory));
  std::free(memory);
  return success;
}

bool is_pinned(Machine& m, const void* memory, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(memory);
  auto it = m.pinned.upper_bound(begin);
  if (it != m.pinned.begin() && (--it, begin + bytes <= it->first + it->second))
    return true;
  m.checker.report("a copy's end on the host is no pinned memory");
  return false;
}

Outcome copy_in(Address to, const void* from, std::size_t bytes, StreamHandle stream) {
  TROUPE_DOUBLE_BEGIN(cuMemcpyHtoDAsync_v2)
  m.checker.next(of(stream).number, "a copy to the device");
  if (!m.checker.writes(reinterpret_cast<void*>(to), bytes) || !is_pinned(m, from, bytes))
    return invalid_value;
  m.enqueue(of(stream), {.run = [=] {
              std::memcpy(reinterpret_cast<void*>(to), from, bytes);
              return success;
            }});
  return success;
}
Outcome copy_out(void* to, Address from, std::size_t bytes, StreamHandle stream) {
  TROUPE_DOUBLE_BEGIN(cuMemcpyDtoHAsync_v2)
  m.checker.next(of(stream).number, "a copy to the host");
  if (!m.checker.reads(reinterpret_cast<void*>(from), bytes) || !is_pinned(m, to, bytes))
    return invalid_value;
  m.enqueue(of(stream), {.run = [=] {
              std::memcpy(to, reinterpret_cast<void*>(from), bytes);
              return success;
            }});
  return success;
}
Outcome copy_within(Address to, Address from, std::size_t bytes, StreamHandle stream) {
  TROUPE_DOUBLE_BEGIN(cuMemcpyDtoDAsync_v2)
  m.checker.next(of(stream).number, "a copy within the device");
  if (!m.checker.reads(reinterpret_cast<void*>(from), bytes) ||
      !m.checker.writes(reinterpret_cast<void*>(to), bytes))
    return invalid_value;
  m.enqueue(of(stream), {.run = [=] {
              std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
              return success;
            }});
  return success;
}
Outcome fill(Address to, unsigned char byte, std::size_t bytes, StreamHandle stream) {
  TROUPE_DOUBLE_BEGIN(cuMemsetD8Async)
  m.checker.next(of(stream).number, "filling memory");
  if (!m.checker.writes(reinterpret_cast<void*>(to), bytes))
    return invalid_value;
  m.enqueue(of(stream), {.run = [=] {
              std::memset(reinterpret_cast<void*>(to), byte, bytes);
              return success;
            }});
  return success;
}

Outcome make_stream(StreamHandle* stream, unsigned) {
  TROUPE_DOUBLE_BEGIN(cuStreamCreate)
  auto made = std::make_unique<DoubleStream>();
  made->gpu = current_gpu;
  made->number = m.checker.add_stream();
  *stream = reinterpret_cast<StreamHandle>(made.get());
  m.streams.insert(std::move(made));
  return success;
}
// What is enqueued on it still runs, as with the driver.
Outcome end_stream(StreamHandle) {
  return success;
}
Outcome stream_wait(StreamHandle stream, EventHandle event, unsigned) {
  TROUPE_DOUBLE_BEGIN(cuStreamWaitEvent)
  m.checker.wait(of(stream).number, event->mark->clock);
  m.enqueue(of(stream), {.awaited = event->mark});
  return success;
}
Outcome host_function(StreamHandle stream, void (*function)(void*), void* argument) {
  TROUPE_DOUBLE_BEGIN(cuLaunchHostFunc)
  m.enqueue(of(stream), {.run = [=] {
              function(argument);
              return success;
            }});
  return success;
}
Outcome make_event(EventHandle* event, unsigned) {
  TROUPE_DOUBLE_BEGIN(cuEventCreate)
  *event = new CUevent_st{std::make_shared<Mark>()};
  (*event)->mark->is_reached = true; // before it was recorded
  return success;
}
Outcome end_event(EventHandle event) {
  delete event;
  return success;
}
Outcome record_event(EventHandle event, StreamHandle stream) {
  TROUPE_DOUBLE_BEGIN(cuEventRecord)
  event->mark = std::make_shared<Mark>();
  event->mark->clock = m.checker.clock_of(of(stream).number);
  m.enqueue(of(stream), {.reached = event->mark});
  return success;
}
Outcome wait_event(EventHandle event) {
  std::shared_ptr<Mark> mark;
  {
    Told told;
    if (auto outcome = told.m.injected("cuEventSynchronize"))
      return *outcome;
    mark = event->mark;
  }
  return machine().wait_for(mark);
}

Outcome elapsed(float* milliseconds, EventHandle from, EventHandle to) {
  TROUPE_DOUBLE_BEGIN(cuEventElapsedTime)
  if (!from->mark->is_reached || !to->mark->is_reached)
    return not_ready;
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->mark->time - from->mark->time).count();
  return success;
}

Outcome load_module(Module* module, const void*) {
  TROUPE_DOUBLE_BEGIN(cuModuleLoadData)
  *module = reinterpret_cast<Module>(&m);
  return success;
}
Outcome unload_module(Module) {
  return success;
}
Outcome get_function(Function* function, Module, const char* name) {
  const gpu::HostKernel* kernel = find_host_kernel(name);
  if (!kernel)
    return not_found_outcome;
  *function = reinterpret_cast<Function>(const_cast<gpu::HostKernel*>(kernel));
  return success;
}
Outcome launch(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
               unsigned block_x, unsigned block_y, unsigned block_z, unsigned, StreamHandle stream,
               void** arguments, void**) {
  TROUPE_DOUBLE_BEGIN(cuLaunchKernel)
  const auto& kernel = *reinterpret_cast<const gpu::HostKernel*>(function);
  if (grid_x == 0 || grid_y == 0 || grid_y > 65535 || grid_z != 1 || block_x == 0 ||
      block_x > 1024 || block_y != 1 || block_z != 1 ||
      (kernel.is_cooperative && block_x % 32 != 0))
    return invalid_value;
  m.checker.next(of(stream).number, str_cat("the kernel ", kernel.name));
  struct Looked {
    OrderChecker& checker;
    bool all_there = true;
  } looked{m.checker};
  kernel.touched(
      arguments,
      [](void* to, const void* memory, bool is_written) {
        auto& seen = *static_cast<Looked*>(to);
        if (memory && !(is_written ? seen.checker.writes(memory) : seen.checker.reads(memory)))
          seen.all_there = false;
      },
      &looked);
  if (!looked.all_there)
    return invalid_value;
  std::vector<std::vector<unsigned char>> kept;
  for (int i = 0; i < kernel.parameters; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
    kept.emplace_back(bytes, bytes + kernel.sizes[i]);
  }
  ++m.launches[kernel.name];
  const int gpu = current_gpu;
  m.enqueue(of(stream),
            {.run = [&m, &kernel, gpu, grid_x, grid_y, block_x, kept = std::move(kept)]() mutable {
              return m.run_kernel(kernel, gpu, grid_x, grid_y, block_x, kept);
            }});
  return success;
}

} // namespace

Driver driver_of_double();
Driver driver_of_double() {
  Driver out;
  out.cuInit = init;
  out.cuDriverGetVersion = driver_version;
  out.cuGetErrorName = error_name;
  out.cuGetErrorString = error_string;
  out.cuDeviceGetCount = device_count;
  out.cuDeviceGet = device_get;
  out.cuDeviceGetName = device_name;
  out.cuDeviceGetAttribute = device_attribute;
  out.cuDeviceTotalMem_v2 = total_memory;
  out.cuDeviceGetDefaultMemPool = default_pool;
  out.cuMemPoolSetAttribute = pool_attribute;
  out.cuDevicePrimaryCtxRetain = retain;
  out.cuDevicePrimaryCtxRelease_v2 = release;
  out.cuCtxSetCurrent = set_current;
  out.cuMemGetInfo_v2 = memory_info;
  out.cuMemAllocAsync = allocate;
  out.cuMemFreeAsync = free_memory;
  out.cuMemHostAlloc = allocate_host;
  out.cuMemFreeHost = free_host;
  out.cuMemcpyHtoDAsync_v2 = copy_in;
  out.cuMemcpyDtoHAsync_v2 = copy_out;
  out.cuMemcpyDtoDAsync_v2 = copy_within;
  out.cuMemsetD8Async = fill;
  out.cuStreamCreate = make_stream;
  out.cuStreamDestroy_v2 = end_stream;
  out.cuStreamWaitEvent = stream_wait;
  out.cuLaunchHostFunc = host_function;
  out.cuEventCreate = make_event;
  out.cuEventDestroy_v2 = end_event;
  out.cuEventRecord = record_event;
  out.cuEventSynchronize = wait_event;
  out.cuEventElapsedTime = elapsed;
  out.cuModuleLoadData = load_module;
  out.cuModuleUnload = unload_module;
  out.cuModuleGetFunction = get_function;
  out.cuLaunchKernel = launch;
  return out;
}

} // namespace troupe::testing
