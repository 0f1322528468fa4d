// The kernels of kernels/nn/*.cu. All are there for f32, f64, f16 and bf16 unless they say
// otherwise.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage nn_softmax;
extern const cuda::CodeImage nn_conv2d;
extern const cuda::CodeImage nn_pool;
extern const cuda::CodeImage nn_fused_batch_norm;
} // namespace images

/// Sizes of a convolution or a pooling, NHWC; see arith::Conv2DShape.
struct Windows {
  std::int64_t in_h = 0, in_w = 0, channels = 0;
  std::int64_t window_h = 0, window_w = 0;
  std::int64_t out_h = 0, out_w = 0;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t pad_top = 0, pad_left = 0;
};

namespace kernels {

/// y = softmax of each row of x, or its logarithm. A block computes a row.
inline constexpr Kernel<void(bool is_log, const void* x, void* y, std::int64_t rows,
                             std::int64_t columns)>
    softmax{images::nn_softmax, "softmax"};
/// Loss of each row and the gradient by the logits. An operand's element is at row * its row stride
/// + column * its column stride.
inline constexpr Kernel<void(const void* logits, std::int64_t logits_row,
                             std::int64_t logits_column, const void* labels,
                             std::int64_t labels_row, std::int64_t labels_column, void* loss,
                             void* backprop, std::int64_t rows, std::int64_t columns)>
    cross_entropy{images::nn_softmax, "cross_entropy"};
/// The same with a class for each row. What is no class gives NaN.
inline constexpr Kernel<void(bool is_int64, const void* logits, const void* labels, void* loss,
                             void* backprop, std::int64_t rows, std::int64_t columns)>
    sparse_cross_entropy{images::nn_softmax, "sparse_cross_entropy"};

/// patches[image, i, j, di, dj, k] of n elements, zeros beyond the images' edges.
inline constexpr Kernel<void(Windows windows, const void* images, void* patches, std::int64_t n)>
    take_patches{images::nn_conv2d, "take_patches"};
/// images = what the patches hold of each element, summed; n elements of the images.
inline constexpr Kernel<void(Windows windows, const void* patches, void* images, std::int64_t n)>
    sum_patches{images::nn_conv2d, "sum_patches"};

/// n elements of y.
inline constexpr Kernel<void(Windows windows, const void* x, void* y, std::int64_t n)> max_pool{
    images::nn_pool, "max_pool"};
inline constexpr Kernel<void(Windows windows, const void* x, void* y, std::int64_t n)> avg_pool{
    images::nn_pool, "avg_pool"};
/// n elements of dx: of each window the first largest element gets dy.
inline constexpr Kernel<void(Windows windows, const void* x, const void* dy, void* dx,
                             std::int64_t n)>
    max_pool_grad{images::nn_pool, "max_pool_grad"};
inline constexpr Kernel<void(Windows windows, const void* dy, void* dx, std::int64_t n)>
    avg_pool_grad{images::nn_pool, "avg_pool_grad"};

// Batch normalisation: x, y, dx, dy are f32, f16 or bf16, all else is f32. The channel of element i
// is i / inner % channels.

/// out (f32) = (x - mean)^2; x itself where mean is null.
inline constexpr Kernel<void(const void* x, const void* mean, void* out, std::int64_t inner,
                             std::int64_t channels, std::int64_t n)>
    squares{images::nn_fused_batch_norm, "squares"};
/// out (f32) = dy * (x - mean); dy itself where x is null.
inline constexpr Kernel<void(const void* dy, const void* x, const void* mean, void* out,
                             std::int64_t inner, std::int64_t channels, std::int64_t n)>
    centred_products{images::nn_fused_batch_norm, "centred_products"};
/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset.
inline constexpr Kernel<void(const void* x, const void* mean, const void* variance,
                             const void* scale, const void* offset, float epsilon, void* y,
                             std::int64_t inner, std::int64_t channels, std::int64_t n)>
    normalise_images{images::nn_fused_batch_norm, "normalise_images"};
/// For each channel: new_mean and new_variance from the batch's, of which factor is taken, and the
/// old ones.
inline constexpr Kernel<void(const void* mean, const void* variance, const void* old_mean,
                             const void* old_variance, float factor, float unbias, void* new_mean,
                             void* new_variance, std::int64_t channels)>
    running_moments{images::nn_fused_batch_norm, "running_moments"};
/// dx from dy, x and the sums of dy and of dy * (x - mean) for each channel; count elements of each
/// channel when training, else 0.
inline constexpr Kernel<void(const void* dy, const void* x, const void* mean, const void* variance,
                             const void* scale, const void* sum_dy, const void* sum_product,
                             float epsilon, std::int64_t count, void* dx, std::int64_t inner,
                             std::int64_t channels, std::int64_t n)>
    normalise_grad{images::nn_fused_batch_norm, "normalise_grad"};
/// dscale /= sqrt(variance + epsilon).
inline constexpr Kernel<void(const void* variance, float epsilon, void* dscale,
                             std::int64_t channels)>
    scale_grad{images::nn_fused_batch_norm, "scale_grad"};

} // namespace kernels
} // namespace troupe::gpu
