// The executor: one device's part of one step.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct CancelExecutor;
struct DeviceRecords;
struct EdgeTaken;
struct ExecutePart;
struct ExplainPart;
struct KernelCompleted;
struct NextSlice;

/// The EXECUTOR: runs one (step, device partition) at a time; owns its state alone.
///
///   resting ──ExecutePart──▶ running ──ended well──▶ resting
///                               └──error──▶ ended
using ExecutorActor = TreeActor::extend<
    // Sends PartExecuted to the sender, a graph manager that watches it, when the part has ended,
    // well or not.
    caf::reacts_to<ExecutePart>,
    // Internal: the next time slice.
    caf::reacts_to<NextSlice>, caf::reacts_to<KernelCompleted>, caf::reacts_to<EdgeTaken>,
    // One bounded scan.
    caf::replies_to<ExplainPart>::with<DeviceRecords>, caf::reacts_to<CancelExecutor>>;

} // namespace troupe
