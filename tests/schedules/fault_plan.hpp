// FaultPlan: what goes wrong, and when, in one simulated run. Text in and text out, so that a plan
// found by a seed can be pasted into a test:
//
//   at 30 cut ps/0 worker/1 2000; on worker/1 executor after Start 2 kill
//
// A fault is a trigger and an action, with times in milliseconds.
//
//   at TIME                                     since the workload began
//   on NODE ACTOR before|after|answer MESSAGE N the actor's Nth such message ("any": whatever it
//                                               is): before it is handled; directly after; or
//                                               before the next thing that reaches the actor, when
//                                               what it needs for its answer is coming in
//   kill                       the actor (with `on` only)
//   crash NODE AWAY            the process; it starts again after AWAY
//   freeze NODE FOR            the process stands still
//   cut A B FOR                connections close, and no new one is made
//   hold A B FOR               bytes stand still, connections stay
//   slow A B FOR               bytes take 200 ms longer
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe::testing {

struct Fault {
  enum class Point { at_time, before, after, answer };
  enum class Action { kill, crash, freeze, cut, hold, slow };

  Point point = Point::at_time;
  std::int64_t at_ms = 0; ///< at_time
  std::string node;       ///< other points: where
  std::string actor;      ///< its kind, "worker-session"
  std::string message;    ///< "RunGraph", or "any"
  int nth = 1;            ///< counted from 1
  Action action = Action::kill;
  std::string a, b; ///< what it happens to
  std::int64_t for_ms = 0;

  std::string to_text() const;
  bool operator==(const Fault&) const = default;
};

struct FaultPlan {
  std::vector<Fault> faults;

  std::string to_text() const;
  /// INVALID_ARGUMENT naming the fault that cannot be read.
  static Result<FaultPlan> parse(std::string_view text);
  /// The first plans kill each kind of actor at each point, one by one; later ones are random.
  static FaultPlan generate(std::uint64_t seed);
  /// How many of the first plans are single kills.
  static std::uint64_t num_systematic();
  /// Together, in milliseconds: how much longer than usual a call may take.
  std::int64_t total_ms() const;
  bool operator==(const FaultPlan&) const = default;
};

} // namespace troupe::testing
