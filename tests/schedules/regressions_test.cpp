// What schedules once found, each with the shortest plan that showed it.
#include <doctest/doctest.h>

#include "core/base/log.hpp"
#include "tests/schedules/schedule.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// Runs the plan under several orders of events: a bug found by one seed may hide from it later.
void holds(std::string_view text, std::uint64_t first_seed, int seeds = 5) {
  LogLevel before = log_level();
  set_log_level(LogLevel::off);
  auto plan = FaultPlan::parse(text);
  REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(seeds);
       ++seed) {
    ScheduleOptions options;
    options.seed = seed;
    options.plan = *plan;
    ScheduleResult result = run_schedule(options);
    CHECK_MESSAGE(result.failure.empty(), "seed " << seed << ": " << result.failure << "\n"
                                                  << result.story);
  }
  set_log_level(before);
}

} // namespace

TEST_CASE("an extend while a graph is being built spoils no later build") {
  holds("", 10);
}

TEST_CASE("a graph is not registered with a task that is lost") {
  holds("on ps/0 graph-manager after ExecuteGraph 1 kill", 416);
}
