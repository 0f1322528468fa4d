// The WORKER SESSION actor: one master session's life on one worker. Protocol:
// actors/protocol/worker_session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "actors/family/drain.hpp"
#include "actors/family/services.hpp"
#include "actors/family/step_table.hpp"
#include "actors/protocol/local/worker.hpp"
#include "actors/rendezvous/rendezvous.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

struct WorkerSessionState {
  static constexpr const char* name = "worker-session";
  struct Mailbox {
    RendezvousActor rendezvous;
    std::int64_t created_us = 0;
    bool started = false; ///< its RunGraph has come; until then it may be an orphan
    Status lost;          ///< why its rendezvous has ended before the step
    void clear() { *this = {}; }
  };
  std::string handle;
  GraphManagerActor graph_manager;
  std::map<std::string, GraphRegistered> graphs;
  StepTable<Mailbox> mailboxes;
  std::vector<RendezvousActor> resting; ///< watched like those that serve a step
  std::map<std::uint64_t, caf::typed_response_promise<GraphRun>>
      arriving; ///< by step: its feeds are being pulled; answered early if it is cancelled
  std::map<std::string, WorkerSessionCreated> peers; ///< the session on other tasks, as we found it
  /// Tasks that steps send values to unasked, and tasks that send us such values.
  std::shared_ptr<const EdgePeers> edge_peers = std::make_shared<EdgePeers>();
  std::array<std::uint64_t, 256> ended{}; ///< steps that were cleaned up lately, a ring
  std::size_t num_ended = 0;
  std::int64_t heard_us = 0; ///< last word of the master
  caf::actor_addr master;    ///< who sent it: the master session; empty once it is lost
  std::string wire;          ///< the connection that it came over, as far as it was asked for
  Status refusal;            ///< of new steps: the node is about to end
  IdleWaiters idle;          ///< of the mailboxes
  Counted counted{counter("worker_sessions")};

  ~WorkerSessionState(); ///< a kill, or our own end, does not pass the exit handler
};

WorkerSessionActor::behavior_type
worker_session(WorkerSessionActor::stateful_pointer<WorkerSessionState> self, Services services,
               CreateWorkerSession request, MembershipActor membership, TransportActor transport);

} // namespace troupe
