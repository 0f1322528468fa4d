// LentSlots: memory that a receiver of tensors lends their sender in advance, so that a value can
// come with the message that names it instead of being asked for.
//
//            take                    publish                  claim
//   free ─────────────▶ taken ─────────────────▶ placed ─────────────────▶ claimed
//    ▲                    │ put back              │ withdraw (the sender)    │
//    └────────────────────┴───────────────────────┴──────────────────────────┘ release
//
// Layout, at the beginning of a SharedRegion, whose pages are zero at first: a page of words, then
// the slots. There is a word for each slot, and one that says whether the receiver sees the
// sender's own memory. A word holds a value's number and its state. A value lies in consecutive
// slots; the first one's word speaks for it, the others' say taken.
//
// Memory order: one end releases a word after it has written, and the other end acquires the word
// before it reads. Claim and withdraw are compare-and-swap of the same word, so only one of them
// succeeds. Numbers are never the same twice: a number of another region, or of a value that is
// long gone, is not found.
//
// Both ends lay a LentSlots over their own mapping. The content of a word is never trusted as an
// index: a peer can spoil its own values, not the memory around them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace troupe {

class LentSlots {
public:
  static constexpr std::uint64_t slot_bytes = std::uint64_t{64} << 10;
  static constexpr std::size_t num_slots = 256;
  static constexpr std::uint64_t first_slot = 4096;
  /// Bytes of a region, from its beginning, that the table and the slots take.
  static constexpr std::uint64_t bytes = first_slot + num_slots * slot_bytes;
  /// Larger values are asked for: copying one must not take an actor long.
  static constexpr std::uint64_t max_value = std::uint64_t{4} << 20;
  /// The word of each slot at the last look.
  using Seen = std::array<std::uint64_t, num_slots>;

  /// A view of `base`, which is page-aligned and has `bytes` bytes.
  explicit LentSlots(std::byte* base) : base_(base) {}

  /// Where the value `number` lies.
  static std::uint64_t offset_of(std::uint64_t number) {
    return first_slot + slot_of(number) * slot_bytes;
  }
  static std::size_t slot_of(std::uint64_t number) { return number % num_slots; }

  /// Slots that hold a value, or are about to.
  std::size_t in_use() const;

  // The sender; any thread.
  /// Takes room for `length` bytes (1 to max_value). Returns the value's number, derived from
  /// `serial` (unique, below 2^54), or nothing if there is no room.
  std::optional<std::uint64_t> take(std::uint64_t serial, std::uint64_t length);
  /// The value's bytes are there.
  void publish(std::uint64_t number);
  /// Gives back taken slots that are not needed after all.
  void put_back(std::uint64_t number);
  /// Takes a value back; false when the receiver has claimed it, or it is none.
  bool withdraw(std::uint64_t number);
  /// Whether the value has been placed and is still there, claimed or not.
  bool is_held(std::uint64_t number) const;
  /// Takes back values that were placed when `seen` was filled and still are; fills it anew.
  void withdraw_old(Seen& seen);

  // The receiver; any thread.
  /// Tells the sender that the receiver sees the sender's own memory from now on.
  void see_sender();
  bool sees_sender() const;
  /// The value is the receiver's from now on; false when it was withdrawn, or is none of `length`
  /// bytes.
  bool claim(std::uint64_t number, std::uint64_t length);
  /// Gives the slots of a claimed value back.
  void release(std::uint64_t number);
  /// Calls `drop` with offset and length of pages that were used and have been free since `seen`
  /// was filled; fills it anew.
  void trim(Seen& seen, const std::function<void(std::uint64_t, std::uint64_t)>& drop);

private:
  enum State : std::uint64_t { free = 0, taken = 1, placed = 2, claimed = 3 };
  static constexpr std::uint64_t word_of(std::uint64_t number, State state) {
    return number << 2 | state;
  }
  static State state_of(std::uint64_t word) { return static_cast<State>(word & 3); }
  std::atomic_ref<std::uint64_t> word(std::size_t slot) const {
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(base_)[slot]);
  }
  bool change(std::size_t slot, std::uint64_t from, std::uint64_t to) const;
  void free_all(std::uint64_t number);

  std::byte* base_;
};
static_assert((LentSlots::num_slots + 1) * sizeof(std::uint64_t) <= LentSlots::first_slot);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

} // namespace troupe
