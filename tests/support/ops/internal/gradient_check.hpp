// The gradient of one node against central differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/ops/internal/case_node.hpp"

namespace troupe::testing {

/// Differentiates sum(w * y) for fixed pseudo-random w over the floating outputs of the op's first
/// declared output, with respect to `wanted` (empty: every plain floating input), twice: with
/// static shapes known and unknown. Computes in double where the op allows it. What differs, in a
/// sentence, or nothing. At most 48 elements of each input are moved.
std::optional<std::string>
check_gradient(const OpSchema& schema, const std::vector<CaseInput>& inputs,
               const std::vector<std::pair<std::string, AttrValue>>& attrs,
               std::vector<int> wanted);

} // namespace troupe::testing
