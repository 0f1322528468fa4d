// A trace as `troupe run --trace` and the prompt's `timeline` write it, read back.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/trace/step_stats.hpp"

namespace troupe {

/// Chrome's trace format: complete events ("X") of named processes. INVALID_ARGUMENT for what is no
/// such JSON; events of other kinds are passed over.
Result<StepStats> parse_chrome_trace(std::string_view text);
/// NOT_FOUND for a file that cannot be read.
Result<StepStats> read_trace_file(const std::string& path);

} // namespace troupe
