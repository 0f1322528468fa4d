#include "actors/transport/path_plan.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

using Do = PathPlan::Do;
using State = PathPlan::State;
using Fetches = std::vector<std::uint64_t>;

constexpr std::uint64_t window = 100;

} // namespace

TEST_CASE("path plan: the first fetch asks, the best path is opened, and then used in order") {
  PathPlan plan(window);
  CHECK(plan.fetch(1, 10).what == Do::ask);
  CHECK(plan.fetch(2, 10).what == Do::nothing);
  CHECK_FALSE(plan.next_turn());
  CHECK(plan.offered({TensorPath::shared_memory, TensorPath::messages}).what == Do::open);
  CHECK(plan.path() == TensorPath::shared_memory);
  CHECK_FALSE(plan.next_turn());
  CHECK(plan.opened().what == Do::use);
  CHECK(plan.next_turn() == 1);
  CHECK(plan.next_turn() == 2);
  CHECK_FALSE(plan.next_turn());
  CHECK(plan.fetch(3, 10).what == Do::use);
  CHECK(plan.remark().empty());
}

TEST_CASE("path plan: a path that cannot be opened gives way to the next, which says why") {
  PathPlan plan(window);
  (void)plan.fetch(1, 10);
  (void)plan.offered({TensorPath::shared_memory, TensorPath::stream, TensorPath::messages});
  CHECK(plan.refused(unavailable("no room")).what == Do::open);
  CHECK(plan.path() == TensorPath::stream);
  CHECK(plan.refused(unavailable("no port")).what == Do::use); // messages need no opening
  CHECK(plan.path() == TensorPath::messages);
  CHECK(plan.remark() == "no stream: no port");
  CHECK(plan.next_turn() == 1);
}

TEST_CASE("path plan: without a path left those that wait fail, and the next fetch asks again") {
  PathPlan plan(window);
  (void)plan.fetch(1, 10);
  (void)plan.fetch(2, 10);
  (void)plan.offered({TensorPath::stream});
  auto none = plan.refused(unavailable("no port"));
  CHECK(none.what == Do::fail);
  CHECK(none.failed == Fetches{1, 2});
  CHECK(plan.state() == State::unknown);
  CHECK(plan.fetch(3, 10).what == Do::ask);
  auto silent = plan.unanswered();
  CHECK(silent.what == Do::fail);
  CHECK(silent.failed == Fetches{3});
}

TEST_CASE(
    "path plan: when a path breaks, those that wait fail and those under way end themselves") {
  PathPlan plan(window);
  (void)plan.fetch(1, 80);
  (void)plan.fetch(2, 80);
  (void)plan.offered({TensorPath::stream});
  (void)plan.opened();
  CHECK(plan.next_turn() == 1);
  CHECK_FALSE(plan.next_turn());
  auto broken = plan.broke();
  CHECK(broken.what == Do::fail);
  CHECK(broken.failed == Fetches{2});
  CHECK(plan.fetch(3, 80).what == Do::ask);
  (void)plan.offered({TensorPath::messages});
  CHECK_FALSE(plan.next_turn()); // the first one still holds its bytes
  CHECK(plan.ended(1));
  CHECK(plan.next_turn() == 3);
}

TEST_CASE("path plan: the window holds back all but one that is larger by itself") {
  PathPlan plan(window);
  for (std::uint64_t i = 1; i <= 3; ++i)
    (void)plan.fetch(i, 60);
  (void)plan.fetch(4, 1000);
  (void)plan.offered({TensorPath::messages});
  CHECK(plan.next_turn() == 1);
  CHECK_FALSE(plan.next_turn());
  CHECK(plan.ended(1));
  CHECK_FALSE(plan.ended(1)); // twice
  CHECK(plan.next_turn() == 2);
  CHECK_FALSE(plan.ended(3)); // it was waiting
  CHECK(plan.ended(2));
  CHECK(plan.next_turn() == 4);
  CHECK(plan.lose() == Fetches{4});
  CHECK(plan.state() == State::unknown);
}

TEST_CASE("path plan: events that nobody waits for change nothing") {
  PathPlan plan(window);
  CHECK(plan.opened().what == Do::nothing);
  CHECK(plan.refused(unavailable("late")).what == Do::nothing);
  CHECK(plan.broke().what == Do::nothing);
  CHECK(plan.unanswered().what == Do::nothing);
  CHECK(plan.offered({TensorPath::messages}).what == Do::nothing);
  (void)plan.fetch(1, 10);
  CHECK(plan.opened().what == Do::nothing);
  (void)plan.offered({TensorPath::shared_memory, TensorPath::messages});
  CHECK(plan.offered({TensorPath::stream}).what == Do::nothing);
  CHECK(plan.unanswered().what == Do::nothing);
  CHECK(plan.broke().what == Do::nothing);
  CHECK(plan.path() == TensorPath::shared_memory);
  (void)plan.opened();
  CHECK(plan.opened().what == Do::nothing);
  CHECK(plan.refused(unavailable("late")).what == Do::nothing);
  CHECK(plan.state() == State::ready);
}

// Events lost, doubled and in any order: every fetch is given its turn or fails, once; what is
// under way fits into the window; and nothing waits without somebody who asks or opens.
TEST_CASE("path plan: random events keep the rules") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    PathPlan plan(window);
    std::set<std::uint64_t> waiting, running;
    std::map<std::uint64_t, std::uint64_t> bytes;
    std::uint64_t last = 0;
    auto fail = [&](const PathPlan::Effect& effect) {
      CHECK((effect.what == Do::fail || effect.failed.empty()));
      for (std::uint64_t number : effect.failed)
        CHECK(waiting.erase(number) == 1);
      if (effect.what == Do::fail)
        CHECK(waiting.empty());
    };
    for (int i = 0; i < 300; ++i) {
      switch (random() % 8) {
      case 0:
      case 1: {
        bytes[++last] = random() % 60;
        waiting.insert(last);
        const bool asks = plan.state() == State::unknown;
        CHECK((plan.fetch(last, bytes[last]).what == Do::ask) == asks);
        break;
      }
      case 2:
        fail(plan.offered({TensorPath::shared_memory, TensorPath::stream}));
        break;
      case 3:
        fail(plan.opened());
        break;
      case 4:
        fail(plan.refused(unavailable("refused")));
        break;
      case 5:
        fail(random() % 2 ? plan.broke() : plan.unanswered());
        break;
      case 6:
        while (auto number = plan.next_turn()) {
          CHECK(waiting.erase(*number) == 1);
          CHECK(running.insert(*number).second);
        }
        break;
      case 7: // an end, perhaps of one that has ended before
        if (last > 0) {
          const std::uint64_t number = 1 + random() % last;
          if (waiting.contains(number))
            break;
          CHECK(plan.ended(number) == (running.erase(number) == 1));
        }
        break;
      }
      std::uint64_t under_way = 0;
      for (std::uint64_t number : running)
        under_way += bytes[number];
      CHECK((under_way <= window || running.size() == 1));
      CHECK((waiting.empty() || plan.state() != State::unknown));
    }
    Fetches all = plan.lose();
    std::ranges::sort(all);
    Fetches expected;
    std::ranges::set_union(waiting, running, std::back_inserter(expected));
    CHECK(all == expected);
  }
}
