// The step: one run of a client graph.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct BeginStep;
struct DeadlinePassed;
struct EdgeTaken;
struct EndStep;
struct ExplainStep;
struct FeedStep;
struct PartRun;
struct PeerLost;
struct StepExplained;
struct StopWaiting;

/// The STEP: one run of a client graph over its tasks, at a time. Starts every part, collects, lets
/// the first error win, cancels the rest, sweeps.
///
///   resting ──BeginStep──▶ running ──ended well, nothing of it under way──▶ resting
///                             └──otherwise──▶ ended
using StepActor = TreeActor::extend<
    // Sends StepFinished to the sender, a master session that watches it, when every part has ended
    // or the deadline has passed.
    caf::reacts_to<BeginStep>,
    // A part on another node has ended.
    caf::reacts_to<PartRun>,
    // Of a partial run: feeds; and a fetch, of which its master session is told.
    caf::reacts_to<FeedStep>, caf::reacts_to<EdgeTaken>,
    // Ends the step with this status.
    caf::reacts_to<EndStep>,
    // Asks every task that has not ended its part, for at most the explain budget. Fails: NOT_FOUND
    // when the step ends first.
    caf::replies_to<ExplainStep>::with<StepExplained>,
    // A task is gone.
    caf::reacts_to<PeerLost>,
    // Of its master session: the deadline has passed.
    caf::reacts_to<DeadlinePassed>,
    // Internal: cancelled parts have had their time to answer.
    caf::reacts_to<StopWaiting>>;

} // namespace troupe
