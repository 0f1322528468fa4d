// What a debugger asks to watch becomes nodes of the graph. Plain; done on a compute thread.
#pragma once

#include <string>
#include <vector>

#include "graph/convert/options.hpp"
#include "graph/ir/graph.hpp"
#include "kernels/framework/kernel.hpp"

namespace troupe {

/// For each watched output `x:0` and its debug op k a node "__dbg_x:0_<k>_<op>" that reads it, and
/// that whoever reads the output waits for, so that the value is seen as it was before. A watch of
/// "*" is one of every output that no other watch names. Watches of what the graph does not have
/// are left out. Loops run one iteration at a time then.
///
/// FAILED_PRECONDITION, in TensorFlow's words, for a watch that is malformed, or an op that is
/// none, takes no such dtype, or has other attributes than "Op(name=value; …)" gives it, unless the
/// watch tolerates that. `graph` is one device's, `device` its full name.
Status insert_watches(Graph& graph, const std::string& device,
                      const std::vector<DebugWatch>& watches, const KernelRegistry& kernels);

/// The URLs of all watches, each once.
std::vector<std::string> urls_of(const std::vector<DebugWatch>& watches);

} // namespace troupe
