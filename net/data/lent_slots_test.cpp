#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "net/data/lent_memory.hpp"

using namespace troupe;

namespace {

/// One region, seen from both ends.
struct SlotEnds {
  std::vector<std::byte> memory = std::vector<std::byte>(LentSlots::bytes + 4096);
  std::byte* base = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) / 4096 * 4096);
  LentSlots sender{base}, receiver{base};

  std::uint64_t place(std::uint64_t serial, std::uint64_t length) {
    auto number = sender.take(serial, length);
    REQUIRE(number);
    sender.publish(*number);
    return *number;
  }
};

constexpr std::uint64_t slot = LentSlots::slot_bytes;

} // namespace

TEST_CASE("lent slots: what was taken and is put back serves again, and was never there") {
  SlotEnds ends;
  auto number = ends.sender.take(1, 3 * slot);
  REQUIRE(number);
  CHECK(!ends.receiver.claim(*number, 3 * slot));
  ends.sender.put_back(*number);
  CHECK(ends.sender.in_use() == 0);
  CHECK(!ends.receiver.claim(*number, 3 * slot));
  CHECK(LentSlots::offset_of(ends.place(2, slot)) == LentSlots::first_slot);
}

TEST_CASE("lent slots: a value is claimed once, and its slots serve again when it is released") {
  SlotEnds ends;
  std::uint64_t first = ends.place(1, 3 * slot), second = ends.place(2, 1);
  CHECK(LentSlots::offset_of(first) == LentSlots::first_slot);
  CHECK(LentSlots::offset_of(second) == LentSlots::first_slot + 3 * slot);
  CHECK(ends.sender.in_use() == 4);
  CHECK(ends.receiver.claim(first, 3 * slot));
  CHECK(!ends.receiver.claim(first, 3 * slot));
  CHECK(!ends.sender.withdraw(first));
  ends.receiver.release(first);
  CHECK(ends.sender.in_use() == 1);
  std::uint64_t third = ends.place(3, 2 * slot + 1);
  CHECK(LentSlots::offset_of(third) == LentSlots::first_slot);
  CHECK(third != first);
  CHECK(!ends.receiver.claim(first, 3 * slot)); // long gone
  CHECK(ends.receiver.claim(third, 2 * slot + 1));
}

TEST_CASE("lent slots: what is withdrawn cannot be claimed, what was never placed neither") {
  SlotEnds ends;
  auto unfinished = ends.sender.take(1, slot);
  REQUIRE(unfinished);
  CHECK(!ends.receiver.claim(*unfinished, slot));
  CHECK(!ends.sender.withdraw(*unfinished));
  std::uint64_t number = ends.place(2, 2 * slot);
  CHECK(!ends.receiver.claim(number, 3 * slot)); // it is smaller
  CHECK(!ends.receiver.claim(number, 0));
  CHECK(!ends.receiver.claim(number, ~std::uint64_t{0}));
  CHECK(!ends.receiver.claim(number + 1, slot));
  CHECK(ends.sender.withdraw(number));
  CHECK(!ends.receiver.claim(number, 2 * slot));
  CHECK(ends.sender.in_use() == 1);
  CHECK(!ends.receiver.claim(~std::uint64_t{0} >> 2, slot)); // beyond the last slot
}

TEST_CASE("lent slots: a full area takes no more, a gap takes what fits into it") {
  SlotEnds ends;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < LentSlots::num_slots / 2; ++i)
    numbers.push_back(ends.place(i, 2 * slot));
  CHECK(!ends.sender.take(1000, 1));
  CHECK(ends.sender.withdraw(numbers[7]));
  CHECK(!ends.sender.take(1001, 3 * slot));
  CHECK(ends.sender.in_use() == LentSlots::num_slots - 2); // nothing of it stays
  CHECK(ends.sender.withdraw(numbers[8]));
  std::uint64_t number = ends.place(1002, 3 * slot);
  CHECK(LentSlots::offset_of(number) == LentSlots::offset_of(numbers[7]));
}

TEST_CASE("lent slots: what nobody claims is taken back at the second look, no earlier") {
  SlotEnds ends;
  LentSlots::Seen seen{};
  std::uint64_t old = ends.place(1, 2 * slot), kept = ends.place(2, slot);
  CHECK(ends.receiver.claim(kept, slot));
  ends.sender.withdraw_old(seen);
  std::uint64_t fresh = ends.place(3, slot);
  ends.sender.withdraw_old(seen);
  CHECK(!ends.receiver.claim(old, 2 * slot));
  CHECK(ends.receiver.claim(fresh, slot));
  CHECK(ends.sender.in_use() == 2);
}

TEST_CASE("lent slots: pages go back at the second look at slots that stay free") {
  SlotEnds ends;
  LentSlots::Seen seen{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;
  auto trim = [&] {
    dropped.clear();
    ends.receiver.trim(seen, [&](std::uint64_t offset, std::uint64_t length) {
      dropped.emplace_back(offset, length);
      CHECK(ends.sender.in_use() == 4); // the sender cannot have them meanwhile
    });
  };
  std::uint64_t gone = ends.place(1, 3 * slot), held = ends.place(2, slot);
  CHECK(ends.sender.withdraw(gone));
  trim();
  CHECK(dropped.empty());
  trim();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0] == std::pair(LentSlots::first_slot, 3 * slot));
  trim();
  CHECK(dropped.empty());
  CHECK(ends.receiver.claim(held, slot));
  CHECK(ends.place(3, 3 * slot) != gone);
}

TEST_CASE("lent slots: of a claim and a withdrawal at the same time one succeeds") {
  SlotEnds ends;
  constexpr std::uint64_t rounds = 20'000;
  std::atomic<std::uint64_t> current{0};
  std::uint64_t claims = 0, withdrawals = 0;
  bool is_right = true;
  std::thread receiver([&] {
    for (std::uint64_t last = 0; last < rounds;) {
      std::uint64_t number = current.load(std::memory_order_acquire);
      if (number / LentSlots::num_slots <= last)
        continue;
      last = number / LentSlots::num_slots;
      if (!ends.receiver.claim(number, sizeof number))
        continue;
      std::uint64_t value = 0;
      std::memcpy(&value, ends.base + LentSlots::offset_of(number), sizeof value);
      is_right = is_right && value == number;
      ++claims;
      ends.receiver.release(number);
    }
  });
  for (std::uint64_t serial = 1; serial <= rounds; ++serial) {
    auto number = ends.sender.take(serial, sizeof serial);
    REQUIRE(number);
    std::memcpy(ends.base + LentSlots::offset_of(*number), &*number, sizeof *number);
    ends.sender.publish(*number);
    current.store(*number, std::memory_order_release);
    if (serial % 2 == 0)
      std::this_thread::yield();
    withdrawals += ends.sender.withdraw(*number);
  }
  receiver.join();
  CHECK(is_right);
  CHECK(claims + withdrawals == rounds);
  CHECK(ends.sender.in_use() == 0);
}
