#include <doctest/doctest.h>

#include <map>
#include <set>

#include "core/base/log.hpp"
#include "tests/schedules/schedule.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

FaultPlan plan_of(std::string_view text) {
  auto plan = FaultPlan::parse(text);
  REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
  return *std::move(plan);
}

struct Quiet {
  LogLevel before = log_level();
  Quiet() { set_log_level(LogLevel::off); }
  ~Quiet() { set_log_level(before); }
};

} // namespace

TEST_CASE("fault plan: text goes in and the same text comes out") {
  constexpr auto text =
      "at 30 cut ps/0 worker/1 2000; on worker/1 executor after ExecutePart 2 kill; "
      "on client session answer RunStep 1 crash ps/0 500; at 0 freeze client 20; "
      "on ps/0 worker before any 7 hold worker/0 client 1; "
      "at 5 slow ps/0 worker/0 900";
  CHECK(plan_of(text).to_text() == text);
  CHECK(plan_of("").faults.empty());
  for (std::uint64_t seed = 0; seed < FaultPlan::num_systematic() + 200; ++seed) {
    FaultPlan plan = FaultPlan::generate(seed);
    CHECK(!plan.faults.empty());
    CHECK(plan_of(plan.to_text()) == plan);
  }
}

TEST_CASE("fault plan: what cannot be read is named") {
  for (const char* wrong :
       {"at noon crash ps/0 1", "at 5 kill", "on ps/0 worker sometimes any 1 kill",
        "at 5 cut ps/0 1", "at 5 crash ps/7 100", "at 5 crash ps/0 100 200",
        "on ps/0 worker before any 0 kill", "melt", "at 5 melt ps/0 4"}) {
    auto plan = FaultPlan::parse(wrong);
    REQUIRE(!plan.ok());
    CHECK(plan.status().code() == Code::invalid_argument);
    CHECK(plan.status().message().find(wrong) != std::string::npos);
  }
}

TEST_CASE("fault plan: each kind of actor is killed at each point by the first seeds") {
  std::map<std::string, std::set<Fault::Point>> points;
  for (std::uint64_t seed = 0; seed < FaultPlan::num_systematic(); ++seed) {
    FaultPlan plan = FaultPlan::generate(seed);
    REQUIRE(plan.faults.size() == 1);
    REQUIRE(plan.faults[0].action == Fault::Action::kill);
    points[plan.faults[0].actor].insert(plan.faults[0].point);
  }
  for (const char* kind :
       {"guardian", "membership", "transport", "worker", "worker-session", "graph-manager",
        "executor", "rendezvous", "collectives", "master", "master-session", "step", "session"})
    CHECK_MESSAGE(points[kind].size() == 3, kind);
}

TEST_CASE("schedules: the same seed gives the same trace twice, another seed another") {
  Quiet quiet;
  for (std::uint64_t seed : {1ull, 700ull, 5001ull, 5002ull, 5003ull, 5004ull, 5005ull}) {
    ScheduleOptions options;
    options.seed = seed;
    options.plan = FaultPlan::generate(seed);
    ScheduleResult first = run_schedule(options), second = run_schedule(options);
    CHECK(first.trace == second.trace);
    CHECK(first.events == second.events);
    CHECK(first.story == second.story);
    options.seed = seed + 1;
    CHECK(run_schedule(options).trace != first.trace);
  }
}

TEST_CASE("schedules: a wrong invariant is found and shrunk to the one fault that breaks it") {
  Quiet quiet;
  ScheduleOptions options;
  options.seed = 3;
  options.plan = plan_of("at 40 slow ps/0 worker/0 900; at 60 crash worker/1 4000; "
                         "at 90 hold ps/0 client 20; at 100 slow worker/0 client 200");
  options.extra_check = [](const std::vector<Status>& answers) {
    for (const Status& status : answers)
      if (status.code() == Code::unavailable || status.code() == Code::aborted)
        return std::string("deliberately wrong: no call may ever fail");
    return std::string();
  };
  ScheduleResult result = run_schedule(options);
  REQUIRE(result.failure.find("deliberately wrong") != std::string::npos);
  std::size_t steps = 0;
  FaultPlan least = shrink(options, [&](const FaultPlan&) { ++steps; });
  CHECK(steps > 1);
  REQUIRE(least.faults.size() == 1);
  CHECK(least.faults[0].action == Fault::Action::crash);
  CHECK(least.faults[0].for_ms < 4000);
  options.plan = least;
  CHECK(run_schedule(options).failure.find("deliberately wrong") != std::string::npos);
  options.plan.faults.clear();
  CHECK(run_schedule(options).failure.empty());
}
