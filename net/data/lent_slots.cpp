#include "net/data/lent_slots.hpp"

namespace troupe {

bool LentSlots::change(std::size_t slot, std::uint64_t from, std::uint64_t to) const {
  return word(slot).compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
}

std::size_t LentSlots::in_use() const {
  std::size_t out = 0;
  for (std::size_t slot = 0; slot < num_slots; ++slot)
    out += state_of(word(slot).load(std::memory_order_relaxed)) != free;
  return out;
}

std::optional<std::uint64_t> LentSlots::take(std::uint64_t serial, std::uint64_t length) {
  const std::size_t needed = (length + slot_bytes - 1) / slot_bytes;
  std::size_t first = 0, have = 0;
  while (first + needed <= num_slots) {
    const std::uint64_t number = serial * num_slots + first;
    std::uint64_t was = word(first + have).load(std::memory_order_relaxed);
    if (state_of(was) == free && change(first + have, was, word_of(number, taken))) {
      if (++have == needed)
        return number;
      continue;
    }
    for (std::size_t i = 0; i < have; ++i)
      word(first + i).store(word_of(number, free), std::memory_order_release);
    first += have + 1;
    have = 0;
  }
  return std::nullopt;
}

void LentSlots::publish(std::uint64_t number) {
  word(slot_of(number)).store(word_of(number, placed), std::memory_order_release);
}

// The first slot last: as long as its word is not free nobody takes it for the beginning of a run,
// and the others' words tell where this one ends.
void LentSlots::free_all(std::uint64_t number) {
  for (std::size_t slot = slot_of(number) + 1;
       slot < num_slots && change(slot, word_of(number, taken), word_of(number, free));)
    ++slot;
  word(slot_of(number)).store(word_of(number, free), std::memory_order_release);
}

void LentSlots::put_back(std::uint64_t number) {
  free_all(number);
}

bool LentSlots::withdraw(std::uint64_t number) {
  if (!change(slot_of(number), word_of(number, placed), word_of(number, taken)))
    return false;
  free_all(number);
  return true;
}

bool LentSlots::is_held(std::uint64_t number) const {
  const std::uint64_t now = word(slot_of(number)).load(std::memory_order_acquire);
  return now == word_of(number, placed) || now == word_of(number, claimed);
}

void LentSlots::see_sender() {
  word(num_slots).store(1, std::memory_order_release);
}

bool LentSlots::sees_sender() const {
  return word(num_slots).load(std::memory_order_acquire) == 1;
}

void LentSlots::withdraw_old(Seen& seen) {
  for (std::size_t slot = 0; slot < num_slots; ++slot) {
    std::uint64_t now = word(slot).load(std::memory_order_relaxed);
    if (now == seen[slot] && state_of(now) == placed && slot_of(now >> 2) == slot)
      withdraw(now >> 2);
    seen[slot] = now;
  }
}

bool LentSlots::claim(std::uint64_t number, std::uint64_t length) {
  const std::size_t first = slot_of(number), count = (length + slot_bytes - 1) / slot_bytes;
  if (length == 0 || length > max_value || first + count > num_slots ||
      word(first).load(std::memory_order_acquire) != word_of(number, placed))
    return false;
  for (std::size_t slot = first + 1; slot < first + count; ++slot)
    if (word(slot).load(std::memory_order_relaxed) != word_of(number, taken))
      return false;
  return change(first, word_of(number, placed), word_of(number, claimed));
}

void LentSlots::release(std::uint64_t number) {
  free_all(number);
}

// What is being dropped is taken meanwhile, so that the sender writes nothing there.
void LentSlots::trim(Seen& seen, const std::function<void(std::uint64_t, std::uint64_t)>& drop) {
  std::size_t first = 0, count = 0;
  auto drop_run = [&] {
    if (count > 0)
      drop(first_slot + first * slot_bytes, count * slot_bytes);
    for (; count > 0; --count)
      word(first + count - 1).store(0, std::memory_order_release);
  };
  for (std::size_t slot = 0; slot < num_slots; ++slot) {
    std::uint64_t now = word(slot).load(std::memory_order_relaxed);
    bool is_cold =
        now == seen[slot] && now != 0 && state_of(now) == free && change(slot, now, now | taken);
    seen[slot] = now;
    if (!is_cold) {
      drop_run();
      continue;
    }
    if (count++ == 0)
      first = slot;
  }
  drop_run();
}

} // namespace troupe
