#include "actors/graph_manager/part_outcome.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("part outcome: over when every device has ended") {
  PartOutcome outcome(2);
  auto first = outcome.device_ended({});
  CHECK_FALSE(first.is_over);
  CHECK_FALSE(first.cancels_rest);
  CHECK_FALSE(outcome.is_over());
  auto last = outcome.device_ended({});
  CHECK(last.is_over);
  CHECK(outcome.is_over());
  CHECK(outcome.status().ok());
}

TEST_CASE("part outcome: nothing to run is over at once") {
  CHECK(PartOutcome(0).is_over());
  CHECK(PartOutcome(0).status().ok());
}

TEST_CASE("part outcome: the first error cancels the rest, once") {
  PartOutcome outcome(3);
  CHECK(outcome.device_ended(not_found("first")).cancels_rest);
  CHECK_FALSE(outcome.device_ended(internal("second")).cancels_rest);
  CHECK(outcome.device_ended({}).is_over);
  CHECK(outcome.status().message() == "first");
}

TEST_CASE("part outcome: a derived error stands in until a root cause comes") {
  PartOutcome outcome(4);
  CHECK(outcome.device_ended(cancelled("by another").as_derived()).cancels_rest);
  outcome.device_ended(aborted("also derived").as_derived());
  CHECK(outcome.status().message() == "by another");
  CHECK_FALSE(outcome.device_ended(not_found("the cause")).cancels_rest);
  CHECK(outcome.status().message() == "the cause");
  CHECK(outcome.device_ended(internal("later")).is_over);
  CHECK(outcome.status().message() == "the cause");
}
