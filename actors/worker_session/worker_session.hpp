// The WORKER SESSION actor: one master session's life on one worker. Protocol:
// actors/protocol/worker_session.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "actors/family/drain.hpp"
#include "actors/family/graph_pieces.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "actors/rendezvous/rendezvous.hpp"
#include "actors/worker_session/mailbox_table.hpp"
#include "actors/worker_session/master_lease.hpp"
#include "actors/worker_session/peer_sessions.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

class Collectives;
class RemoteEdges;

struct WorkerSessionState {
  static constexpr const char* name = "worker-session";
  std::string handle;
  GraphManagerActor graph_manager;
  GraphPieces pieces; ///< of the graph that is registered next
  std::map<std::string, GraphRegistered> graphs;
  MailboxTable<RendezvousActor> mailboxes; ///< each rendezvous is watched, also those that rest
  std::map<std::uint64_t, caf::typed_response_promise<GraphRun>>
      arriving; ///< by step: its feeds are being pulled; answered early if it is cancelled
  PeerSessions<WorkerSessionCreated, EdgePeers> peers;
  std::shared_ptr<RemoteEdges> remote_edges; ///< null: other tasks are nodes, see `peers`
  MasterLease lease{0, 0};
  caf::actor_addr master; ///< the master session, which renews the lease; empty once it is lost
  Status refusal;         ///< of new steps: the node is about to end
  IdleWaiters idle;       ///< of the mailboxes
  Counted counted{counter("worker_sessions")};

  ~WorkerSessionState(); ///< a kill, or our own end, does not pass the exit handler
};

WorkerSessionActor::behavior_type
worker_session(WorkerSessionActor::stateful_pointer<WorkerSessionState> self, Services services,
               CreateWorkerSession request, MembershipActor membership, TransportActor transport,
               std::shared_ptr<Collectives> collectives);

} // namespace troupe
