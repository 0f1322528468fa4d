// WhyTree: joins the records that the tasks of a step give of it (actors/protocol/step_records.hpp)
// to a tree whose leaf is the cause. A plain class: no actors, no clock.
//
//   └─ 'y' (Neg) on /job:worker/replica:0/task:0/device:CPU:0 waits for 'b:0'
//      └─ 'b:0' from /job:worker/replica:0/task:1/device:CPU:0: its op 'b' (MatMul) waits for 'a:0'
//         └─ 'a:0' from /job:ps/replica:0/task:0/device:CPU:0: its op 'a' (Dequeue) has been …
//
// A node waits for nodes of its device; a _Recv for the _Send with the same edge on the device at
// the other end, and so for what that one waits for. The leaves are ranked: a task that is silent
// comes before a kernel that runs (the longest first), that before one in a queue, that before a
// value on its way. The best leaf is the cause, and its branch is the last one everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/protocol/step_records.hpp"

namespace troupe {

struct WhyLimits {
  std::size_t lines = 60;   ///< of the tree, about; the cause is among them
  std::size_t branches = 4; ///< of one node; the others are counted
  std::size_t depth = 24;   ///< beyond it, the leaf itself is shown
};

struct Why {
  std::vector<std::string> tree; ///< never empty
  std::string cause;             ///< a clause that fits behind "…; "
};

/// Linear in the records; a chain through devices that comes back to itself ends where it closes.
Why explain_step(const std::vector<TaskRecord>& tasks, const WhyLimits& limits = {});

} // namespace troupe
