// Runs ops one after the other in one step, for values that no literal writes: lists and handles.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/tensor/literal.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/internal/mutants.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe::list::testing {

inline Tensor lit(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return *std::move(tensor);
}

using Attrs = std::vector<std::pair<std::string, AttrValue>>;

/// Inputs are handed over: who keeps no copy lets the op change them.
class OpRunner {
public:
  Result<std::vector<Tensor>> try_run(const std::string& op, std::vector<Tensor> inputs,
                                      const Attrs& attrs = {}) {
    const OpSchema* schema = op_library().ops.find(op);
    REQUIRE_MESSAGE(schema, op);
    std::vector<troupe::testing::CaseInput> given;
    for (const Tensor& input : inputs)
      given.push_back({.dtype = input.dtype(), .value = input});
    troupe::testing::run_mutants(*schema, std::to_string(++calls_), given, attrs,
                                 troupe::testing::SaidShapes::repeat);
    TROUPE_ASSIGN(const auto node, troupe::testing::make_case_node(*schema, given, attrs));
    std::vector<std::vector<PartialShape>> inferred;
    for (const auto& [shapes, values] : {std::pair{false, false}, {true, false}, {true, true}}) {
      TROUPE_ASSIGN(auto one, troupe::testing::infer_case_shapes(node, given, shapes, values));
      inferred.push_back(std::move(one));
    }
    given.clear();
    TROUPE_ASSIGN(const KernelNode kernel,
                  bind_kernel(op_library().kernels, "node", *schema, node.attrs, device.device()));
    std::vector<Entry> entries;
    for (Tensor& input : inputs)
      entries.push_back({std::move(input), nullptr});
    TROUPE_ASSIGN(auto outputs,
                  troupe::testing::run_kernel(kernel, device.step(), std::move(entries), {}));
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      out.push_back(outputs[i].tensor);
      for (const auto& shapes : inferred)
        CHECK_MESSAGE(shapes[i].is_compatible_with(out[i].shape()), op, " output ", i, " has ",
                      out[i].shape().to_string(), ", inferred ", shapes[i].to_string());
    }
    return out;
  }
  /// Inputs that nobody else holds: a braced list keeps copies until its statement has ended.
  template <class... Tensors>
  static std::vector<Tensor> owned(Tensors... tensors) {
    std::vector<Tensor> out;
    (out.push_back(std::move(tensors)), ...);
    return out;
  }
  std::vector<Tensor> run_all(const std::string& op, std::vector<Tensor> inputs,
                              const Attrs& attrs = {}) {
    auto out = try_run(op, std::move(inputs), attrs);
    REQUIRE_MESSAGE(out.ok(), op, ": ", out.status().to_string());
    return *std::move(out);
  }
  Tensor run(const std::string& op, std::vector<Tensor> inputs, const Attrs& attrs = {}) {
    return run_all(op, std::move(inputs), attrs).at(0);
  }
  std::string text(const std::string& op, std::vector<Tensor> inputs, const Attrs& attrs = {}) {
    return to_literal(run(op, std::move(inputs), attrs));
  }
  /// The error's text, "" where there is none.
  std::string error(const std::string& op, std::vector<Tensor> inputs, const Attrs& attrs = {}) {
    auto out = try_run(op, std::move(inputs), attrs);
    return out.ok() ? "" : out.status().message();
  }

  troupe::testing::TestDevice device;

private:
  int calls_ = 0;
};

} // namespace troupe::list::testing
