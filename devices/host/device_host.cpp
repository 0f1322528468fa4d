#include "devices/host/device_host.hpp"

#include <algorithm>

#include "core/base/machine.hpp"
#include "devices/memory/caching_allocator.hpp"

namespace troupe {

namespace {

/// What freed tensors may keep for the next ones: a step that holds more gets its pages anew from
/// the system each time, which costs as much as computing on them.
std::size_t max_cached() {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(std::int64_t{1} << 30, machine_memory() / 4));
}

} // namespace

DeviceHost::DeviceHost(int threads, std::int64_t memory_limit)
    : allocator(
          std::make_unique<CachingAllocator>(max_cached(), static_cast<std::size_t>(memory_limit))),
      compute(std::make_unique<ComputePool>(threads > 0 ? threads : machine_processors())),
      memory_limit(memory_limit) {}

DeviceHost::~DeviceHost() {
  // A fetched value belongs to its user, who may keep it longer than the session it came from.
  auto& caching = static_cast<CachingAllocator&>(*allocator);
  if (caching.stats().bytes_in_use > 0) {
    caching.trim();
    (void)allocator.release();
  }
}

} // namespace troupe
