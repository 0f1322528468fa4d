#include "net/data/lent_memory.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/clock.hpp"

namespace troupe {

BorrowedSlots::BorrowedSlots(std::shared_ptr<ForeignRegion> region,
                             std::shared_ptr<PathRecord> record)
    : region_(std::move(region)), record_(std::move(record)), slots_(region_->mapped()) {}

BufferRef BorrowedSlots::reserve(std::uint64_t serial, std::uint64_t bytes) {
  auto number = slots_.take(serial, bytes);
  if (!number)
    return {};
  auto& reserved = reserved_[LentSlots::slot_of(*number)];
  reserved.store(*number, std::memory_order_relaxed);
  return Buffer::wrap(region_->mapped() + LentSlots::offset_of(*number), bytes,
                      [slots = shared_from_this(), &reserved, number = *number](void*) {
                        if (auto still = number; reserved.compare_exchange_strong(still, 0))
                          slots->slots_.put_back(number);
                      });
}

// The number of the value, which is no longer its buffer's to put back.
std::optional<std::uint64_t> BorrowedSlots::take_reserved(const Tensor& value) {
  auto begin = reinterpret_cast<std::uintptr_t>(region_->mapped()) + LentSlots::first_slot;
  auto offset = reinterpret_cast<std::uintptr_t>(value.raw()) - begin;
  if (offset >= LentSlots::num_slots * LentSlots::slot_bytes || offset % LentSlots::slot_bytes ||
      !value.is_unique())
    return std::nullopt;
  std::uint64_t number = reserved_[offset / LentSlots::slot_bytes].exchange(0);
  return number ? std::optional(number) : std::nullopt;
}

std::optional<PlacedValue> BorrowedSlots::place(const Tensor& value, std::uint64_t serial) {
  std::int64_t begun = steady_micros();
  auto number = take_reserved(value);
  const bool is_there = number.has_value();
  if (!number && !(number = slots_.take(serial, value.byte_size())))
    return std::nullopt;
  record_->begin(begun);
  if (!is_there)
    std::memcpy(region_->mapped() + LentSlots::offset_of(*number), value.raw(), value.byte_size());
  std::int64_t ended = is_there ? begun : std::max(steady_micros(), begun + 1);
  record_->end(ended, value.byte_size(), true);
  slots_.publish(*number);
  return PlacedValue{*number, ended - begun, is_there};
}

void LentMemory::borrow(std::uint64_t node, const std::string& task,
                        std::shared_ptr<BorrowedSlots> slots) {
  std::scoped_lock guard(lock_);
  borrowed_by_task_[task] = slots;
  borrowed_[node] = std::move(slots);
}

void LentMemory::give_up(std::uint64_t node, const std::string& task,
                         const std::shared_ptr<BorrowedSlots>& slots) {
  std::scoped_lock guard(lock_);
  if (auto it = borrowed_.find(node); it != borrowed_.end() && it->second == slots)
    borrowed_.erase(it);
  if (auto it = borrowed_by_task_.find(task); it != borrowed_by_task_.end() && it->second == slots)
    borrowed_by_task_.erase(it);
}

BufferRef LentMemory::reserve(const std::string& task, std::uint64_t bytes) {
  if (bytes == 0 || bytes > LentSlots::max_value)
    return {};
  std::shared_ptr<BorrowedSlots> slots;
  std::uint64_t serial = 0;
  {
    std::scoped_lock guard(lock_);
    auto it = borrowed_by_task_.find(task);
    if (it == borrowed_by_task_.end())
      return {};
    slots = it->second;
    serial = ++last_serial_;
  }
  return slots->reserve(serial, bytes);
}

std::optional<PlacedValue> LentMemory::place(std::uint64_t node, const Tensor& value) {
  if (value.byte_size() == 0 || value.byte_size() > LentSlots::max_value)
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
  if (placed) {
    num_placed_.fetch_add(1, std::memory_order_relaxed);
    num_given_.fetch_add(placed->was_given, std::memory_order_relaxed);
  }
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
