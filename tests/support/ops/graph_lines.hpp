// GraphLines: a graph in text form that a test runs node by node, with state that lasts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "tests/support/ops/internal/text_mutants.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {

struct GraphLines {
  Interpreter interpreter;
  std::string all; ///< the lines so far
  std::vector<LinesRun> runs;

  GraphLines() = default;
  GraphLines(const GraphLines&) = delete;
  ~GraphLines() { run_text_mutants(all, runs); }

  void add(std::string_view lines) { str_append(all, lines, "\n"); }
  /// "ok" and the values of the fetches as literals, or the error.
  std::string run(const std::vector<std::string>& fetches) {
    runs.push_back({all.size(), fetches});
    auto graph = parse_graph(all, op_library().ops);
    if (!graph.ok())
      return graph.status().to_string();
    auto values = interpreter.run(*graph, {}, fetches);
    if (!values.ok())
      return values.status().to_string();
    std::string out = "ok";
    for (const Tensor& value : *values)
      if (value.has_value())
        str_append(out, " ", value.to_string(100));
    return out;
  }
  /// Whether the run fails with a text that holds this.
  bool fails(const std::vector<std::string>& fetches, std::string_view text) {
    const std::string said = run(fetches);
    return !said.starts_with("ok") && said.find(text) != std::string::npos;
  }
};

} // namespace troupe::testing
