// The STEP actor: one run of a client graph over its tasks. Protocol: actors/protocol/master.hpp.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/master.hpp"
#include "actors/step/step_collector.hpp"

namespace troupe {

/// One task's share of a compiled client graph, registered there.
struct RegisteredPart {
  std::string task;
  caf::strong_actor_ptr session; ///< WorkerSessionActor
  std::string graph_handle;
  bool has_remote_edges = false;
  std::vector<int> feed_of;         ///< by _Arg index: which feed of the signature
  std::vector<int> fetch_of;        ///< by _Retval index: which fetch of the signature
  std::vector<std::string> retvals; ///< by _Retval index: the node's name
};

/// What a step runs; shared by all steps of a signature.
struct StepPlan {
  std::string signature; ///< for people
  std::size_t num_fetches = 0;
  std::vector<RegisteredPart> parts;
};

/// A fetch as its client wrote it.
struct FetchName {
  std::string name;
  std::size_t position = 0; ///< among the client's fetches
};

struct StepRequest {
  std::shared_ptr<const StepPlan> plan;
  std::uint64_t step_id = 0;
  std::vector<Tensor> feeds;                             ///< in the plan's order
  std::shared_ptr<const std::vector<FetchName>> fetches; ///< in the plan's order
  std::int64_t timeout_us = 0;
  bool trace = false;
  caf::strong_actor_ptr master_session; ///< MasterSessionActor; hands on to parts on other nodes
  caf::strong_actor_ptr membership; ///< MembershipActor; knows when a silent task was last heard of
};

/// The answer's tensors are in the plan's order, in this process (never tickets).
struct StepState {
  static constexpr const char* name = "step";
  StepRequest request;
  std::unique_ptr<StepCollector> collector;
  std::vector<DeviceStats> stats;
  caf::typed_response_promise<RunStepResult> promise;
  bool answered = false;
  std::vector<std::uint64_t> offered; ///< tickets of large feeds on their way
  TransportActor transport;           ///< that answers for them
  std::set<std::size_t> arriving;     ///< parts that have ended, whose fetches are on their way
  std::int64_t started_us = 0;
  bool explains_end = false; ///< the deadline has passed; the parts are asked why, then cancelled
  std::vector<caf::typed_response_promise<StepExplained>> asked; ///< why the step goes on

  ~StepState(); ///< answers if nobody has: the actor was killed
};

StepActor::behavior_type step(StepActor::stateful_pointer<StepState> self, Services services,
                              TransportActor transport, StepRequest request);

} // namespace troupe
