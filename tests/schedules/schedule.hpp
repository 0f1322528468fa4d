// One simulated run of a cluster under a plan of faults, and what must be true of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/schedules/fault_plan.hpp"

namespace troupe::testing {

struct ScheduleOptions {
  std::uint64_t seed = 0; ///< decides the order of events, delays and what the client does
  FaultPlan plan;
  /// One more thing to be checked at the end, for a test of the machinery itself: the answered
  /// calls' statuses, in order; returns what is wrong.
  std::function<std::string(const std::vector<Status>&)> extra_check;
  std::function<void(const std::string&)> narrate; ///< each event as a line
};

/// An actor that was killed, and when.
struct KillPoint {
  std::string actor; ///< its kind
  Fault::Point point;
  auto operator<=>(const KillPoint&) const = default;
};

struct ScheduleResult {
  std::string failure; ///< what is wrong, as a sentence; empty when all is well
  std::string story;   ///< the client's calls and their answers, one a line
  std::uint64_t trace = 0;
  std::size_t events = 0;
  std::size_t fired = 0;        ///< faults that happened
  std::vector<KillPoint> kills; ///< of actors that were alive
  double virtual_seconds = 0;
  double longest_call = 0; ///< virtual seconds until the slowest answer
};

/// Starts a cluster, lets a client work under the plan, heals everything, and checks:
///   - every call is answered, once, within a minute more than the faults last together;
///   - with a value that is right, or a code that a fault may give, with a sentence that names a
///     task or the session;
///   - sessions that were closed or given up leave nothing anywhere;
///   - a new session works, and leaves nothing when it is closed;
///   - the counter holds at least the acknowledged updates, and at most the attempted ones;
///   - in some runs: when a task of an idle cluster is started again, the session is told ABORTED
///     exactly once, at the latest with its second call after the task is known to be back, and
///     the next session works.
ScheduleResult run_schedule(const ScheduleOptions& options);

/// The shortest plan found that still fails: faults are left out one by one, and what remains is
/// made shorter. `options` must fail. Calls `progress` with each shorter plan.
FaultPlan shrink(ScheduleOptions options,
                 const std::function<void(const FaultPlan&)>& progress = nullptr);

} // namespace troupe::testing
