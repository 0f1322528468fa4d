#include "actors/master_session/task_health.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

constexpr auto ps = "/job:ps/replica:0/task:0";
constexpr auto worker = "/job:worker/replica:0/task:0";

TaskHealth of_two() {
  TaskHealth out;
  out.use(ps);
  out.use(worker);
  return out;
}

} // namespace

TEST_CASE("task health: a task is well until it is lost, and then lost with the first reason") {
  TaskHealth health = of_two();
  CHECK(health.is_well(ps));
  CHECK(health.loss(ps) == nullptr);
  CHECK(health.lose(ps, unavailable("its process has ended")));
  CHECK_FALSE(health.lose(ps, aborted("it started again")));
  REQUIRE(health.loss(ps));
  CHECK(health.loss(ps)->code() == Code::unavailable);
  CHECK(health.loss(ps)->message() == "its process has ended");
  CHECK(health.loss(ps)->origin().device == ps);
  CHECK(health.is_well(worker));
}

TEST_CASE("task health: a task that the session does not use is nobody's loss") {
  TaskHealth health = of_two();
  CHECK_FALSE(health.lose("/job:other/replica:0/task:0", unavailable("gone")));
  CHECK(health.loss("/job:other/replica:0/task:0") == nullptr);
  CHECK(health.to_ask(0, 0).empty());
}

TEST_CASE("task health: a lost task is asked for once at a time, and again when nobody answers") {
  TaskHealth health = of_two();
  CHECK(health.to_ask(0, 0).empty());
  health.lose(worker, unavailable("cut off"));
  CHECK(health.to_ask(0, 0) == std::vector<std::string>{worker});
  CHECK(health.to_ask(0, 0).empty());
  health.unreachable(worker);
  CHECK(health.to_ask(0, 0) == std::vector<std::string>{worker});
}

TEST_CASE("task health: one that is back is lost for good, with ABORTED and both reasons") {
  TaskHealth health = of_two();
  health.lose(ps, unavailable("cut off"));
  (void)health.to_ask(0, 0);
  health.returned(ps);
  REQUIRE(health.loss(ps));
  CHECK(health.loss(ps)->code() == Code::aborted);
  CHECK(health.loss(ps)->message() ==
        "task /job:ps/replica:0/task:0 is back after it was lost (cut off); what it held of this "
        "session is gone: make a new session");
  CHECK(health.loss(ps)->origin().device == ps);
  CHECK(health.to_ask(0, 0).empty());
  CHECK_FALSE(health.lose(ps, unavailable("again")));
}

TEST_CASE("task health: answers that nobody waits for change nothing") {
  TaskHealth health = of_two();
  health.returned(ps);
  health.unreachable(ps);
  CHECK(health.is_well(ps));
  health.lose(ps, unavailable("cut off"));
  health.returned(ps); // before anybody asked: of an earlier life
  CHECK(health.loss(ps)->code() == Code::unavailable);
  (void)health.to_ask(0, 0);
  health.returned(ps);
  health.unreachable(ps); // late
  CHECK(health.loss(ps)->code() == Code::aborted);
  CHECK(health.to_ask(0, 0).empty());
}

// Whatever is lost, doubled or late: a task never gets well, is asked for by one at a time, and its
// verdict goes from its first loss to ABORTED at most.
TEST_CASE("task health: random events in any order, lost and doubled, keep the rules") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    TaskHealth health = of_two();
    bool was_lost = false, was_back = false;
    int asking = 0;
    for (int i = 0; i < 200; ++i) {
      switch (random() % 4) {
      case 0:
        was_lost = health.lose(ps, unavailable("gone")) || was_lost;
        break;
      case 1:
        for (const std::string& task : health.to_ask(0, 0)) {
          CHECK(task == ps);
          CHECK(++asking == 1);
        }
        break;
      case 2:
        health.unreachable(ps);
        asking = was_back ? asking : 0;
        break;
      case 3:
        if (asking == 1)
          was_back = true;
        health.returned(ps);
        break;
      }
      CHECK(health.is_well(ps) == !was_lost);
      CHECK(health.is_well(worker));
      if (was_lost)
        CHECK(health.loss(ps)->code() == (was_back ? Code::aborted : Code::unavailable));
    }
  }
}

TEST_CASE("task health: lost tasks are not asked for again within the pause") {
  TaskHealth health;
  health.use("a");
  CHECK(health.lose("a", unavailable("gone")));
  CHECK(health.to_ask(100, 10).size() == 1);
  health.unreachable("a");
  CHECK(health.to_ask(109, 10).empty());
  CHECK(health.to_ask(110, 10).size() == 1);
}
