// Writes C++ that adds a node of an op: a declaration with its documentation, and a definition.
#pragma once

#include <string>
#include <vector>

#include "graph/op/schema.hpp"

namespace troupe {

/// The functions of all `ops`, in their order.
struct OpFunctions {
  std::string header;
  std::string source; ///< includes the header as "api/ops.hpp"
};

/// Attrs that the inputs determine do not appear; those with a default are members of a struct,
/// the others parameters behind the inputs.
OpFunctions emit_op_functions(const std::vector<const OpSchema*>& ops);

/// The C++ expression of an attr's default; a leading "=" is the caller's. Empty for a value that
/// is best left unsaid (a tensor).
std::string cpp_value(const AttrValue& value, AttrType type);

} // namespace troupe
