// Runs schedules by seed. See README.md.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "tests/schedules/schedule.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr auto usage = R"(schedules: a simulated cluster under faults, seed by seed.
  --seeds N     how many (default 100)
  --first S     the first seed (default 0)
  --seed X      this one alone, with its story
  --plan TEXT   these faults instead of the seed's own
  --shrink      of a failing seed, also the shortest plan that fails
  --keep-going  do not stop at the first failure
  --kills       which actors were killed at which points, as a table; fails if one never was
  --events      each event, with --seed
  --log         what the nodes log
Exit code: 0 all is well, 1 a schedule failed, 2 called wrongly.
)";

struct Options {
  std::uint64_t first = 0, seeds = 100;
  bool single = false, shrink = false, keep_going = false, events = false, kills = false;
  std::string plan;
  bool has_plan = false;
};

// Who is killed, when: every kind of actor there is, in the order of the tree.
constexpr const char* kinds[] = {"guardian",       "membership",    "transport",      "worker",
                                 "worker-session", "graph-manager", "executor",       "rendezvous",
                                 "collectives",    "master",        "master-session", "step",
                                 "session"};
constexpr Fault::Point points[] = {Fault::Point::before, Fault::Point::after, Fault::Point::answer};

using Kills = std::map<KillPoint, std::size_t>;

// False if a kind of actor was never killed at one of the points.
bool print_kills(const Kills& kills) {
  bool complete = true;
  std::printf("| actor | before a request arrives | after it was handled | during the answer |\n"
              "|---|---|---|---|\n");
  for (const char* kind : kinds) {
    std::printf("| %s |", kind);
    for (Fault::Point point : points) {
      auto it = kills.find({kind, point});
      complete = complete && it != kills.end();
      std::printf(" %zu |", it == kills.end() ? 0 : it->second);
    }
    std::printf("\n");
  }
  if (!complete)
    std::printf("an actor was never killed at one of the points: give it messages that it gets, in "
                "fault_plan.cpp\n");
  return complete;
}

int report(const ScheduleOptions& schedule, const ScheduleResult& result, const Options& options) {
  std::printf("seed %llu failed: %s\n  --seed %llu --plan \"%s\"\n%s",
              static_cast<unsigned long long>(schedule.seed), result.failure.c_str(),
              static_cast<unsigned long long>(schedule.seed), schedule.plan.to_text().c_str(),
              result.story.c_str());
  std::fflush(stdout);
  if (options.shrink) {
    FaultPlan least = shrink(schedule);
    ScheduleOptions again = schedule;
    again.plan = least;
    ScheduleResult shortest = run_schedule(again);
    std::printf("shortest plan: --seed %llu --plan \"%s\"\n  %s\n%s",
                static_cast<unsigned long long>(schedule.seed), least.to_text().c_str(),
                shortest.failure.c_str(), shortest.story.c_str());
    std::fflush(stdout);
  }
  return 1;
}

int run(const Options& options) {
  int exit_code = 0;
  std::size_t events = 0, fired = 0, failures = 0;
  double virtual_seconds = 0, longest_call = 0;
  std::uint64_t slowest_seed = 0;
  Kills kills;
  for (std::uint64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
    ScheduleOptions schedule;
    schedule.seed = seed;
    if (options.has_plan) {
      auto plan = FaultPlan::parse(options.plan);
      if (!plan.ok()) {
        std::fprintf(stderr, "%s\n", plan.status().message().c_str());
        return 2;
      }
      schedule.plan = *std::move(plan);
    } else {
      schedule.plan = FaultPlan::generate(seed);
    }
    if (options.events)
      schedule.narrate = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
    ScheduleResult result = run_schedule(schedule);
    schedule.narrate = nullptr;
    events += result.events;
    fired += result.fired;
    virtual_seconds += result.virtual_seconds;
    for (const KillPoint& kill : result.kills)
      ++kills[kill];
    if (result.longest_call > longest_call) {
      longest_call = result.longest_call;
      slowest_seed = seed;
    }
    if (!result.failure.empty()) {
      ++failures;
      exit_code = report(schedule, result, options);
      if (!options.keep_going)
        break;
    } else if (options.single) {
      std::printf("%sseed %llu is well: plan \"%s\", trace %016llx\n", result.story.c_str(),
                  static_cast<unsigned long long>(seed), schedule.plan.to_text().c_str(),
                  static_cast<unsigned long long>(result.trace));
    }
  }
  std::printf("%zu events, %zu faults, %.0f virtual seconds, %zu failures; the slowest call took "
              "%.1f virtual seconds (seed %llu)\n",
              events, fired, virtual_seconds, failures, longest_call,
              static_cast<unsigned long long>(slowest_seed));
  if (options.kills && !print_kills(kills))
    exit_code = 1;
  return exit_code;
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  set_log_level(LogLevel::off);
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&]() -> const char* { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--seeds")
      options.seeds = std::strtoull(value(), nullptr, 10);
    else if (word == "--first")
      options.first = std::strtoull(value(), nullptr, 10);
    else if (word == "--seed")
      options.first = std::strtoull(value(), nullptr, 10), options.seeds = 1, options.single = true;
    else if (word == "--plan")
      options.plan = value(), options.has_plan = true;
    else if (word == "--shrink")
      options.shrink = true;
    else if (word == "--keep-going")
      options.keep_going = true;
    else if (word == "--kills")
      options.kills = true;
    else if (word == "--events")
      options.events = true;
    else if (word == "--log")
      set_log_level(LogLevel::info);
    else {
      std::fputs(usage, word == "--help" ? stdout : stderr);
      return word == "--help" ? 0 : 2;
    }
  }
  return run(options);
}
