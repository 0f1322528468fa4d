// What the devices of a task say about a step that has not ended.
#pragma once

#include "actors/graph_manager/graph_manager.hpp"

namespace troupe {

/// Asks the step's executors. One that is silent for a quarter of the explain budget is in a
/// kernel; which one is looked up.
caf::result<DeviceRecords>
explain_devices(GraphManagerActor::stateful_pointer<GraphManagerState> self,
                const Services& services, std::uint64_t step_id);

} // namespace troupe
