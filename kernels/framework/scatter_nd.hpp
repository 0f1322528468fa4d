// What the ops of the ScatterNd family, on tensors and on variables, ask of their inputs.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/tensor/shape.hpp"

namespace troupe {

/// What all functions of the family require before they write, in TensorFlow's words: a tensor of
/// rank 1 or more, no updates for what is empty, updates of shape indices.shape[:-1] +
/// params.shape[depth:], and an index of one to seven dimensions. Indices of rank 1 are as many
/// indices of one dimension. INVALID_ARGUMENT.
Status check_scatter_nd(const Shape& params, const Shape& indices, const Shape& updates);

/// Attribute bad_indices_policy: whether indices outside are passed over. INVALID_ARGUMENT for a
/// policy that is none.
Result<bool> ignores_bad_indices(const std::string& policy);

} // namespace troupe
