// The shape function of ops that have no other word about their outputs than an attribute.
#pragma once

#include <vector>

#include "core/base/strings.hpp"
#include "graph/op/shape_context.hpp"

namespace troupe {

/// Each output as the list `output_shapes` says, if it is there. INVALID_ARGUMENT for a list of
/// another length than the outputs.
inline Status shape_by_attr(ShapeContext& c) {
  const auto shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (!shapes.ok())
    return {};
  if (static_cast<int>(shapes->size()) != c.num_outputs())
    return invalid_argument(str_cat("`output_shapes` must be the same length as `output_types` (",
                                    shapes->size(), " vs. ", c.num_outputs(), ")"));
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, (*shapes)[static_cast<std::size_t>(i)]));
  return {};
}

} // namespace troupe
