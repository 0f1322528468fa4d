// Sparse tensors one by one: cut out of a batch by its first dimension, and put together again.
#pragma once

#include <vector>

#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse {

/// One sparse tensor of its own: int64 indices and shape.
struct Part {
  Tensor indices, values, shape;
};

/// Inputs 0 to 2 as a part. INVALID_ARGUMENT "Input indices should be a matrix but received shape
/// …".
Result<Part> input_part(KernelContext& c);
/// One part for each index of the first dimension. INVALID_ARGUMENT for a rank below 2, entries
/// beyond the shape or out of order. `take` gets them in order.
Status cut(KernelContext& c, const Part& batch, FunctionView<Status(Part)> take);
/// Outputs 0 to 2: the parts as entries of a tensor with the dimensions `outer` in front; as large
/// as the largest part. What ranks that differ are called, and how many dimensions are counted with
/// them, is the last two arguments'. INVALID_ARGUMENT for parts of other dtypes, ranks or shapes
/// than they should have.
Status give_joined(KernelContext& c, const std::vector<Part>& parts, const Dims& outer,
                   const char* of_rank = "shape", int ahead = 0);

} // namespace troupe::sparse
