// Status at the door of the actors: as a caf::error in answers, with nothing lost either way.
#pragma once

#include <caf/error.hpp>

#include "core/base/status.hpp"

namespace troupe {

/// Carries code, message, origin and derived flag. Requires !status.ok().
caf::error to_error(const Status& status);
/// What an actor got for an answer. CAF's own errors become canonical: a timeout DEADLINE_EXCEEDED,
/// a dead or unreachable actor UNAVAILABLE, a message it does not know UNIMPLEMENTED, the rest
/// INTERNAL; `what` (such as "RegisterGraph to /job:worker/…") begins their sentence.
Status to_status(const caf::error& error, std::string_view what = {});

} // namespace troupe
