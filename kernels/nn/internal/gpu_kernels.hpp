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
/// What places of elements are divided by.
struct WindowDividers {
  Divider channels, in_h, in_w, out_h, out_w, window_h, window_w, stride_h, stride_w;
  constexpr explicit WindowDividers(const Windows& w)
      : channels(w.channels), in_h(w.in_h), in_w(w.in_w), out_h(w.out_h), out_w(w.out_w),
        window_h(w.window_h), window_w(w.window_w), stride_h(w.stride_h), stride_w(w.stride_w) {}
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
inline constexpr Kernel<void(Windows windows, WindowDividers by, const void* images, void* patches,
                             std::int64_t n)>
    take_patches{images::nn_conv2d, "take_patches"};
/// images = what the patches hold of each element, summed; n elements of the images.
inline constexpr Kernel<void(Windows windows, WindowDividers by, const void* patches, void* images,
                             std::int64_t n)>
    sum_patches{images::nn_conv2d, "sum_patches"};

/// n elements of y.
inline constexpr Kernel<void(Windows windows, WindowDividers by, const void*x, void*y,
                             std::int64_t n)>
    max_pool{images::nn_pool, "max_pool"}, avg_pool{images::nn_pool, "avg_pool"};
/// For each of n windows the place of its first largest element within it, as int32: row * window_w
/// + column; -1 of a window in the padding alone.
inline constexpr Kernel<void(Windows windows, WindowDividers by, const void* x, void* places,
                             std::int64_t n)>
    largest_places{images::nn_pool, "largest_places"};
/// n elements of dx: of each window the element at its place gets dy.
inline constexpr Kernel<void(Windows windows, WindowDividers by, const void* places, const void* dy,
                             void* dx, std::int64_t n)>
    max_pool_grad{images::nn_pool, "max_pool_grad"};
inline constexpr Kernel<void(Windows windows, WindowDividers by, const void* dy, void* dx,
                             std::int64_t n)>
    avg_pool_grad{images::nn_pool, "avg_pool_grad"};

// Batch normalisation: x, y, dx, dy are f32, f16 or bf16, all else is f32. The channel of element i
// is i / inner % channels.

/// For each channel two sums over its elements, in parts: each row of blocks takes `share` of them,
/// row r gives sums[r, 0, channel] and sums[r, 1, channel]. Without dy: of x - s and its square,
/// where s is the channel's first element. With dy: of dy and dy * (x - mean). Here inner is 1: x
/// is rows of channels. A block of 256 threads takes `columns` channels, or with in_runs so many
/// runs of four.
inline constexpr Kernel<void(const void* dy, const void* x, const void* mean, void* sums,
                             std::int64_t rows, std::int64_t channels, std::int64_t share,
                             int columns, bool in_runs)>
    channel_sums{images::nn_fused_batch_norm, "channel_sums"};
/// The same for any inner; a block takes a channel, `count` elements in all.
inline constexpr Kernel<void(const void* dy, const void* x, const void* mean, void* sums,
                             std::int64_t count, std::int64_t channels, Divider inner,
                             std::int64_t share)>
    plane_sums{images::nn_fused_batch_norm, "plane_sums"};
/// Joins the parts to mean and variance, of which `factor` goes into the running ones, and gives
/// factors = scale / sqrt(variance + epsilon). parts 0: the old moments are those.
inline constexpr Kernel<void(const void* sums, std::int64_t parts, const void* x,
                             std::int64_t inner, std::int64_t count, const void* old_mean,
                             const void* old_variance, const void* scale, float factor,
                             float epsilon, void* mean, void* variance, void* new_mean,
                             void* new_variance, void* factors, std::int64_t channels)>
    finish_moments{images::nn_fused_batch_norm, "finish_moments"};
/// Joins the parts to the gradients of scale and offset, and gives what dy, x - mean and 1 are
/// multiplied by in dx as factors[0], [1], [2]; count elements of a channel when training, else 0.
inline constexpr Kernel<void(const void* sums, std::int64_t parts, std::int64_t count,
                             const void* variance, const void* scale, float epsilon, void* dscale,
                             void* doffset, void* factors, std::int64_t channels)>
    finish_sums{images::nn_fused_batch_norm, "finish_sums"};
/// y = (x - mean) * factors + offset.
inline constexpr Kernel<void(const void* x, const void* mean, const void* factors,
                             const void* offset, void* y, Divider inner, Divider channels,
                             std::int64_t n)>
    normalise_images{images::nn_fused_batch_norm, "normalise_images"};
/// dx = dy * factors[0] + (x - mean) * factors[1] + factors[2].
inline constexpr Kernel<void(const void* dy, const void* x, const void* mean, const void* factors,
                             void* dx, Divider inner, Divider channels, std::int64_t n)>
    normalise_grad{images::nn_fused_batch_norm, "normalise_grad"};

} // namespace kernels
} // namespace troupe::gpu
