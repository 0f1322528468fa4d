// Random numbers for identities (incarnations, step ids, handles); not for graphs, whose numbers
// are Philox.
#pragma once

#include <cstdint>

namespace troupe {

/// Uniform, from the system's source; never 0. Any thread.
std::uint64_t random_id();

/// From now on this thread's numbers follow from `seed`: a simulation repeats itself.
void seed_random_ids(std::uint64_t seed);

} // namespace troupe
