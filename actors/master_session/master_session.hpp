// The MASTER SESSION actor: a client's graph, its signatures and its steps. Protocol:
// actors/protocol/master_session.hpp.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/drain.hpp"
#include "actors/family/graph_pieces.hpp"
#include "actors/master_session/build_queue.hpp"
#include "actors/master_session/client_graph.hpp"
#include "actors/master_session/client_watch.hpp"
#include "actors/master_session/direct_steps.hpp"
#include "actors/master_session/due_times.hpp"
#include "actors/master_session/ended_steps.hpp"
#include "actors/master_session/graph_growth.hpp"
#include "actors/master_session/part_answers.hpp"
#include "actors/master_session/partial_run.hpp"
#include "actors/master_session/session_end.hpp"
#include "actors/master_session/signature_cache.hpp"
#include "actors/master_session/step_crew.hpp"
#include "actors/master_session/step_log.hpp"
#include "actors/master_session/task_health.hpp"
#include "actors/master_session/waiting_runs.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

/// Who asks for a run.
struct Client {
  caf::strong_actor_ptr actor;
  caf::typed_response_promise<RunStepResult> promise;
};

/// A run that waits for its feeds, or has them and waits for its client graph.
struct WaitingRun {
  std::shared_ptr<const BoundSignature> bound;
  std::vector<Tensor> feeds; ///< in the caller's order
  std::int64_t timeout_us = 0;
  std::int64_t due_us = 0; ///< its deadline, on the actors' clock; 0: none
  bool trace = false;
  bool partition_graphs = false;
  bool report_allocations = false;
  bool tells_costs = false;    ///< its turn has come
  bool is_noted = false;       ///< of a watched one: a debugger was told of it
  std::int64_t debug_step = 0; ///< DebugOptions::global_step
  std::uint64_t request_id = 0;
  bool may_come_again = false;
  bool wants_direct = false;
  std::shared_ptr<BegunStep> begun; ///< its caller has begun it; null: not yet
  std::uint64_t partial_step = 0;   ///< id of a partial run, whose clients are in its PartialCalls
  Client client;
  std::vector<Client> joined; ///< who has asked for it again, while it ran
};

struct RunningStep {
  StepActor actor;
  WaitingRun run;      ///< answered when the step ends, in every case
  bool is_due = false; ///< it was told that its deadline has passed
  /// Requests to other nodes for this step. They share the step's end as budget: a failed step
  /// drops the open ones.
  std::vector<caf::message_id> asked;
  void clear() { *this = {}; }
};

/// A call of a partial run.
struct PartialCall {
  Client client;
  std::uint64_t request_id = 0;
  bool may_come_again = false;
  std::vector<Client> joined = {}; ///< who has asked for it again
};

struct PartialStep {
  PartialRun<PartialCall> run;
  std::shared_ptr<const BoundSignature> bound;
  bool is_begun = false;                             ///< the first call has come
  std::vector<std::pair<std::size_t, Tensor>> early; ///< feeds that came before its step began
  std::int64_t due_us = 0;                           ///< of the call that waits, or of the next one
  std::int64_t timeout_us = 0;                       ///< of the call that waits; 0: none
};

/// Every task registers its part of a client graph; the plan stands when all have.
struct Registration {
  std::shared_ptr<ClientGraph> graph;
  StepPlan plan;
  PartAnswers answers;
};

/// The tasks that a session uses.
struct SessionTasks {
  std::vector<SessionWorker> workers;
  std::vector<DeviceAttributes> devices; ///< of all of them
  TaskHealth health;
};

/// A session's client, in another process or behind a gateway.
struct SessionClient {
  ClientWatch watch;
  caf::strong_actor_ptr actor; ///< who sent it, in another process
};

/// Client graphs on their way from a signature to a plan.
struct ClientGraphs {
  BuildQueue queue;
  std::shared_ptr<std::atomic<bool>> unwanted; ///< set when nobody waits for the build under way
  std::shared_ptr<Registration> registration;  ///< of the graph under way; null while it is built
  std::shared_ptr<const PlacedDevices> placed; ///< of this version, once some signature needed it
  /// What each task runs, of graphs that show it.
  std::map<const ClientGraph*, std::vector<std::string>> parts;
  /// Measured time of each node (µs), of runs that recorded costs; null: none yet.
  std::shared_ptr<const std::map<std::string, std::int64_t>> costs;
};

struct Extension {
  ExtendGraph request;
  caf::typed_response_promise<GraphExtended> promise;
  std::int64_t current_version() const { return request.current_version; }
};
struct Explanation {
  ExplainGraph request;
  caf::typed_response_promise<GraphExplained> promise;
};

struct MasterSessionState {
  static constexpr const char* name = "master-session";

  std::string task; ///< its own
  /// What the session is made again from. The master holds a copy; it gets each change before any
  /// client is told.
  SessionRecord record;
  SessionTasks tasks;
  std::int64_t created_us = 0;
  SessionClient client;
  SessionEnd end;

  GraphPieces pieces; ///< of what the graph is extended with next
  GraphGrowth<Extension, Explanation> growth;
  SignatureCache signatures;
  std::map<std::uint64_t, std::shared_ptr<const BoundSignature>> callables; ///< by handle
  ClientGraphs graphs;

  WaitingRuns<WaitingRun> waiting;
  std::map<std::uint64_t, PartialStep> partial; ///< by step id
  StepCrew<RunningStep> steps;
  DueTimes looks;                       ///< of those that wait, and those that run
  EndedSteps<WorkerSessionActor> ended; ///< steps whose end other nodes have not been told
  StepLog log;
  /// Until when large answers are kept for a repeated request; 0: none is kept.
  std::int64_t large_until_us = 0;
  std::shared_ptr<DirectSteps> direct; ///< steps on their callers' threads; null in tests

  Counted counted{counter("master_sessions")};
  IdleWaiters idle; ///< of the steps, and of those that wait for their graph

  ~MasterSessionState();
  /// Steps that have ended, those on their callers' threads among them.
  std::int64_t num_finished() const;
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
