// What the ops of the ScatterNd family, on tensors and on variables, ask of their inputs.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/framework/context.hpp"

namespace troupe {

/// What all functions of the family require before they write, in TensorFlow's words: a tensor of
/// rank 1 or more, no updates for what is empty, updates of shape indices.shape[:-1] +
/// params.shape[depth:], and an index of one to seven dimensions. Indices of rank 1 are as many
/// indices of one dimension. INVALID_ARGUMENT.
Status check_scatter_nd(const Shape& params, const Shape& indices, const Shape& updates);

/// Attribute bad_indices_policy: whether indices outside are passed over. INVALID_ARGUMENT for a
/// policy that is none.
Result<bool> ignores_bad_indices(const std::string& policy);

/// Which rows of a tensor indices [begin, end) name, into `where`, -1 for what is outside; returns
/// the last that is, or -1. `indices` are of rank 1 or more and of 16-bit integers or int32 or
/// int64; each names leading dimensions of `shape`.
std::int64_t find_nd_rows(const Tensor& indices, const Shape& shape, std::int64_t begin,
                          std::int64_t end, std::int64_t* where);

/// Copies the rows that indices name, `row` elements each and no objects, one after the other;
/// returns the last index that is outside, or -1. With `ignore` such rows become 0, else they stay
/// as they are.
std::int64_t gather_nd_rows(KernelContext& c, const Tensor& params, const Tensor& indices,
                            std::int64_t row, bool ignore, Tensor& out);

} // namespace troupe
