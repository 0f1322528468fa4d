// A function as a graph of its own, for whoever runs it as it is instead of lowering its calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/functions/lower.hpp"
#include "graph/ir/functions.hpp"
#include "graph/ir/graph.hpp"

namespace troupe {

/// `_Arg` and `_Retval` nodes (attribute "index") are its arguments and results.
struct FunctionGraph {
  Graph graph;
  std::vector<DType> args, results;
  std::vector<std::string> effects; ///< stateful nodes, which run although no result needs them
};

/// The body, lowered; calls of the function within itself stay. NOT_FOUND, INVALID_ARGUMENT and
/// RESOURCE_EXHAUSTED as lower_functions.
Result<FunctionGraph> function_graph(const FunctionRef& function,
                                     std::shared_ptr<const FunctionLibrary> library,
                                     const OpRegistry& registry, LowerOptions options = {});

} // namespace troupe
