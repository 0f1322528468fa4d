// Signature of a run as it is typed:  y loss:0 -> train timeout=5s trace &
#pragma once

#include "tools/repl/statement.hpp"
#include "tools/repl/workspace.hpp"

namespace troupe {

/// Fetches, then `->` and targets; `timeout=DURATION`, `trace` and `&` (in the background) may
/// stand anywhere. What is quoted is a name: a node called trace is fetched as "trace" in quotes.
/// INVALID_ARGUMENT with a sentence for what is missing, twice or no duration.
Result<StepCommand> read_run(const Statement& statement);

/// Fetches and targets only.
Result<StepCommand> read_signature(const Statement& statement);

} // namespace troupe
