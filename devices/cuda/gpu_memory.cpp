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

namespace {

/// The exponent of the power of two that a block takes.
int exponent_of(std::size_t bytes, int smallest) {
  return std::max(smallest, static_cast<int>(std::bit_width(bytes - 1)));
}

} // namespace

PinnedMemory::~PinnedMemory() {
  drop_kept();
}

void PinnedMemory::drop_kept() {
  std::scoped_lock guard(lock_);
  if (!gpu_.activate().ok())
    return;
  for (auto& blocks : free_) {
    for (void* block : blocks)
      gpu_.driver().cuMemFreeHost(block);
    blocks.clear();
  }
  kept_ = 0;
}

void* PinnedMemory::take_kept(std::size_t index, std::size_t rounded) {
  std::scoped_lock guard(lock_);
  auto& blocks = free_[index];
  if (blocks.empty())
    return nullptr;
  void* block = blocks.back();
  blocks.pop_back();
  kept_ -= rounded;
  return block;
}

void* PinnedMemory::allocate(std::size_t bytes) {
  const int exponent = exponent_of(bytes, smallest);
  if (exponent > 62)
    return nullptr;
  const std::size_t rounded = std::size_t{1} << exponent;
  const auto taken = static_cast<std::int64_t>(rounded);
  if (in_use_.fetch_add(taken) > limit_ - taken) {
    in_use_ -= taken;
    return nullptr;
  }
  if (void* block = take_kept(static_cast<std::size_t>(exponent - smallest), rounded))
    return block;
  void* block = nullptr;
  Outcome outcome = out_of_memory;
  const auto lock_pages = [&] {
    if (gpu_.activate().ok())
      outcome = gpu_.driver().cuMemHostAlloc(&block, rounded, 0);
    return outcome == success;
  };
  if (!lock_pages() && outcome == out_of_memory) {
    drop_kept();
    lock_pages();
  }
  if (outcome == success)
    return block;
  (void)gpu_.is_lost_by(failure(gpu_.driver(), "locking memory of the host", outcome), outcome);
  in_use_ -= taken;
  return nullptr;
}

void PinnedMemory::deallocate(void* memory, std::size_t bytes) {
  const int exponent = exponent_of(bytes, smallest);
  const std::size_t rounded = std::size_t{1} << exponent;
  in_use_ -= static_cast<std::int64_t>(rounded);
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
  return str_cat(in_use(), " of the ", limit_,
                 " bytes of the host's memory that may be locked for the GPU are in use, or the "
                 "system has no more. Put large values of the host on a CPU");
}

} // namespace troupe::cuda
