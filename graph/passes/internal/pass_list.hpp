// The generated list of passes, unordered.
#pragma once

#include "graph/passes/pass.hpp"

namespace troupe {

std::vector<Pass> listed_passes();

} // namespace troupe
