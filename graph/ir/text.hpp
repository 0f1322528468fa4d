// The text form of graphs, for tests, the REPL and people. One node a line:
//
//   # comment
//   a = Const[dtype=DT_FLOAT, value=f32[2] 1 2]()
//   b = Placeholder[dtype=DT_FLOAT, shape=[?,2]]() @"/job:ps/task:0"
//   c = AddV2(a, b:0) ^d on "/job:ps/replica:0/task:0/device:CPU:0"
//   d = NoOp()
//
// that is: name, op, attrs in brackets, data inputs in parentheses, then in any order the requested
// device (@), control inputs (^) and the assigned device (on). Nodes may be named before their
// line. Attrs that the inputs determine, or that have their default, may be left out. Values: `3`,
// `0.5`, `true`, `"text"` (C's escapes), `DT_INT32` or `int32`, `[1, 2]`, `$T` (placeholder),
// `{shape [2,?]}`, `{tensor f32[] 1}`, `{func f[T=DT_FLOAT]}`; the braces and their word may be
// left out where the op says what is wanted.
#pragma once

#include <string>
#include <string_view>

#include "graph/ir/graph.hpp"

namespace troupe {

/// INVALID_ARGUMENT "line 3, column 7: …" for what cannot be read, and for whatever `Graph::add`
/// refuses, a name without a node, a name twice, or a cycle. Ids follow the lines.
Result<Graph> parse_graph(std::string_view text, const OpRegistry& registry);

/// Adds the lines to a graph, whose nodes they may use. On an error the graph is unchanged.
Status parse_into(std::string_view text, Graph& graph);

/// Reads back as an equal graph. Nodes in order of id, attrs in order of name, without those that
/// the inputs or the defaults say. Tensors longer than `max_elements` (-1: none) are cut with "…",
/// and then it does not read back.
std::string to_text(const Graph& graph, std::int64_t max_elements = -1);
/// One node's line, without line end.
std::string to_text(const Graph& graph, const Node& node, std::int64_t max_elements = -1);

} // namespace troupe
