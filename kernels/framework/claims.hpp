// What a kernel may be said to do: the dtypes that it has and that the op's signature allows.
// Arithmetic often has more than an op.
#pragma once

#include <algorithm>
#include <vector>

#include "graph/op/schema.hpp"
#include "kernels/framework/kernel.hpp"

namespace troupe {

inline std::vector<DType> claimed_dtypes(const OpSchema& schema, const TypeConstraint& constraint) {
  std::vector<DType> out = constraint.dtypes;
  const auto def = std::ranges::find(schema.attrs, constraint.attr, &AttrDef::name);
  if (def != schema.attrs.end() && !def->allowed.empty())
    std::erase_if(out, [&](DType dtype) {
      return std::ranges::find(def->allowed, AttrValue(dtype)) == def->allowed.end();
    });
  return out;
}

} // namespace troupe
