#include "api/grpc/foreign_steps.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace troupe;

namespace {
using Steps = ForeignSteps<std::string, int>;
using Answer = Steps::Answer;

Answer pull(Steps& steps, std::uint64_t step_id, int pull, std::int64_t now_us = 0) {
  return steps.pulls(step_id, pull, now_us);
}
} // namespace

TEST_CASE("foreign steps: who comes before the step is kept until it begins") {
  Steps steps;
  CHECK(pull(steps, 7, 1) == Answer::kept);
  CHECK(pull(steps, 7, 2) == Answer::kept);
  CHECK(pull(steps, 8, 3) == Answer::kept);
  CHECK(steps.num_early() == 3);
  CHECK(steps.begun(7, "a") == std::vector<int>{1, 2});
  CHECK(steps.num_early() == 1);
  CHECK(pull(steps, 7, 4) == Answer::hand_over);
  REQUIRE(steps.find(7));
  CHECK(*steps.find(7) == "a");
  CHECK(steps.begun(7, "a").empty()); // a partial run's next call
  CHECK(steps.num_running() == 1);
}

TEST_CASE("foreign steps: a step that has ended is refused, and who waited for it let go") {
  Steps steps;
  CHECK(pull(steps, 7, 1) == Answer::kept);
  CHECK(steps.ended(7) == std::vector<int>{1}); // it never began here
  CHECK(pull(steps, 7, 2) == Answer::refused);
  CHECK(steps.has_ended(7));
  CHECK_FALSE(steps.has_ended(8));
  steps.begun(8, "a");
  CHECK(steps.ended(8).empty());
  CHECK_FALSE(steps.find(8));
  CHECK(pull(steps, 8, 3) == Answer::refused);
  for (std::uint64_t step = 100; step < 100 + 1024; ++step)
    steps.ended(step);
  CHECK(pull(steps, 8, 4) == Answer::kept); // so long ago that nobody knows
}

TEST_CASE("foreign steps: the steps of a session end with it") {
  Steps steps;
  steps.begun(1, "a");
  steps.begun(2, "b");
  steps.sessions_ended([](const std::string& session) { return session == "a"; });
  CHECK_FALSE(steps.find(1));
  CHECK(pull(steps, 1, 1) == Answer::refused);
  CHECK(pull(steps, 2, 1) == Answer::hand_over);
}

TEST_CASE("foreign steps: nobody is kept for ever") {
  Steps steps;
  pull(steps, 7, 1, 10);
  pull(steps, 7, 2, 20);
  pull(steps, 8, 3, 5);
  CHECK(steps.give_up_before(15) == std::vector<std::pair<std::uint64_t, int>>{{7, 1}, {8, 3}});
  CHECK(steps.num_early() == 1);
  CHECK(steps.begun(7, "a") == std::vector<int>{2});
}
