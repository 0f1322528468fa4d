// The MASTER SESSION actor: a client's graph, its signatures and its steps. Protocol:
// actors/protocol/master_session.hpp.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/drain.hpp"
#include "actors/family/step_table.hpp"
#include "actors/master_session/build_queue.hpp"
#include "actors/master_session/client_graph.hpp"
#include "actors/master_session/client_watch.hpp"
#include "actors/master_session/direct_steps.hpp"
#include "actors/master_session/ended_steps.hpp"
#include "actors/master_session/part_answers.hpp"
#include "actors/master_session/session_end.hpp"
#include "actors/master_session/signature_cache.hpp"
#include "actors/master_session/step_log.hpp"
#include "actors/master_session/task_health.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

/// A run that waits for its feeds, or has them and waits for its client graph.
struct WaitingRun {
  std::shared_ptr<const BoundSignature> bound;
  std::vector<Tensor> feeds; ///< in the caller's order
  std::int64_t timeout_us = 0;
  std::int64_t asked_us = 0; ///< when it came, on the actors' clock: its deadline counts from then
  bool trace = false;
  bool partition_graphs = false;
  std::uint64_t request_id = 0;
  bool wants_direct = false;
  std::shared_ptr<BegunStep> begun; ///< its caller has begun it; null: not yet
  caf::strong_actor_ptr client;     ///< who is answered
  caf::typed_response_promise<RunStepResult> promise;
};

struct RunningStep {
  StepActor actor;
  WaitingRun run;          ///< answered at our end, whatever it is
  std::int64_t due_us = 0; ///< on the actors' clock; 0: no deadline, or told of it
  /// What other nodes were asked for it. They have answered if it ends well; else its end lets go
  /// of what they have not, so that none of them needs a budget of its own.
  std::vector<caf::message_id> asked;
  void clear() { *this = {}; }
};

/// Every task registers its part of a client graph; the plan stands when all have.
struct Registration {
  std::shared_ptr<ClientGraph> graph;
  StepPlan plan;
  PartAnswers answers;
};

struct MasterSessionState {
  static constexpr const char* name = "master-session";

  std::string task; ///< its own
  /// What it is made again from: the master has the same, before anybody is told of a change.
  SessionRecord record;
  std::vector<SessionWorker> workers;
  std::vector<DeviceAttributes> devices;
  std::int64_t created_us = 0;
  ClientWatch watch;            ///< of the client
  caf::strong_actor_ptr client; ///< who sent it, in another process
  SessionEnd end;
  TaskHealth health; ///< of the tasks that it uses

  struct Extension {
    ExtendGraph request;
    caf::typed_response_promise<GraphExtended> promise;
  };
  std::deque<Extension> extensions; ///< in order of arrival; the first one is being parsed
  std::uint64_t parse_ticket = 0;
  struct Explanation {
    ExplainGraph request;
    caf::typed_response_promise<GraphExplained> promise;
  };
  std::vector<Explanation> explanations;       ///< asked for while the graph is being extended
  std::shared_ptr<const PlacedDevices> placed; ///< of this version, once some signature needed it

  SignatureCache signatures;
  std::map<std::uint64_t, WaitingRun> arriving; ///< runs whose feeds are on their way
  std::uint64_t next_arrival = 1;
  std::map<std::shared_ptr<ClientGraph>, std::vector<WaitingRun>>
      waiting; ///< by client graph that is being built
  BuildQueue builds;
  std::shared_ptr<std::atomic<bool>> unwanted; ///< of the build under way: nobody waits for it
  std::shared_ptr<Registration> registration;  ///< of the graph under way; null while it is built
  std::map<std::shared_ptr<ClientGraph>, std::vector<std::string>> partition_graphs;

  std::shared_ptr<DirectSteps>
      direct; ///< of a local node: steps on their callers' threads; or null
  StepTable<RunningStep> steps;
  std::unordered_map<caf::actor_id, std::uint64_t> step_of; ///< by the actor of a step that runs
  std::vector<StepActor> resting;                           ///< watched like those that run
  std::set<std::int64_t> looks; ///< when we look which deadlines have passed, on the actors' clock
  EndedSteps<WorkerSessionActor> ended; ///< of which other nodes have not heard
  StepLog log;
  /// Who asked for a run that was under way already.
  struct Joined {
    caf::strong_actor_ptr client;
    caf::typed_response_promise<RunStepResult> promise;
  };
  std::unordered_map<std::uint64_t, std::vector<Joined>> joined; ///< by step

  struct Callable {
    std::shared_ptr<const BoundSignature> bound;
  };
  std::map<std::uint64_t, Callable> callables;
  Counted counted{counter("master_sessions")};

  IdleWaiters idle; ///< of the steps, and of those that wait for their graph

  ~MasterSessionState();
};

/// What its handlers need besides the state.
struct MasterSessionParts {
  Services services;
  MembershipActor membership;
  TransportActor transport;
  caf::actor_addr master; ///< keeps the record; none: nobody does
};

/// Begins as the record says: with a graph, callables and state on its tasks if it is made again. A
/// worker that is lost is lost for all of its life.
MasterSessionActor::behavior_type
master_session(MasterSessionActor::stateful_pointer<MasterSessionState> self,
               MasterSessionParts parts, SessionRecord record, std::vector<SessionWorker> workers,
               std::shared_ptr<DirectSteps> direct);

} // namespace troupe
