// The RENDEZVOUS actor: the mailbox of one step at a time on one worker. Protocol:
// actors/protocol/rendezvous.hpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "actors/rendezvous/edge_table.hpp"
#include "actors/rendezvous/edge_tasks.hpp"
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

/// What it knows of the step that it serves.
struct RendezvousStep {
  std::uint64_t step_id = 0;
  std::shared_ptr<const EdgePeers> peers; ///< as they were known when the step began; never null
  std::string whose;                      ///< "step 7 on /job:worker/replica:0/task:1"
  Counted counted{counter("rendezvous")};
  EdgeTable<EdgeWaiter> edges;
  std::map<std::string, WorkerSessionActor> receivers; ///< that asked since the step began
  std::map<std::string, std::vector<std::string>>
      wishes; ///< keys to ask for at the next flush, by task
  std::vector<std::pair<WorkerSessionActor, EdgesArrived>>
      outbox; ///< values to send at the next flush
  std::size_t outbox_bytes = 0;
  std::set<std::string> sent;                   ///< keys of values that went to their peer
  std::set<std::string> asked;                  ///< keys that a peer was asked for
  std::map<std::string, Status> failed;         ///< keys of large values whose pull did not succeed
  bool begun = false;                           ///< a kernel here has sent or received
  std::vector<WireEdge> offers;                 ///< large values that came before that
  std::map<std::string, std::string> transfers; ///< how large values came that nobody took yet
  std::set<std::string> pulled;                 ///< keys of large values that are being pulled
  std::set<std::string> lost;                   ///< tasks that send nothing unasked any more
  std::map<std::string, Status> gone; ///< by task: why its rendezvous ended before the step
  std::vector<std::uint64_t> offered; ///< tickets of large values on their way to peers
};

struct RendezvousState {
  static constexpr const char* name = "rendezvous";
  std::shared_ptr<const RendezvousSetup> setup;
  std::optional<RendezvousStep> step; ///< none: it rests
  bool flush_posted = false;          ///< a FlushEdges of ours is in the mailbox
  EdgeTasks tasks;
  ~RendezvousState();
};

RendezvousActor::behavior_type rendezvous(RendezvousActor::stateful_pointer<RendezvousState> self,
                                          RendezvousSetup setup);

} // namespace troupe
