// The STEP actor: one run of a client graph over its tasks, at a time. Protocol:
// actors/protocol/step.hpp.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/family/alarm.hpp"
#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/master.hpp"
#include "actors/step/step_collector.hpp"

namespace troupe {

/// One task's share of a compiled client graph, registered there.
struct RegisteredPart {
  std::string task;
  WorkerSessionActor session;
  GraphManagerActor manager; ///< runs it without the session, in this process; or null
  std::string graph_handle;
  bool has_remote_edges = false;
  std::shared_ptr<NodeStates> node_states; ///< with these a thread of this process runs it without
  std::shared_ptr<const Executable> executable; ///< any actor; or null
  std::vector<int> feed_of;                     ///< by _Arg index: which feed of the signature
  std::vector<int> fetch_of;                    ///< by _Retval index: which fetch of the signature
  std::vector<std::string> retvals;             ///< by _Retval index: the node's name
  std::vector<CostNode> cost_nodes;             ///< without times; of a session that wants costs
};

/// The client's ends of a partial run: where its feeds and fetches go, by their numbers.
struct ClientEdges {
  WorkerSessionActor session;              ///< of the master's own task
  std::vector<std::string> feeds, fetches; ///< rendezvous keys; empty: nothing reads the feed
};

/// What a step runs; shared by all steps of a signature.
struct StepPlan {
  std::string signature; ///< for people
  std::size_t num_fetches = 0;
  std::vector<RegisteredPart> parts;
  std::optional<ClientEdges> client; ///< of a partial run
};

/// A fetch as its client wrote it.
struct FetchName {
  std::string name;
  std::size_t position = 0; ///< among the client's fetches
};

/// The answer's tensors are in the plan's order, in this process (never tickets).
struct StepState {
  static constexpr const char* name = "step";
  Services services;
  TransportActor transport;   ///< answers for large feeds
  MembershipActor membership; ///< knows when a silent task was last heard of

  // Of the step that runs.
  BeginStep request;
  MasterSessionActor master_session;      ///< waits for the end, and hands on to other nodes
  std::optional<StepCollector> collector; ///< none: no step runs
  Alarm deadline;                         ///< of all that its parts are asked
  std::int64_t asked_us = 0;              ///< when its parts were asked; of a traced step
  std::vector<DeviceStats> stats;
  std::vector<TicketId> offered;   ///< tickets of large feeds on their way
  std::set<std::size_t> arriving;  ///< parts that have ended, whose fetches are on their way
  std::set<std::size_t> overdue;   ///< open parts whose answer is not waited for any more
  std::size_t missing_fetches = 0; ///< of a partial run
  bool inquired = false;           ///< parts were asked why it goes on; their answers may come late
  bool explains_end = false; ///< the deadline has passed; the parts are asked why, then cancelled
  std::vector<caf::typed_response_promise<StepExplained>> asked; ///< why the step goes on

  StepState() = default;
  ~StepState();
};

StepActor::behavior_type step(StepActor::stateful_pointer<StepState> self, Services services,
                              TransportActor transport, MembershipActor membership);

} // namespace troupe
