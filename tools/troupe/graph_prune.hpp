// The part of a GraphDef that a run needs, so that what it does not need (savers, summaries,
// another model's head) may hold ops that this build lacks.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/dtype.hpp"

namespace troupe {

/// A tensor that the run feeds.
struct FedTensor {
  std::string name; ///< "x" or "x:0"
  DType dtype = DType::invalid;
};

/// Keeps what `wanted` (names of ops or tensors: "y", "y:0", "^y") is computed from; functions
/// stay. A fed node of which only output 0 is used becomes a Placeholder, so that what leads to it
/// goes; other fed nodes stay with their inputs. `bytes` is a GraphDef, binary or text; the answer
/// is one too, the same bytes if nothing changes. NOT_FOUND with the
/// nearest names for a node that is not there; INVALID_ARGUMENT for what is no name or no GraphDef.
Result<std::string> needed_part_of_graph(const std::string& bytes,
                                         const std::vector<std::string>& wanted,
                                         const std::vector<FedTensor>& fed);

} // namespace troupe
