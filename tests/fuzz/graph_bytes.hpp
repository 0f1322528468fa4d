// What both forms of a GraphDef must keep: whatever is read is a sound graph, and reads back equal.
#pragma once

#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/test_ops.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"

namespace troupe::fuzz {

inline void check_graph_bytes(std::string_view bytes) {
  static const OpRegistry ops = test_ops();
  ImportOptions options{.ignore_unknown_attrs = bytes.size() % 2 == 0,
                        .check_shapes = true,
                        .limits = {std::size_t{1} << 20},
                        .max_outputs = 100'000};
  auto graph = read_graph_bytes(bytes, ops, options);
  if (!graph.ok()) {
    TROUPE_CHECK(!graph.status().message().empty(), "a refusal says why");
    return;
  }
  TROUPE_CHECK(verify(*graph).ok(), "what is read is a sound graph");
  std::string binary = export_graph(*graph);
  auto back = read_graph_bytes(binary, ops, options);
  if (back.status().code() == Code::resource_exhausted)
    return; // what filled a tensor of the first is written out in the second
  TROUPE_CHECK(back.ok(), "what is written is read");
  TROUPE_CHECK(export_graph(*back) == binary, "and is the same");
}

} // namespace troupe::fuzz
