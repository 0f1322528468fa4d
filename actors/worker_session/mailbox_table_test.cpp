#include "actors/worker_session/mailbox_table.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

struct Fixture {
  MailboxTable<int> boxes;
  int left = 0; ///< the last rendezvous that a step has left
  bool rested = false;

  bool close(std::uint64_t step) {
    return boxes.close(step,
                       [&](int rendezvous, bool rests) { left = rendezvous, rested = rests; });
  }
  bool lose(int rendezvous) {
    auto* entry = boxes.rendezvous_ended([=](int other) { return other == rendezvous; });
    if (entry)
      entry->second.lost = aborted("it was killed");
    return entry != nullptr;
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "mailboxes: a step's rendezvous rests for the next step") {
  boxes.open(7, 1, 0);
  boxes.open(8, 2, 0);
  CHECK(boxes.find(7)->rendezvous == 1);
  CHECK(!boxes.has_resting());
  CHECK(!close(7));
  CHECK(left == 1);
  CHECK(rested);
  CHECK(boxes.find(7) == nullptr);
  REQUIRE(boxes.has_resting());
  CHECK(boxes.take_resting() == 1);
  CHECK(!boxes.has_resting());
  CHECK(close(8)); // the last one
}

TEST_CASE_FIXTURE(Fixture, "mailboxes: sixteen rest, more end") {
  for (int i = 1; i <= 17; ++i)
    boxes.open(static_cast<std::uint64_t>(i), i, 0);
  for (int i = 1; i <= 16; ++i) {
    CHECK(!close(static_cast<std::uint64_t>(i)));
    CHECK(rested);
  }
  CHECK(close(17));
  CHECK(!rested);
  CHECK(boxes.resting().size() == 16);
}

TEST_CASE_FIXTURE(Fixture, "mailboxes: a step that has ended is known, until 256 more have") {
  CHECK(!boxes.has_ended(1));
  CHECK(!close(1)); // it had no mailbox
  CHECK(left == 0);
  CHECK(boxes.has_ended(1));
  for (std::uint64_t step = 2; step <= 256; ++step)
    close(step);
  CHECK(boxes.has_ended(1));
  close(257);
  CHECK(!boxes.has_ended(1));
}

TEST_CASE_FIXTURE(Fixture, "mailboxes: a step that runs again under its number has not ended") {
  close(1);
  boxes.open(1, 5, 0);
  CHECK(!boxes.has_ended(1));
}

TEST_CASE_FIXTURE(Fixture, "mailboxes: a lost rendezvous fails its step and does not rest") {
  boxes.open(7, 1, 0);
  boxes.open(8, 2, 0);
  close(8);
  CHECK(!lose(2)); // it rested
  CHECK(!boxes.has_resting());
  CHECK(lose(1));
  CHECK(!boxes.find(7)->lost.ok());
  CHECK(close(7));
  CHECK(!rested);
  CHECK(boxes.open(7, 3, 0).lost.ok()); // another step's is as good as new
}

TEST_CASE_FIXTURE(Fixture, "mailboxes: what no RunGraph came for is an orphan after its time") {
  boxes.open(1, 1, 100);
  boxes.open(2, 2, 100).started = true;
  boxes.open(3, 3, 100);
  boxes.open(4, 4, 200);
  auto orphans = boxes.orphans(200, [](std::uint64_t step) { return step == 3; });
  CHECK(orphans == std::vector<std::uint64_t>{1});
}
