// A session's and a step's options, checked and put into the messages' words.
#pragma once

#include "actors/protocol/local/master.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

/// INVALID_ARGUMENT or UNIMPLEMENTED naming an option that would change what a session does and
/// that we do not have: nothing that was asked for is dropped in silence. Hints about threads,
/// memory and GPUs are those of the node's configuration and pass.
Result<SessionSettings> settings_of(const SessionOptions& options, std::int64_t longest_ms);
/// The same for a step's options, in a session with so many thread pools of its own.
Status check_options(const RunOptions& options, std::size_t num_thread_pools = 0);
/// Whether a step may run without the actors: not if it is traced or watched, or asked for its
/// partitions or for what it allocates.
bool may_run_directly(const RunOptions& options);
/// Of a session on a cluster: INVALID_ARGUMENT for threads of its own.
Status refuse_own_threads(const SessionOptions& options);
/// The sizes of a session's own thread pools.
Status check_thread_pools(const SessionOptions& options);
/// What a step records and how long it may take.
void put_options(const RunOptions& options, std::int64_t longest_ms, RunStep& to);
void put_options(const RunOptions& options, std::int64_t longest_ms, RunCallable& to);
/// A limit as messages carry it: microseconds, 0 for none, `longest_ms` at most.
std::int64_t limit_us(std::int64_t limit_ms, std::int64_t longest_ms);

} // namespace troupe
