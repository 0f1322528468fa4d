// Compiler: from a graph to the program that a step runs.
#pragma once

#include <memory>

#include "actors/executor/internal/program.hpp"
#include "graph/ir/graph.hpp"

namespace troupe::program {

/// See Executable::compile.
Result<std::unique_ptr<Program>> compile(const Graph& graph, Device& device,
                                         const KernelRegistry& kernels);

} // namespace troupe::program
