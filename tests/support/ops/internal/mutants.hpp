// Rows of case tables and of golden files with something changed: what users get wrong.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/ops/internal/case_node.hpp"

namespace troupe::testing {

/// Runs changed copies of a row: other values, dimensions, ranks, dtypes and attributes, extreme ones among
/// them. Each is computed, in agreement with the shape function and the declared dtypes, or refused in a
/// sentence; sanitizers see the rest. The changes depend on the row and its `name` alone.
/// TROUPE_MUTANTS in the environment says how many there are for each row; TROUPE_TELL_MUTANTS=1 prints each
/// before it runs, and how long slow ones took.
void run_mutants(const OpSchema& schema, std::string_view name,
                 const std::vector<CaseInput>& inputs,
                 const std::vector<std::pair<std::string, AttrValue>>& attrs);

} // namespace troupe::testing
