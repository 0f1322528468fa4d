// The RENDEZVOUS actor: the mailbox of one step on one worker. Protocol:
// actors/protocol/worker.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/worker.hpp"
#include "actors/rendezvous/edge_table.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

struct RendezvousSetup {
  Services services;
  std::string session_handle;
  std::uint64_t step_id = 0;
  WorkerSessionActor session; ///< our parent; knows the session's other workers
  TransportActor transport;
};

/// Who waits for a value: a kernel here, or a peer's rendezvous.
struct EdgeWaiter {
  std::shared_ptr<std::function<void(Status, Tensor, bool)>> kernel;
  caf::actor_addr owner; ///< the kernel's executor
  caf::strong_actor_ptr peer;
};

struct RendezvousState {
  static constexpr const char* name = "rendezvous";
  EdgeTable<EdgeWaiter> edges;
  std::map<std::string, std::vector<std::string>>
      wishes; ///< keys to ask for at the next flush, by task
  bool flush_posted = false;
  std::string whose; ///< "step 7 on /job:worker/replica:0/task:1"
  Counted counted{counter("rendezvous")};
  std::vector<std::uint64_t> offered; ///< tickets of large values on their way to peers
  TransportActor transport;           ///< that answers for them; set with the first
  std::string transfer;               ///< of the value that is being put
  ~RendezvousState();
};

RendezvousActor::behavior_type rendezvous(RendezvousActor::stateful_pointer<RendezvousState> self,
                                          RendezvousSetup setup);

} // namespace troupe
