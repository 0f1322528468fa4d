// LentMemory: the slots that peers have lent us and that we have lent peers, by node. Values that
// fit are written where their receiver will find them before the message that names them is sent.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/base/random.hpp"
#include "net/data/lent_slots.hpp"
#include "net/data/path_book.hpp"
#include "net/data/shared_region.hpp"

namespace troupe {

/// A value in a receiver's memory.
struct PlacedValue {
  std::uint64_t number = 0; ///< LentSlots
  std::int64_t micros = 0;  ///< that writing it took
};

/// Slots of one peer, while the connection lives on which they came. Any thread.
class BorrowedSlots {
public:
  /// `region` begins with slots that are mapped.
  BorrowedSlots(std::shared_ptr<ForeignRegion> region, std::shared_ptr<PathRecord> record);
  /// Nothing when there is no room.
  std::optional<PlacedValue> place(std::span<const std::byte> value, std::uint64_t serial);
  bool withdraw(std::uint64_t number) { return slots_.withdraw(number); }
  std::size_t in_use() const { return slots_.in_use(); }
  /// Takes back what has waited since the last call at least. One thread.
  void withdraw_old() { slots_.withdraw_old(seen_); }

private:
  std::shared_ptr<ForeignRegion> region_;
  std::shared_ptr<PathRecord> record_;
  LentSlots slots_;
  LentSlots::Seen seen_{};
};

/// Any thread. Nodes are known by node_key.
class LentMemory {
public:
  // Of a sender.
  void borrow(std::uint64_t node, std::shared_ptr<BorrowedSlots> slots);
  /// The connection on which they came has ended.
  void give_up(std::uint64_t node, const std::shared_ptr<BorrowedSlots>& slots);
  /// Writes `value` where `node` will find it. Nothing when it is too large, or nothing is lent, or
  /// there is no room: then the value must be asked for.
  std::optional<PlacedValue> place(std::uint64_t node, std::span<const std::byte> value);
  /// Takes a value back that nobody has claimed; false when it is none of ours.
  bool withdraw(std::uint64_t number);
  /// Values that were placed so far.
  std::uint64_t num_placed() const { return num_placed_.load(std::memory_order_relaxed); }
  /// Of all peers' that are connected: slots that hold a value.
  std::size_t slots_in_use() const;

  // Of a receiver.
  /// `node` may write into `region` as long as somebody else holds it.
  void lend(std::uint64_t node, const std::shared_ptr<SharedRegion>& region,
            std::shared_ptr<PathRecord> record);
  void forget(std::uint64_t node);
  /// What `node` has placed. ABORTED when it is no longer there; RESOURCE_EXHAUSTED when `limit`
  /// has no room.
  Result<BufferRef> claim(std::uint64_t node, const PlacedValue& value, std::uint64_t bytes,
                          const std::shared_ptr<MemoryLimit>& limit);

private:
  struct Lent {
    std::weak_ptr<SharedRegion> region;
    std::shared_ptr<PathRecord> record;
  };
  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, std::shared_ptr<BorrowedSlots>> borrowed_;
  std::unordered_map<std::uint64_t, Lent> lent_;
  std::atomic<std::uint64_t> num_placed_ = 0;
  std::uint64_t last_serial_ = random_id() >> 11; // half of what a number has room for
};

} // namespace troupe
