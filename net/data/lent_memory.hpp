// LentMemory: the slots that peers have lent us and that we have lent peers, by node.
//
// A value that fits is written into its receiver's memory before the message that names it is sent.
// It is copied there, or computed there if its kernel knew the receiver.
//
// Variables that other tasks read lie in memory of ours that those tasks can read (VariableMemory).
// Of such a value only the place is told. A slot stands for it. Until its receiver gives the slot
// back the value's buffer is held here, so that an update of the variable goes elsewhere
// (copy-on-write).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/random.hpp"
#include "core/tensor/tensor.hpp"
#include "core/tensor/variable_memory.hpp"
#include "net/data/lent_slots.hpp"
#include "net/data/path_book.hpp"
#include "net/data/shared_region.hpp"

namespace troupe {

/// A value in a receiver's memory.
struct PlacedValue {
  std::uint64_t number = 0;              ///< LentSlots
  std::int64_t micros = 0;               ///< that copying it took
  bool was_given = false;                ///< computed where it lies
  std::optional<std::uint64_t> shown_at; ///< where it lies in its sender's memory, if it does
};

/// Slots of one peer, while the connection lives on which they came. Any thread.
class BorrowedSlots : public std::enable_shared_from_this<BorrowedSlots> {
public:
  /// `region` begins with slots that are mapped.
  BorrowedSlots(std::shared_ptr<ForeignRegion> region, std::shared_ptr<PathRecord> record);
  /// Memory for a value that is yet to be computed; null when there is no room. The peer can write
  /// there too. The memory goes back with its last reference, unless the value was placed.
  BufferRef reserve(std::uint64_t serial, std::uint64_t bytes);
  /// Copies `value` to the peer. If it lies in reserved memory and has no other holder, gives it
  /// away without a copy. Nothing when there is no room.
  std::optional<PlacedValue> place(const Tensor& value, std::uint64_t serial);
  /// The number of a value that the peer may read in place, in our memory. Nothing when the peer
  /// does not see that memory, or already holds as much of it as it lends, or there is no room.
  std::optional<std::uint64_t> show(const Tensor& value, std::uint64_t serial);
  bool sees_us() const { return slots_.sees_sender(); }
  /// Drops the buffers of values that the peer is done with; whether it holds others.
  bool collect();
  /// The peer's connection has ended: unclaimed values are taken back, nothing more is shown. Gives
  /// whether the peer still holds values.
  bool end();
  bool is_seeing() const { return region_->is_seeing(); }
  bool withdraw(std::uint64_t number) { return slots_.withdraw(number); }
  std::size_t in_use() const { return slots_.in_use(); }
  /// Takes back values that have waited since the last call or longer. One thread.
  void withdraw_old() { slots_.withdraw_old(seen_); }

private:
  std::optional<std::uint64_t> take_reserved(const Tensor& value);

  std::shared_ptr<ForeignRegion> region_;
  std::shared_ptr<PathRecord> record_;
  LentSlots slots_;
  LentSlots::Seen seen_{};
  /// By first slot: the number of a value that a buffer of ours was reserved for; 0: none. Not in
  /// the peer's reach.
  std::array<std::atomic<std::uint64_t>, LentSlots::num_slots> reserved_{};
  struct Shown {
    std::uint64_t number = 0;
    BufferRef buffer;
  };
  std::mutex lock_;
  std::vector<Shown> shown_; // guarded by lock_
  bool is_over_ = false;     // likewise
};

/// Any thread. Nodes are known by node_key.
class LentMemory final : public VariableMemory, public std::enable_shared_from_this<LentMemory> {
public:
  // Of a sender.
  /// `task` is what `node` runs.
  void borrow(std::uint64_t node, const std::string& task, std::shared_ptr<BorrowedSlots> slots);
  /// The connection on which they came has ended.
  void give_up(std::uint64_t node, const std::string& task,
               const std::shared_ptr<BorrowedSlots>& slots);
  /// Memory in which to compute a value for `task`, which saves copying it. Null when `bytes` are
  /// too many, or nothing is lent, or there is no room.
  BufferRef reserve(const std::string& task, std::uint64_t bytes);
  /// Puts `value` into the memory of `node`: copies it unless it was computed there. Nothing when
  /// it is too large, or nothing is lent, or there is no room: then the value must be asked for.
  std::optional<PlacedValue> place(std::uint64_t node, const Tensor& value);
  /// Takes back an unclaimed value; false when it is none of ours.
  bool withdraw(std::uint64_t number);
  /// Values that were placed so far, and those of them that were not copied.
  std::uint64_t num_placed() const { return num_placed_.load(std::memory_order_relaxed); }
  std::uint64_t num_given() const { return num_given_.load(std::memory_order_relaxed); }
  /// Values that were read, or will be, where they lie here.
  std::uint64_t num_shown() const { return num_shown_.load(std::memory_order_relaxed); }
  /// Of all peers' that are connected: slots that hold a value.
  std::size_t slots_in_use() const;

  // Our own memory that peers see. It is made when the first peer is to see it.
  /// Shows no variables to anybody. To be called before the memory is made.
  void show_nothing();
  /// Sets its bound. To be called before the memory is made.
  void limit_shown(std::shared_ptr<MemoryLimit> limit);
  /// Null when there is none to be had.
  std::shared_ptr<SharedRegion> shown();
  /// Whether `task` reads values of `bytes` bytes in place. Clients do not: they may keep them for
  /// ever.
  bool shows_to(const std::string& task, std::uint64_t bytes) const;
  BufferRef allocate_shown(std::size_t bytes) override;
  bool holds(const void* data) const override;
  void collect() override;
  /// To be called every now and then. Gives back memory, and forgets values shown to peers that are
  /// gone and no longer see our memory. A value that another peer keeps stays unchanged as long as
  /// it is kept.
  void tidy_shown();

  // Of a receiver.
  /// `node` may write into `region` as long as the region has another holder.
  void lend(std::uint64_t node, const std::shared_ptr<SharedRegion>& region,
            std::shared_ptr<PathRecord> record);
  void forget(std::uint64_t node);
  /// The value that `node` has placed. ABORTED when it is no longer there; RESOURCE_EXHAUSTED when
  /// `limit` has no room.
  Result<BufferRef> claim(std::uint64_t node, const PlacedValue& value, std::uint64_t bytes,
                          const std::shared_ptr<MemoryLimit>& limit);

private:
  std::optional<std::uint64_t> offset_in_shown(const void* data) const {
    const SharedRegion* region = shown_seen_.load(std::memory_order_acquire);
    return region ? region->offset_of(data) : std::nullopt;
  }

  struct Lent {
    std::weak_ptr<SharedRegion> region;
    std::shared_ptr<PathRecord> record;
  };
  // Bounds the ended connections whose peers keep values that they were shown. Beyond it nothing is
  // shown.
  static constexpr std::size_t max_gone = 8;

  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, std::shared_ptr<BorrowedSlots>> borrowed_;
  std::unordered_map<std::string, std::shared_ptr<BorrowedSlots>> borrowed_by_task_; ///< the latest
  std::unordered_map<std::uint64_t, Lent> lent_;
  std::vector<std::shared_ptr<BorrowedSlots>> gone_; ///< they hold shown values yet
  std::shared_ptr<SharedRegion> shown_;
  std::shared_ptr<MemoryLimit> shown_limit_;
  bool shows_nothing_ = false;
  std::atomic<const SharedRegion*> shown_seen_ = nullptr; ///< shown_, once it is there
  std::atomic<std::uint64_t> num_placed_ = 0, num_given_ = 0, num_shown_ = 0;
  std::uint64_t last_serial_ = random_id() >> 11; // half of what a number has room for
};

} // namespace troupe
