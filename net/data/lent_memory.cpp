#include "net/data/lent_memory.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/clock.hpp"

namespace troupe {

BorrowedSlots::BorrowedSlots(std::shared_ptr<ForeignRegion> region,
                             std::shared_ptr<PathRecord> record)
    : region_(std::move(region)), record_(std::move(record)), slots_(region_->mapped()) {}

std::optional<PlacedValue> BorrowedSlots::place(std::span<const std::byte> value,
                                                std::uint64_t serial) {
  auto number = slots_.take(serial, value.size());
  if (!number)
    return std::nullopt;
  std::int64_t begun = steady_micros();
  record_->begin(begun);
  std::memcpy(region_->mapped() + LentSlots::offset_of(*number), value.data(), value.size());
  std::int64_t ended = steady_micros();
  record_->end(ended, value.size(), true);
  slots_.publish(*number);
  return PlacedValue{*number, ended - begun};
}

void LentMemory::borrow(std::uint64_t node, std::shared_ptr<BorrowedSlots> slots) {
  std::scoped_lock guard(lock_);
  borrowed_[node] = std::move(slots);
}

void LentMemory::give_up(std::uint64_t node, const std::shared_ptr<BorrowedSlots>& slots) {
  std::scoped_lock guard(lock_);
  if (auto it = borrowed_.find(node); it != borrowed_.end() && it->second == slots)
    borrowed_.erase(it);
}

std::optional<PlacedValue> LentMemory::place(std::uint64_t node, std::span<const std::byte> value) {
  if (value.empty() || value.size() > LentSlots::max_value)
    return std::nullopt;
  std::shared_ptr<BorrowedSlots> slots;
  std::uint64_t serial = 0;
  {
    std::scoped_lock guard(lock_);
    auto it = borrowed_.find(node);
    if (it == borrowed_.end())
      return std::nullopt;
    slots = it->second;
    serial = ++last_serial_;
  }
  auto placed = slots->place(value, serial);
  if (placed)
    num_placed_.fetch_add(1, std::memory_order_relaxed);
  return placed;
}

std::size_t LentMemory::slots_in_use() const {
  std::scoped_lock guard(lock_);
  std::size_t out = 0;
  for (const auto& [node, slots] : borrowed_)
    out += slots->in_use();
  return out;
}

bool LentMemory::withdraw(std::uint64_t number) {
  std::scoped_lock guard(lock_);
  return std::any_of(borrowed_.begin(), borrowed_.end(),
                     [&](const auto& entry) { return entry.second->withdraw(number); });
}

void LentMemory::lend(std::uint64_t node, const std::shared_ptr<SharedRegion>& region,
                      std::shared_ptr<PathRecord> record) {
  std::scoped_lock guard(lock_);
  lent_[node] = Lent{region, std::move(record)};
}

void LentMemory::forget(std::uint64_t node) {
  std::scoped_lock guard(lock_);
  lent_.erase(node);
}

Result<BufferRef> LentMemory::claim(std::uint64_t node, const PlacedValue& value,
                                    std::uint64_t bytes,
                                    const std::shared_ptr<MemoryLimit>& limit) {
  Lent lent;
  {
    std::scoped_lock guard(lock_);
    if (auto it = lent_.find(node); it != lent_.end())
      lent = it->second;
  }
  auto region = lent.region.lock();
  if (!region)
    return aborted("a value was lost with the shared memory that it lay in; run the step again");
  auto claimed = region->claim(value.number, bytes, limit);
  std::int64_t now = steady_micros();
  lent.record->begin(now - value.micros);
  lent.record->end(now, claimed.ok() ? bytes : 0, claimed.ok());
  lent.record->moved(now);
  return claimed;
}

} // namespace troupe
