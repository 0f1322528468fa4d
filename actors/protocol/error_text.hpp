// CAF's errors in words for people, who know neither its names nor its numbers.
#pragma once

#include <string>

#include <caf/fwd.hpp>

namespace troupe {

/// A clause such as "it was killed" or "the connection was closed before the other side had
/// greeted". An error that was made from a Status (actors/protocol/status.hpp) gives the Status's
/// message.
std::string error_text(const caf::error& error);

/// Whether an actor that ended with this reason was ended by a fault of its own process: it was
/// killed, or an exception escaped it. Else it ended in order, has said why, or it is its
/// connection that is gone.
bool is_fault(const caf::error& reason);

} // namespace troupe
