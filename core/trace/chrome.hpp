// Chrome trace: step statistics as the JSON that chrome://tracing and Perfetto show.
#pragma once

#include <string>

#include "core/trace/step_stats.hpp"

namespace troupe {

/// One process for each device, one complete event for each span, named after its op; node,
/// thread, bytes and detail are its arguments. Spans that overlap in time lie in lanes of their
/// own. Text that is not UTF-8 is repaired with replacement characters.
std::string to_chrome_trace(const StepStats& stats);

} // namespace troupe
