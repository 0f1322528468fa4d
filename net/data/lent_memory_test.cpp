#include "net/data/lent_memory.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <numeric>
#include <unistd.h>
#include <utility>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint64_t sender = 3, receiver = 7; // nodes
const std::string task = "/job:ps/replica:0/task:0";
constexpr std::int64_t elements = 40'000; // three slots

/// A sender and a receiver in one process, each with its own mapping.
struct Ends {
  std::shared_ptr<SharedRegion> region = *SharedRegion::make(2 * LentSlots::bytes, true);
  std::shared_ptr<BorrowedSlots> slots = borrowed();
  LentMemory there, here;

  Ends() {
    there.borrow(receiver, task, slots);
    here.lend(sender, region, std::make_shared<PathRecord>());
  }
  std::shared_ptr<BorrowedSlots> borrowed() const {
    auto foreign = ForeignRegion::adopt(::dup(region->fd()), region->bytes(), region->lent_bytes());
    REQUIRE_MESSAGE(foreign.ok(), foreign.status().to_string());
    return std::make_shared<BorrowedSlots>(*std::move(foreign), std::make_shared<PathRecord>());
  }
  /// A value computed where `task` will look for it.
  Tensor computed() {
    BufferRef memory = there.reserve(task, elements * sizeof(float));
    REQUIRE(memory);
    Tensor out(DType::float32, Shape{elements}, std::move(memory));
    auto values = out.mutable_data<float>();
    std::iota(values.begin(), values.end(), 1.0f);
    return out;
  }
  bool arrives(const std::optional<PlacedValue>& placed) {
    REQUIRE(placed);
    auto claimed = here.claim(sender, *placed, elements * sizeof(float), nullptr);
    REQUIRE_MESSAGE(claimed.ok(), claimed.status().to_string());
    const auto* values = static_cast<const float*>((*claimed)->data());
    for (std::int64_t i = 0; i < elements; ++i)
      if (values[i] != static_cast<float>(i + 1))
        return false;
    return true;
  }
};

} // namespace

TEST_CASE("lent memory: what was computed there is given away, not copied") {
  Ends ends;
  for (std::uint64_t i = 1; i <= 200; ++i) { // more than fit at once
    auto placed = ends.there.place(receiver, ends.computed());
    CHECK(ends.arrives(placed));
    CHECK(ends.there.num_given() == i);
    CHECK(ends.there.slots_in_use() == 0);
  }
}

TEST_CASE("lent memory: what is not sent after all gives its slots back") {
  Ends ends;
  {
    Tensor unsent = ends.computed(), copy = unsent;
    CHECK(ends.there.slots_in_use() == 3);
  }
  CHECK(ends.there.slots_in_use() == 0);
}

TEST_CASE("lent memory: what somebody else holds too is copied, and stays theirs") {
  Ends ends;
  Tensor kept = ends.computed();
  auto placed = ends.there.place(receiver, kept.reshaped(Shape{elements / 2, 2}));
  CHECK(ends.there.num_placed() == 1);
  CHECK(ends.there.num_given() == 0);
  CHECK(ends.arrives(placed));
  CHECK(kept.data<float>()[elements - 1] == static_cast<float>(elements));
  CHECK(ends.there.slots_in_use() == 3);
}

TEST_CASE("lent memory: of what was computed there a part may be sent") {
  Ends ends;
  constexpr std::int64_t row = LentSlots::slot_bytes / sizeof(float);
  auto rows = [&](std::int64_t begin, std::int64_t end) { // that alone hold their buffer
    Tensor whole(DType::float32, Shape{4, row},
                 ends.there.reserve(task, 4 * LentSlots::slot_bytes));
    std::ranges::fill(whole.mutable_data<float>(), 7.0f);
    return whole.rows(begin, end);
  };
  for (auto [begin, given] : {std::pair{0, 1}, {2, 1}}) { // from its beginning, and from a slot's
    auto placed = ends.there.place(receiver, rows(begin, begin + 1));
    REQUIRE(placed);
    CHECK(ends.there.num_given() == static_cast<std::uint64_t>(given));
    auto claimed = ends.here.claim(sender, *placed, LentSlots::slot_bytes, nullptr);
    REQUIRE_MESSAGE(claimed.ok(), claimed.status().to_string());
    CHECK(static_cast<const float*>((*claimed)->data())[row - 1] == 7.0f);
    *claimed = BufferRef{};
    CHECK(ends.there.slots_in_use() == 0);
  }
}

TEST_CASE("lent memory: what was computed for a connection that has ended is copied to the next") {
  Ends ends;
  Tensor value = ends.computed();
  ends.there.give_up(receiver, task, ends.slots);
  CHECK(!ends.there.reserve(task, elements));
  CHECK(!ends.there.place(receiver, value));
  auto region = *SharedRegion::make(2 * LentSlots::bytes, true);
  std::swap(region, ends.region);
  ends.slots = ends.borrowed();
  ends.there.borrow(receiver, task, ends.slots);
  ends.here.lend(sender, ends.region, std::make_shared<PathRecord>());
  region.reset(); // the value's memory is mapped as long as the value lives
  auto placed = ends.there.place(receiver, std::move(value));
  CHECK(ends.arrives(placed));
  CHECK(ends.there.num_given() == 0);
}

TEST_CASE("lent memory: no more is reserved than is lent, and nothing for a stranger") {
  Ends ends;
  CHECK(!ends.there.reserve("/job:ps/replica:0/task:1", 1000));
  CHECK(!ends.there.reserve(task, 0));
  CHECK(!ends.there.reserve(task, LentSlots::max_value + 1));
  std::vector<BufferRef> all;
  while (BufferRef memory = ends.there.reserve(task, LentSlots::max_value))
    all.push_back(std::move(memory));
  CHECK(all.size() == 4);
}

TEST_CASE("lent memory: a peer that spoils its words cannot have memory of ours written twice") {
  Ends ends;
  Tensor mine = ends.computed();
  std::memset(const_cast<std::byte*>(static_cast<const std::byte*>(mine.raw())) -
                  LentSlots::first_slot,
              0, LentSlots::first_slot); // all free again, it says
  Tensor other = ends.computed();
  CHECK(ends.there.place(receiver, std::move(other)));
  CHECK(ends.there.place(receiver, std::move(mine))); // its bytes are the peer's loss
  CHECK(ends.there.num_given() == 1);
}

} // namespace troupe
