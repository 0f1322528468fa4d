// Batch normalisation of images whose channels are the last dimension, on the compute threads.
#pragma once

#include "kernels/arith/batch_norm.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::nn {

/// Images as [rows, channels], f32.
struct ChannelRows {
  std::int64_t rows = 0, channels = 0;
};

/// Mean and (biased) variance of each channel. At least one row.
Status moments(KernelContext& c, const ChannelRows& images, const float* x, float* mean,
               float* variance);

/// y = (x - mean) * factor + offset; y may be x.
void normalise(KernelContext& c, const ChannelRows& images, const float* x, const float* mean,
               const float* factor, const float* offset, bool relu, float* y);

/// Sums of dy and of dy * (x - mean) for each channel.
Status gradient_sums(KernelContext& c, const ChannelRows& images, const float* dy, const float* x,
                     const float* mean, float* sum_dy, float* sum_product);

/// dx = dy * of_dy + (x - mean) * of_x + constant; dx may be dy or x.
void gradient(KernelContext& c, const ChannelRows& images, const float* dy, const float* x,
              const float* mean, const float* of_dy, const float* of_x, const float* constant,
              float* dx);

} // namespace troupe::nn
