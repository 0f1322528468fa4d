// Shape inference of one node outside a graph.
#pragma once

#include <vector>

#include "graph/op/shape_context.hpp"

namespace troupe {

/// Shapes of the outputs from those of the inputs; `input_values` may be shorter than `inputs`, and
/// an entry without value means "not known to be constant". An op without a shape function gives
/// unknown shapes. INVALID_ARGUMENT from the shape function, or if the number of inputs is not the
/// one that `attrs` give.
Result<std::vector<PartialShape>> infer_shapes(const OpSchema& schema, const AttrMap& attrs,
                                               std::vector<PartialShape> inputs,
                                               std::vector<Tensor> input_values = {});

} // namespace troupe
