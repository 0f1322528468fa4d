// Convolutions on GPUs, by cuDNN where it computes them. Else the patches that the filter sees, as
// rows of a matrix, and a product: images are taken several at a time, as many as bring the patches
// to some tens of megabytes. A filter of one pixel that goes over all of them is always a product.
#pragma once

#include "kernels/arith/conv.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::nn {

/// y of x and filter, of one group; sizes are at least 1.
Status convolve_on_gpu(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                       const Tensor& filter, Tensor& y);
/// The gradients by the images and by the filter.
Status convolve_back_on_gpu(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                            const Tensor& dy, Tensor& dx);
Status filter_gradient_on_gpu(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                              const Tensor& dy, Tensor& dfilter);

} // namespace troupe::nn
