// Ops that TensorFlow has, whether this process has kernels for them or not: a graph that holds one
// is accepted, and only a step that runs it fails.
#pragma once

#include <string_view>

#include "graph/op/schema.hpp"

namespace troupe {

/// The schema of a public op of TensorFlow: signature and flags, without shape rule, gradient and
/// roles; null for other names. Read from the packed table on the first request for the op, and
/// kept for ever. Any thread.
const OpSchema* find_known_op(std::string_view name);

/// Names of all of them, sorted.
std::vector<std::string_view> known_op_names();

} // namespace troupe
