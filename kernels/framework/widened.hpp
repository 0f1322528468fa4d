// Kernels that compute in another dtype than their tensors': half and bfloat16 in float, complex64
// in complex128, small integers in int32 or int64. A result is rounded once.
#pragma once

#include "kernels/framework/context.hpp"

namespace troupe {

/// The tensor in dtype `wide`; itself where that is its own.
Result<Tensor> widened(KernelContext& c, const Tensor& tensor, DType wide);
/// In the dtype that its elements are computed in (arith::computed_in).
Result<Tensor> widened(KernelContext& c, const Tensor& tensor);
/// Memory for a result in that dtype: output `i` itself where it has the dtype.
Result<Tensor> allocate_widened(KernelContext& c, int i, const Shape& shape);
/// Rounds such a result into output `i`; nothing to do where it is the output.
Status narrow(KernelContext& c, int i, const Tensor& wide);

/// Runs `compute` on a context in which inputs and outputs have wide dtypes (arith::widened_dtype),
/// and rounds the outputs. With `all`, every input and output has that dtype.
Status compute_widened(KernelContext& c, KernelFn compute, DType all = DType::invalid);

/// The same as a kernel, for the dtypes that `compute` itself does not take.
template <KernelFn compute>
Status in_wider(KernelContext& c) {
  return compute_widened(c, compute);
}

} // namespace troupe
