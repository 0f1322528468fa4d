// What follows from a node's inputs outside a graph: shapes of its outputs, attrs left unsaid.
#pragma once

#include <span>
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

/// Adds to `attrs` what the dtypes and the number of the inputs say: the dtype attr of an input,
/// the number of a repeated one, the types of a list. DType::invalid stands for an input not known
/// yet. Attrs already there stay. What cannot be told (two open lists, the wrong number of inputs)
/// is left out: checks that follow name it.
void infer_attrs(const OpSchema& schema, std::span<const DType> input_types, AttrMap& attrs);

} // namespace troupe
