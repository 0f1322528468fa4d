// CAF's errors in words for people, who know neither its names nor its numbers.
#pragma once

#include <string>

#include <caf/fwd.hpp>

namespace troupe {

/// A clause such as "it was killed" or "the connection was closed before the other side had greeted".
/// An error that was made from a Status (actors/protocol/status.hpp) gives the Status's message.
std::string error_text(const caf::error& error);

} // namespace troupe
