// What tests of single passes share: arithmetic for constants, and a graph before and after passes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/optimize.hpp"

namespace troupe {

/// Knows how to negate, add and take a variable number of terms, for float32.
class Arithmetic final : public ConstantEvaluator {
public:
  bool can_evaluate(const Node& node) const override {
    return node.is_op("Neg") || node.is_op("Add") || node.is_op("RandomUniform");
  }
  Result<std::vector<Tensor>> evaluate(const Node& node, std::span<const Tensor> in) override {
    ++calls;
    if (in[0].dtype() != DType::float32)
      return unimplemented("only float32 is computed here");
    Tensor out = in[0].deep_copy();
    for (std::size_t i = 0; i < static_cast<std::size_t>(out.num_elements()); ++i) {
      float& x = out.mutable_data<float>()[i];
      x = node.is_op("Neg") ? -x : x + in[1].data<float>()[i];
    }
    return std::vector<Tensor>{out};
  }
  int calls = 0;
};

inline Graph rewritten(const OpRegistry& ops, std::string_view text, OptimizeOptions options,
                       std::vector<PassTiming>* timings = nullptr) {
  Graph graph = graph_of(text, ops);
  options.verify = true;
  Status status = optimize(graph, options, timings);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return graph;
}

/// `fetch` is preserved; only the passes of `only` run, and all if that is empty.
inline void becomes(std::string_view before, std::string_view after,
                    std::vector<std::string> only = {}, ConstantEvaluator* evaluator = nullptr) {
  OpRegistry ops = rewriting_test_ops();
  OptimizeOptions options;
  options.preserve = {"fetch", "fed"};
  options.evaluator = evaluator;
  for (const Pass& pass : all_passes())
    if (!only.empty() && std::ranges::find(only, pass.name) == only.end())
      options.disabled.emplace_back(pass.name);
  check_text(rewritten(ops, before, options), after);
}

} // namespace troupe
