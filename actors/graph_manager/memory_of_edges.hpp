// Which memory values lie in on a device that has its own.
#pragma once

#include "core/base/status.hpp"

namespace troupe {

class Device;
class Graph;
class OpLibrary;

/// Kernels name what they read and write in host memory (`host_inputs`, `host_outputs`); all else
/// of theirs lies in the memory of their device, save objects. Where the two ends of an edge
/// differ, a node that copies is put between them: one for each value, whoever reads it. Nothing to
/// do for a device in host memory. NOT_FOUND where a node has no kernel for the device.
Status copy_between_memories(Graph& graph, Device& device, const OpLibrary& library);

} // namespace troupe
