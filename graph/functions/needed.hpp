// Which functions of its library a graph still needs once its calls are lowered: those that kernels
// run by themselves.
#pragma once

#include <memory>

#include "graph/ir/functions.hpp"
#include "graph/ir/graph.hpp"

namespace troupe {

/// The functions that nodes name as their op or in attributes, those that these name, and so on,
/// with their gradients. Null if there are none; the graph's own library if it is all of it. Names
/// that the library does not have are left out: who calls them fails.
std::shared_ptr<const FunctionLibrary> needed_functions(const Graph& graph);

/// The functions that an attribute names, also within the attributes of another.
void append_functions(const AttrValue& value, std::vector<FunctionRef>& to);

} // namespace troupe
