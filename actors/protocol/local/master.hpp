// Within a master: graphs being built, a step and its parts.
#pragma once

#include <memory>

#include "actors/protocol/local/worker.hpp"
#include "actors/protocol/step.hpp"
#include "actors/protocol/wire/master.hpp"

namespace troupe {

class Graph;
struct ClientGraphParts;
struct FetchName;
struct Opening;
struct PlacedDevices;
struct SessionRecord;
struct StepPlan;

/// A compute thread has added nodes to a copy of the session's graph.
struct GraphParsed {
  std::uint64_t ticket = 0;
  std::shared_ptr<const Graph> graph; ///< null: see status
  Status status;
  /// Where its nodes are, and of stateful ones the devices that are new; null: to be placed by
  /// signature.
  std::shared_ptr<const PlacedDevices> placed = nullptr;
  std::vector<std::pair<std::string, std::string>> assigned = {};
};
/// A compute thread has written down for a debugger what a run is.
struct DebugNoteWritten {
  std::uint64_t number = 0; ///< of the run, among those that wait
  Status status;
};
/// Of a master to itself: the parts of a session that is still being opened hear that it lives.
struct RenewOpening {
  std::weak_ptr<Opening> opening;
};
/// What a session is made again from has changed.
struct SessionChanged {
  std::shared_ptr<const SessionRecord> record;
};
/// A step talks to its part on another node through its master session. The other node knows that
/// actor already; CAF would announce each step's actor there, for two messages. Order is kept.
struct RunPart {
  WorkerSessionActor part;
  std::size_t index = 0; ///< of the part; comes back in PartRun
  RunGraph run;
};
/// How it ended.
struct PartRun {
  std::uint64_t step_id = 0;
  std::size_t index = 0;
  GraphRun run;
  caf::error error; ///< none: it ended well
};
struct CancelPart {
  WorkerSessionActor part;
  CancelStep cancel;
};
/// Sent after every step with values between tasks. After a step that ended well it may wait:
/// nothing is left there but an empty rendezvous, so it goes with the next RunGraph, or after a
/// while.
struct CleanupPart {
  WorkerSessionActor part;
  std::uint64_t step_id = 0;
  bool may_wait = false;
};
/// A master session to itself: send the CleanupParts that wait.
struct SendCleanups {};
/// A compute thread has built a client graph.
struct ClientGraphBuilt {
  std::uint64_t ticket = 0;
  std::shared_ptr<ClientGraphParts> parts; ///< null: see status
  Status status;
};
/// One run of a client graph, for a step actor that runs none. Local: shares memory.
struct BeginStep {
  std::shared_ptr<const StepPlan> plan;
  std::uint64_t step_id = 0;
  std::vector<Tensor> feeds;                             ///< in the plan's order
  std::shared_ptr<const std::vector<FetchName>> fetches; ///< in the plan's order
  std::int64_t started_us = 0;                           ///< on the actors' clock
  std::int64_t timeout_us = 0;
  bool trace = false;
  bool report_allocations = false;
  std::shared_ptr<BegunPart> begun = nullptr; ///< its only part runs already; there are no feeds
};
/// Of a partial run: some of its feeds have come, by their numbers in the plan.
struct FeedStep {
  std::uint64_t step_id = 0;
  std::vector<std::pair<std::size_t, Tensor>> feeds;
};
/// Of a partial run: a fetch is there, by its number in the plan.
struct StepFetched {
  std::uint64_t step_id = 0;
  std::size_t fetch = 0;
  Tensor value;
};
/// How it ended. Local: shares memory.
struct StepFinished {
  std::uint64_t step_id = 0;
  Status status;
  std::vector<Tensor> fetched; ///< in the plan's order
  std::vector<DeviceStats> stats;
  bool rests = false; ///< it takes another step now; else it has ended
};
/// Of a master session to itself: the deadline of a step may have passed.
struct EndLateSteps {};
/// The step has had its time.
struct DeadlinePassed {};
/// Of a step to itself: cancelled parts have had their time to answer.
struct StopWaiting {};
/// Ends a step with this status.
struct EndStep {
  StatusMessage status;
};

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_master_local, troupe::type_block::master_local)
TROUPE_LOCAL_MESSAGE(troupe_master_local, StepExplained)
TROUPE_LOCAL_MESSAGE(troupe_master_local, GraphParsed)
TROUPE_LOCAL_MESSAGE(troupe_master_local, DebugNoteWritten)
TROUPE_LOCAL_MESSAGE(troupe_master_local, RunPart)
TROUPE_LOCAL_MESSAGE(troupe_master_local, CancelPart)
TROUPE_LOCAL_MESSAGE(troupe_master_local, CleanupPart)
TROUPE_LOCAL_MESSAGE(troupe_master_local, SendCleanups)
TROUPE_LOCAL_MESSAGE(troupe_master_local, PartRun)
TROUPE_LOCAL_MESSAGE(troupe_master_local, BeginStep)
TROUPE_LOCAL_MESSAGE(troupe_master_local, StepFinished)
TROUPE_LOCAL_MESSAGE(troupe_master_local, ClientGraphBuilt)
TROUPE_LOCAL_MESSAGE(troupe_master_local, EndLateSteps)
TROUPE_LOCAL_MESSAGE(troupe_master_local, DeadlinePassed)
TROUPE_LOCAL_MESSAGE(troupe_master_local, StopWaiting)
TROUPE_LOCAL_MESSAGE(troupe_master_local, EndStep)
TROUPE_LOCAL_MESSAGE(troupe_master_local, SessionChanged)
TROUPE_LOCAL_MESSAGE(troupe_master_local, RenewOpening)
TROUPE_LOCAL_MESSAGE(troupe_master_local, FeedStep)
TROUPE_LOCAL_MESSAGE(troupe_master_local, StepFetched)
CAF_END_TYPE_ID_BLOCK(troupe_master_local)
