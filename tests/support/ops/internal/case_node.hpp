// A row of a case table as a node with its inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ops/op_cases.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe::testing {

struct CaseInput {
  enum class Kind : std::uint8_t { value, variable, resource, dead };
  Kind kind = Kind::value;
  DType dtype = DType::invalid; ///< of the elements
  Tensor value;                 ///< none: a variable without value, or dead
};
/// INVALID_ARGUMENT for what the notation of OpCase does not have.
Result<CaseInput> parse_case_input(std::string_view text);

struct CaseNode {
  const OpSchema* schema = nullptr;
  AttrMap attrs; ///< complete
  NodeTypes types;
};
/// Attrs from the inputs, the row and the defaults; checks number and dtypes of the inputs.
Result<CaseNode> make_case_node(const OpSchema& schema, const std::vector<CaseInput>& inputs,
                                const std::vector<std::pair<std::string, AttrValue>>& attrs);

/// Shapes of the outputs as the shape function says. `with_shapes`: it is told the inputs' shapes,
/// `with_values`: also the values of plain inputs.
Result<std::vector<PartialShape>> infer_case_shapes(const CaseNode& node,
                                                    const std::vector<CaseInput>& inputs,
                                                    bool with_shapes, bool with_values);

/// The inputs as entries for one run on `device`, with variables and resources made anew.
std::vector<Entry> make_entries(const std::vector<CaseInput>& inputs, TestDevice& device);
/// The variable behind input i of such a run, or null.
std::shared_ptr<Variable> variable_of(const std::vector<CaseInput>& inputs,
                                      const std::vector<Entry>& entries, int i, TestDevice& device);

} // namespace troupe::testing
