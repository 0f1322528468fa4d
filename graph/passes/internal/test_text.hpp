// Text graph in, text graph out: what the tests of passes share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"
#include "graph/passes/internal/test_ops.hpp"
#include "graph/passes/optimize.hpp"

namespace troupe {

inline Graph graph_of(std::string_view text, const OpRegistry& ops) {
  auto graph = parse_graph(text, ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  return *std::move(graph);
}

/// Lines without indentation and blank lines, sorted: the order of nodes says nothing.
inline std::string canonical_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::string_view line : str_split(text, '\n'))
    if (!str_trim(line).empty())
      lines.emplace_back(str_trim(line));
  std::ranges::sort(lines);
  return str_join(lines, "\n");
}

inline void check_text(const Graph& graph, std::string_view expected) {
  Graph wanted = graph_of(expected, graph.registry());
  CHECK(canonical_lines(to_text(graph)) == canonical_lines(to_text(wanted)));
  Status sound = verify(graph);
  CHECK_MESSAGE(sound.ok(), sound.to_string());
}

/// What one pass alone, among those that fuse, makes of `before`, without the names of the members;
/// "fetch" and "kept" are read from outside.
inline void check_fused(std::string_view pass, std::string_view before, std::string_view after) {
  OpRegistry ops = fusing_test_ops();
  OptimizeOptions options;
  options.preserve = {"fetch", "kept"};
  options.verify = true;
  for (const Pass& other : all_passes())
    if (other.name != pass)
      options.disabled.emplace_back(other.name);
  Graph graph = graph_of(before, ops);
  Status status = optimize(graph, options);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  for (Node* node : graph.nodes())
    node->attrs.erase("_members");
  check_text(graph, after);
}

} // namespace troupe
