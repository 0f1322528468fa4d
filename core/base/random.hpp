// Random numbers for identities (incarnations, step ids, handles); not for graphs, whose numbers
// are Philox.
#pragma once

#include <cstdint>

namespace troupe {

/// Uniform, from the system's source; never 0. Any thread.
std::uint64_t random_id();

} // namespace troupe
