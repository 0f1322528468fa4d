// The way of a value that came over another protocol than ours to the worker session that waits for
// it.
#pragma once

#include <string>
#include <utility>

#include "actors/family/ask.hpp"
#include "actors/protocol/local/worker.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

/// Any thread. `value`: of `task`, or why it does not come. Nothing happens once the receiver has
/// ended.
inline void hand_over_edge(const caf::actor_addr& receiver, std::uint64_t step_id,
                           const std::string& task, const std::string& key,
                           Result<EdgeValue> value) {
  auto actor = caf::actor_cast<caf::strong_actor_ptr>(receiver);
  if (!actor)
    return;
  auto session = typed<WorkerSessionActor>(actor);
  if (!value.ok())
    return caf::anon_send(session, EdgesLost{step_id, task, {value.status()}});
  EdgesArrived arrived{step_id, {}};
  arrived.edges.push_back({key, WireTensor(std::move(value->tensor)), value->is_dead});
  caf::anon_send(session, std::move(arrived));
}

} // namespace troupe
