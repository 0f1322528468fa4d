// The RENDEZVOUS actor: the mailbox of one step at a time on one worker. Protocol:
// actors/protocol/rendezvous.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "actors/rendezvous/edge_exchange.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

/// What does not change from step to step.
struct RendezvousSetup {
  Services services;
  WorkerSessionActor session; ///< our parent; knows the session's other workers
  TransportActor transport;
};

/// A kernel here that waits for a value.
struct EdgeWaiter {
  std::shared_ptr<PendingReceive> kernel;
  caf::actor_addr owner; ///< its executor
};

class EdgeDelivery;
using StepExchange = EdgeExchange<EdgePeers, EdgeWaiter, WireEdge>;

/// What it knows of the step that it serves.
struct RendezvousStep {
  std::uint64_t step_id = 0;
  std::string whose; ///< "step 7 on /job:worker/replica:0/task:1"
  Counted counted{counter("rendezvous")};
  std::unique_ptr<EdgeDelivery> delivery; ///< does what the exchange decides
  std::unique_ptr<StepExchange> exchange;
  std::vector<TicketId> offered; ///< tickets of large values on their way to peers
};

struct RendezvousState {
  static constexpr const char* name = "rendezvous";
  std::shared_ptr<const RendezvousSetup> setup;
  std::optional<RendezvousStep> step; ///< none: it rests
  bool flush_posted = false;          ///< a FlushEdges of ours is in the mailbox
  EdgeTasks tasks;
  RendezvousState();
  ~RendezvousState();
};

RendezvousActor::behavior_type rendezvous(RendezvousActor::stateful_pointer<RendezvousState> self,
                                          RendezvousSetup setup);

} // namespace troupe
