// Values that a receiver reads where its sender has them.
#include <algorithm>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "net/data/lent_memory.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t sender = 3, receiver = 7; // nodes
const std::string task = "/job:worker/replica:0/task:0";
constexpr std::int64_t elements = 40'000;
constexpr std::uint64_t bytes = elements * sizeof(float);

/// A sender and a receiver in one process, each with its own mappings.
struct Ends {
  std::shared_ptr<SharedRegion> region;
  std::shared_ptr<LentMemory> there = std::make_shared<LentMemory>();
  std::shared_ptr<BorrowedSlots> slots;
  LentMemory here;

  explicit Ends(bool sees = true) { connect(sees); }
  /// As after the last connection has ended.
  void connect(bool sees = true) {
    region = *SharedRegion::make(2 * LentSlots::bytes, true);
    auto foreign = ForeignRegion::adopt(::dup(region->fd()), region->bytes(), region->lent_bytes());
    REQUIRE_MESSAGE(foreign.ok(), foreign.status().to_string());
    slots = std::make_shared<BorrowedSlots>(*std::move(foreign), std::make_shared<PathRecord>());
    there->borrow(receiver, task, slots);
    here.lend(sender, region, std::make_shared<PathRecord>());
    REQUIRE(there->shown());
    if (sees)
      REQUIRE(region->see(there->shown()->read_only_fd(), there->shown()->bytes()).ok());
  }
  Tensor value(std::int64_t count = elements) {
    BufferRef memory = there->allocate_shown(static_cast<std::size_t>(count) * sizeof(float));
    REQUIRE(memory);
    Tensor out(DType::float32, Shape{count}, std::move(memory));
    auto values = out.mutable_data<float>();
    std::iota(values.begin(), values.end(), 1.0f);
    return out;
  }
  BufferRef claim(const std::optional<PlacedValue>& placed) {
    REQUIRE(placed);
    auto claimed = here.claim(sender, *placed, bytes, nullptr);
    REQUIRE_MESSAGE(claimed.ok(), claimed.status().to_string());
    return *claimed;
  }
};

} // namespace

TEST_CASE("shown memory: a value is read where it lies, and held until its reader is done") {
  Ends ends;
  for (int i = 0; i < 300; ++i) { // more than there are slots
    Tensor value = ends.value();
    auto placed = ends.there->place(receiver, value);
    BufferRef read = ends.claim(placed);
    REQUIRE(placed->shown_at);
    CHECK(read->data() != value.raw());
    CHECK(static_cast<const float*>(read->data())[elements - 1] == static_cast<float>(elements));
    // Its owner's changes are seen, so it must not make any now.
    value.mutable_data<float>()[0] = -5.0f;
    CHECK(static_cast<const float*>(read->data())[0] == -5.0f);
    ends.there->collect();
    CHECK_FALSE(value.is_unique());
    CHECK_FALSE(read->is_unique()); // no kernel writes its result there
    read = BufferRef{};
    CHECK_FALSE(value.is_unique());
    ends.there->collect();
    CHECK(value.is_unique());
  }
  CHECK(ends.there->num_shown() == 300);
  CHECK(ends.there->slots_in_use() == 0);
}

TEST_CASE("shown memory: a value that is withdrawn before it is claimed is not held") {
  Ends ends;
  Tensor value = ends.value();
  auto placed = ends.there->place(receiver, value);
  REQUIRE(placed);
  CHECK(ends.there->withdraw(placed->number));
  ends.there->collect();
  CHECK(value.is_unique());
  CHECK(ends.here.claim(sender, *placed, bytes, nullptr).status().code() == Code::aborted);
}

TEST_CASE("shown memory: what does not see it is sent a copy") {
  Ends ends(false);
  CHECK_FALSE(ends.there->shows_to(task, bytes));
  auto placed = ends.there->place(receiver, ends.value());
  BufferRef read = ends.claim(placed);
  CHECK_FALSE(placed->shown_at);
  CHECK(static_cast<const float*>(read->data())[elements - 1] == static_cast<float>(elements));
  CHECK(ends.there->num_shown() == 0);
}

TEST_CASE(
    "shown memory: a reader that keeps values is shown as much as it lends, then sent copies") {
  Ends ends;
  constexpr std::int64_t large = LentSlots::max_value / sizeof(float);
  std::vector<BufferRef> kept;
  for (int i = 0; i < 6; ++i) {
    auto placed = ends.there->place(receiver, ends.value(large));
    REQUIRE(placed);
    CHECK(placed->shown_at.has_value() == (i < 4));
    auto claimed = ends.here.claim(sender, *placed, LentSlots::max_value, nullptr);
    REQUIRE_MESSAGE(claimed.ok(), claimed.status().to_string());
    kept.push_back(*claimed);
  }
  CHECK(ends.there->num_shown() == 4);
  kept.clear();
  CHECK(ends.there->place(receiver, ends.value(large))->shown_at);
}

TEST_CASE("shown memory: what is larger than what is lent in one piece is not shown") {
  Ends ends;
  CHECK(ends.there->shows_to(task, LentSlots::max_value));
  CHECK_FALSE(ends.there->shows_to(task, LentSlots::max_value + 1));
  CHECK_FALSE(ends.there->shows_to("/job:worker/replica:0/task:1", bytes));
}

TEST_CASE("shown memory: a part that is not aligned is sent as a copy") {
  Ends ends;
  Tensor value = ends.value().reshaped(Shape{elements / 2, 2});
  auto aligned = ends.there->place(receiver, value.rows(8, 16));
  REQUIRE(aligned);
  CHECK(aligned->shown_at);
  auto placed = ends.there->place(receiver, value.rows(1, 9));
  REQUIRE(placed);
  CHECK_FALSE(placed->shown_at);
  auto read = ends.here.claim(sender, *placed, 16 * sizeof(float), nullptr);
  REQUIRE_MESSAGE(read.ok(), read.status().to_string());
  CHECK(static_cast<const float*>((*read)->data())[0] == 3.0f);
}

TEST_CASE("shown memory: what is outside of it, or was not shown, cannot be claimed") {
  Ends ends;
  Tensor value = ends.value();
  auto placed = ends.there->place(receiver, value);
  REQUIRE(placed);
  const std::uint64_t end = ends.there->shown()->bytes();
  for (std::uint64_t offset :
       {*placed->shown_at + 4, end, end - bytes + 1, ~std::uint64_t{0}, end + bytes}) {
    PlacedValue wrong = *placed;
    wrong.shown_at = offset;
    CHECK(ends.here.claim(sender, wrong, bytes, nullptr).status().code() == Code::aborted);
  }
  PlacedValue wrong = *placed;
  wrong.number += LentSlots::num_slots;
  CHECK(ends.here.claim(sender, wrong, bytes, nullptr).status().code() == Code::aborted);
  CHECK(ends.claim(placed)); // none of that has spoiled it
}

TEST_CASE("shown memory: a reader whose connection has ended keeps its value") {
  Ends ends;
  Tensor value = ends.value();
  auto placed = ends.there->place(receiver, value);
  BufferRef read = ends.claim(placed);
  ends.there->give_up(receiver, task, ends.slots);
  ends.slots.reset();
  for (int i = 0; i < 3; ++i)
    ends.there->tidy_shown();
  CHECK_FALSE(value.is_unique());
  SUBCASE("until it is done") {
    read = BufferRef{};
    ends.there->collect();
    CHECK(value.is_unique());
  }
  SUBCASE("and what else lies there does not come in its place") {
    value = Tensor{}; // an update put its result elsewhere
    Tensor other = ends.value();
    std::ranges::fill(other.mutable_data<float>(), 77.0f);
    CHECK(static_cast<const float*>(read->data())[0] == 1.0f);
  }
}

TEST_CASE("shown memory: what a process that died was reading is free again") {
  Ends ends;
  Tensor value = ends.value();
  auto placed = ends.there->place(receiver, value);
  REQUIRE(placed);
  REQUIRE(LentSlots(ends.region->base()).claim(placed->number, 1)); // and never released
  ends.there->give_up(receiver, task, ends.slots);
  ends.slots.reset();
  ends.there->tidy_shown();
  CHECK_FALSE(value.is_unique());
  ends.region.reset(); // its lock goes with it, as with its process
  ends.there->tidy_shown();
  CHECK(value.is_unique());
}

TEST_CASE("shown memory: what was not claimed when the connection ended cannot be claimed later") {
  Ends ends;
  Tensor value = ends.value();
  auto placed = ends.there->place(receiver, value);
  REQUIRE(placed);
  ends.there->give_up(receiver, task, ends.slots);
  CHECK(value.is_unique()); // the owner may write
  CHECK(ends.here.claim(sender, *placed, bytes, nullptr).status().code() == Code::aborted);
}

TEST_CASE("shown memory: nothing is shown on a connection that has ended meanwhile") {
  Ends ends;
  Tensor value = ends.value();
  ends.there->give_up(receiver, task, ends.slots);
  CHECK_FALSE(ends.slots->show(value, 77)); // by a thread that had found the slots before
  CHECK(value.is_unique());
}

TEST_CASE("shown memory: peers that keep what they were shown do not make us hold ever more") {
  Ends ends;
  std::vector<Tensor> values;
  std::vector<BufferRef> kept;
  bool is_shown = true;
  while (is_shown && kept.size() < 100) {
    values.push_back(ends.value());
    auto placed = ends.there->place(receiver, values.back());
    kept.push_back(ends.claim(placed));
    is_shown = placed->shown_at.has_value();
    ends.there->give_up(receiver, task, ends.slots);
    ends.connect();
  }
  CHECK(kept.size() == 9);
  kept.clear();
  ends.there->tidy_shown();
  CHECK(ends.there->place(receiver, values.back())->shown_at);
}

TEST_CASE("shown memory: values are read wherever in their sender's memory they lie") {
  Ends ends;
  const std::uint64_t before = ends.region->mapped();
  constexpr std::int64_t count = 1'000'000;
  std::vector<Tensor> values;
  for (int i = 0; i < 60; ++i) { // 240 MB, of which few pages are touched
    BufferRef memory = ends.there->allocate_shown(count * sizeof(float));
    REQUIRE(memory);
    Tensor value(DType::float32, Shape{count}, std::move(memory));
    value.mutable_data<float>()[0] = static_cast<float>(i);
    value.mutable_data<float>()[count - 1] = static_cast<float>(-i);
    auto placed = ends.there->place(receiver, value);
    REQUIRE((placed && placed->shown_at));
    auto read = ends.here.claim(sender, *placed, count * sizeof(float), nullptr);
    REQUIRE_MESSAGE(read.ok(), read.status().to_string());
    CHECK(static_cast<const float*>((*read)->data())[0] == static_cast<float>(i));
    CHECK(static_cast<const float*>((*read)->data())[count - 1] == static_cast<float>(-i));
    values.push_back(std::move(value));
  }
  CHECK(ends.region->mapped() - before >= values.size() * count * sizeof(float));
  CHECK(ends.region->mapped() - before <= std::uint64_t{512} << 20);
}

TEST_CASE("shown memory: a peer's memory that could be written, or taken away, is not looked at") {
  auto region = *SharedRegion::make(2 * LentSlots::bytes, true);
  auto own = *SharedRegion::make(1 << 20);
  CHECK(region->see(::dup(own->fd()), own->bytes()).code() == Code::failed_precondition);
  CHECK(region->see(own->read_only_fd(), own->bytes() + 4096).code() == Code::failed_precondition);
  CHECK(region->see(::open("/dev/zero", O_RDONLY | O_CLOEXEC), 1 << 20).code() ==
        Code::failed_precondition);
  CHECK(region->see(::memfd_create("unsealed", MFD_CLOEXEC), 0).code() ==
        Code::failed_precondition);
  CHECK(region->see(-1, 1 << 20).code() == Code::failed_precondition);
  auto huge = SharedRegion::make(4 * SharedRegion::default_bytes());
  REQUIRE_MESSAGE(huge.ok(), huge.status().to_string());
  CHECK(region->see((*huge)->read_only_fd(), (*huge)->bytes()).code() == Code::failed_precondition);
  CHECK_FALSE(LentSlots(region->base()).sees_sender());
  CHECK(region->see(own->read_only_fd(), own->bytes()).ok());
  CHECK(LentSlots(region->base()).sees_sender());
}

} // namespace troupe
