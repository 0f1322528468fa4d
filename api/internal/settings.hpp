// A session's and a step's options, checked and put into the messages' words.
#pragma once

#include "actors/protocol/local/master.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

/// INVALID_ARGUMENT or UNIMPLEMENTED naming an option that would change what a session does and
/// that we do not have: nothing that was asked for is dropped in silence. Hints about threads,
/// memory and GPUs are those of the node's configuration and pass.
Result<SessionSettings> settings_of(const SessionOptions& options, std::int64_t longest_ms);
/// The same for a step's options.
Status check_options(const RunOptions& options);
/// A limit as messages carry it: microseconds, 0 for none, `longest_ms` at most.
std::int64_t limit_us(std::int64_t limit_ms, std::int64_t longest_ms);

} // namespace troupe
