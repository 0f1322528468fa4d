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
  return PlacedValue{*number, ended - begun, is_there, {}};
}

std::optional<std::uint64_t> BorrowedSlots::show(const Tensor& value, std::uint64_t serial) {
  if (!sees_us())
    return std::nullopt;
  collect();
  std::scoped_lock guard(lock_);
  if (is_over_)
    return std::nullopt;
  std::uint64_t held = value.byte_size();
  for (const Shown& shown : shown_)
    held += shown.buffer->bytes();
  if (held > LentSlots::bytes)
    return std::nullopt;
  auto number = slots_.take(serial, 1);
  if (!number)
    return std::nullopt;
  shown_.push_back({*number, value.buffer()});
  std::int64_t now = steady_micros();
  record_->begin(now);
  record_->end(now, value.byte_size(), true);
  slots_.publish(*number);
  return number;
}

bool BorrowedSlots::collect() {
  std::vector<Shown> dropped; // after the lock
  std::scoped_lock guard(lock_);
  auto done = std::stable_partition(shown_.begin(), shown_.end(), [&](const Shown& shown) {
    return slots_.is_held(shown.number);
  });
  dropped.assign(std::make_move_iterator(done), std::make_move_iterator(shown_.end()));
  shown_.erase(done, shown_.end());
  return !shown_.empty();
}

bool BorrowedSlots::end() {
  {
    std::scoped_lock guard(lock_);
    is_over_ = true;
    for (const Shown& shown : shown_)
      slots_.withdraw(shown.number);
  }
  return collect();
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
  if (slots->end()) // a step may still read what it was shown
    gone_.push_back(slots);
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
  bool may_show = false;
  {
    std::scoped_lock guard(lock_);
    may_show = gone_.size() < max_gone;
    auto it = borrowed_.find(node);
    if (it == borrowed_.end())
      return std::nullopt;
    slots = it->second;
    serial = ++last_serial_;
  }
  if (auto offset = offset_in_shown(value.raw());
      may_show && offset && *offset % Allocator::alignment == 0)
    if (auto number = slots->show(value, serial)) {
      num_placed_.fetch_add(1, std::memory_order_relaxed);
      num_shown_.fetch_add(1, std::memory_order_relaxed);
      return PlacedValue{*number, 0, false, offset};
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

void LentMemory::limit_shown(std::shared_ptr<MemoryLimit> limit) {
  std::scoped_lock guard(lock_);
  shown_limit_ = std::move(limit);
}

void LentMemory::show_nothing() {
  std::scoped_lock guard(lock_);
  shows_nothing_ = true;
}

std::shared_ptr<SharedRegion> LentMemory::shown() {
  std::scoped_lock guard(lock_);
  if (!shown_ && !shows_nothing_)
    if (auto made = SharedRegion::make(SharedRegion::default_bytes()); made.ok()) {
      shown_ = *std::move(made);
      shown_seen_.store(shown_.get(), std::memory_order_release);
    }
  return shown_;
}

bool LentMemory::holds(const void* data) const {
  return offset_in_shown(data).has_value();
}

bool LentMemory::shows_to(const std::string& task, std::uint64_t bytes) const {
  std::scoped_lock guard(lock_);
  auto it = borrowed_by_task_.find(task);
  return bytes <= LentSlots::max_value && it != borrowed_by_task_.end() && it->second->sees_us();
}

BufferRef LentMemory::allocate_shown(std::size_t bytes) {
  std::shared_ptr<SharedRegion> region;
  std::shared_ptr<MemoryLimit> limit;
  {
    std::scoped_lock guard(lock_);
    region = shown_;
    limit = shown_limit_;
  }
  auto range = region ? region->allocate(bytes, limit) : aborted("nothing is shown");
  return range.ok() ? std::move(range->buffer) : BufferRef{};
}

void LentMemory::collect() {
  std::vector<std::shared_ptr<BorrowedSlots>> all;
  {
    std::scoped_lock guard(lock_);
    for (const auto& [node, slots] : borrowed_)
      all.push_back(slots);
    all.insert(all.end(), gone_.begin(), gone_.end());
  }
  for (const auto& slots : all)
    slots->collect();
}

void LentMemory::tidy_shown() {
  collect();
  std::vector<std::shared_ptr<BorrowedSlots>> forgotten;
  std::shared_ptr<SharedRegion> region;
  {
    std::scoped_lock guard(lock_);
    auto done = std::stable_partition(gone_.begin(), gone_.end(), [](const auto& slots) {
      return slots->is_seeing() && slots->collect();
    });
    forgotten.assign(std::make_move_iterator(done), std::make_move_iterator(gone_.end()));
    gone_.erase(done, gone_.end());
    region = shown_;
  }
  forgotten.clear(); // its memory may go at once
  if (region)
    region->trim();
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
  auto claimed = value.shown_at ? region->claim_shown(value.number, *value.shown_at, bytes)
                                : region->claim(value.number, bytes, limit);
  std::int64_t now = steady_micros();
  lent.record->begin(now - value.micros);
  lent.record->end(now, claimed.ok() ? bytes : 0, claimed.ok());
  lent.record->moved(now);
  return claimed;
}

} // namespace troupe
