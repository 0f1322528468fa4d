#include "actors/master_session/step_crew.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

struct Actor {
  std::uint64_t number = 0;
  std::uint64_t id() const { return number; }
};

struct Step {
  Actor actor;
  int runs = 0;
  void clear() { *this = {}; }
};

} // namespace

TEST_CASE("step crew: an actor rests between two steps") {
  StepCrew<Step> crew;
  CHECK_FALSE(crew.take_resting());
  crew.start(1, Actor{7}).runs = 1;
  REQUIRE(crew.find(1));
  CHECK(crew.size() == 1);
  CHECK_FALSE(crew.finish(1, true));
  CHECK(crew.empty());
  CHECK_FALSE(crew.find(1));
  REQUIRE(crew.resting().size() == 1);
  auto again = crew.take_resting();
  REQUIRE(again);
  CHECK(again->number == 7);
  CHECK(crew.start(2, *again).runs == 0); // nothing is left of the step before
  CHECK_FALSE(crew.finish(2, false));     // it has ended by itself
  CHECK(crew.resting().empty());
  CHECK_FALSE(crew.finish(2, true)); // twice
}

TEST_CASE("step crew: no more actors rest than are of use") {
  StepCrew<Step> crew;
  const std::uint64_t most = StepCrew<Step>::max_resting;
  for (std::uint64_t i = 1; i <= most + 1; ++i)
    crew.start(i, Actor{100 + i});
  for (std::uint64_t i = 1; i <= most; ++i)
    CHECK_FALSE(crew.finish(i, true));
  auto surplus = crew.finish(most + 1, true);
  REQUIRE(surplus);
  CHECK(surplus->number == 100 + most + 1);
  CHECK(crew.resting().size() == most);
}

TEST_CASE("step crew: the end of an actor tells which step is lost") {
  StepCrew<Step> crew;
  crew.start(1, Actor{7});
  crew.start(2, Actor{8});
  crew.finish(2, true);
  CHECK(crew.actor_ended(9) == 0);
  CHECK(crew.actor_ended(8) == 0); // it rested, and does not any more
  CHECK_FALSE(crew.take_resting());
  CHECK(crew.actor_ended(7) == 1);
  crew.finish(1, false);
  CHECK(crew.actor_ended(7) == 0);
}
