// What a debugger is told beside the values of debug ops: graphs, and runs; in the files that a
// device may use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "storage/debug_dump/debug_dump.hpp"

namespace troupe {

class Device;

/// Writes a graph, or a run, to each folder of `urls` (file://) that the device allows.
/// PERMISSION_DENIED for other folders, UNIMPLEMENTED for other schemes.
Status tell_debugger_of_graph(const Device& device, const std::vector<std::string>& urls,
                              std::string_view graph_def);
Status tell_debugger_of_run(const Device& device, const std::vector<std::string>& urls,
                            const DumpedRun& run);

} // namespace troupe
