// Convolutions on GPUs by cuDNN, of one group; sizes are at least 1. Each gives false where cuDNN
// is not to be had, refuses the sizes, or lacks memory: then nothing was computed, and the caller
// does without.
#pragma once

#include "kernels/arith/conv.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::nn {

Result<bool> convolve_by_dnn(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                             const Tensor& filter, Tensor& y);
/// The gradients by the images and by the filter.
Result<bool> convolve_back_by_dnn(KernelContext& c, const arith::Conv2DShape& s,
                                  const Tensor& filter, const Tensor& dy, Tensor& dx);
Result<bool> filter_gradient_by_dnn(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                                    const Tensor& dy, Tensor& dfilter);

} // namespace troupe::nn
