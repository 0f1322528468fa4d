#include "devices/cuda/gpu_memory.hpp"

#include <algorithm>
#include <bit>

#include "core/base/strings.hpp"
#include "devices/cuda/gpu.hpp"

namespace troupe::cuda {

namespace {
thread_local CudaStream* first_user = nullptr;
} // namespace

GpuMemory::FirstUser::FirstUser(CudaStream& stream) {
  first_user = &stream;
}

GpuMemory::FirstUser::~FirstUser() {
  first_user = nullptr;
}

void* GpuMemory::allocate(std::size_t bytes) {
  CudaStream& stream = first_user ? *first_user : gpu_.compute();
  const auto wanted = static_cast<std::int64_t>(bytes);
  const std::int64_t now = in_use_.fetch_add(wanted, std::memory_order_relaxed) + wanted;
  Address memory = 0;
  Outcome outcome = out_of_memory;
  if (wanted >= 0 && now <= limit_ && gpu_.lost().ok() && gpu_.activate().ok())
    outcome = gpu_.driver().cuMemAllocAsync(&memory, bytes, stream.handle());
  if (outcome != success) {
    (void)gpu_.is_lost_by(failure(gpu_.driver(), "taking memory", outcome), outcome);
    in_use_.fetch_sub(wanted, std::memory_order_relaxed);
    return nullptr;
  }
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return reinterpret_cast<void*>(memory);
}

void GpuMemory::deallocate(void* memory, std::size_t bytes) {
  if (gpu_.activate().ok()) // else the context is gone, and its memory with it
    gpu_.driver().cuMemFreeAsync(reinterpret_cast<Address>(memory), gpu_.compute().handle());
  in_use_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

Status GpuMemory::copy(void* to, const void* from, std::size_t bytes) {
  return gpu_.compute().copy(to, from, bytes);
}

std::string GpuMemory::refusal() const {
  if (Status lost = gpu_.lost(); !lost.ok())
    return str_cat("the GPU is of no use any more: ", lost.message());
  return str_cat(in_use(), " of the ", limit_,
                 " bytes that troupe may take of the GPU's memory are in use, or another program "
                 "has the rest. Use smaller batches, or raise gpu-memory-fraction");
}

PinnedMemory::~PinnedMemory() {
  if (gpu_.activate().ok())
    for (auto& blocks : free_)
      for (void* block : blocks)
        gpu_.driver().cuMemFreeHost(block);
}

void* PinnedMemory::allocate(std::size_t bytes) {
  const int exponent = std::max(smallest, static_cast<int>(std::bit_width(bytes - 1)));
  if (exponent > 62)
    return nullptr;
  const std::size_t rounded = std::size_t{1} << exponent;
  {
    std::scoped_lock guard(lock_);
    auto& blocks = free_[static_cast<std::size_t>(exponent - smallest)];
    if (!blocks.empty()) {
      void* block = blocks.back();
      blocks.pop_back();
      kept_ -= rounded;
      in_use_ += static_cast<std::int64_t>(bytes);
      return block;
    }
  }
  void* block = nullptr;
  Outcome outcome = out_of_memory;
  if (gpu_.activate().ok())
    outcome = gpu_.driver().cuMemHostAlloc(&block, rounded, 0);
  if (outcome != success) {
    (void)gpu_.is_lost_by(failure(gpu_.driver(), "locking memory of the host", outcome), outcome);
    return nullptr;
  }
  in_use_ += static_cast<std::int64_t>(bytes);
  return block;
}

void PinnedMemory::deallocate(void* memory, std::size_t bytes) {
  const int exponent = std::max(smallest, static_cast<int>(std::bit_width(bytes - 1)));
  const std::size_t rounded = std::size_t{1} << exponent;
  in_use_ -= static_cast<std::int64_t>(bytes);
  {
    std::scoped_lock guard(lock_);
    if (kept_ + rounded <= most_kept) {
      free_[static_cast<std::size_t>(exponent - smallest)].push_back(memory);
      kept_ += rounded;
      return;
    }
  }
  if (gpu_.activate().ok())
    gpu_.driver().cuMemFreeHost(memory);
}

std::string PinnedMemory::refusal() const {
  if (Status lost = gpu_.lost(); !lost.ok())
    return str_cat("the GPU is of no use any more: ", lost.message());
  return str_cat("the driver locks no more of the host's memory for the GPU (", in_use(),
                 " bytes are in use)");
}

} // namespace troupe::cuda
