// Batch normalisation of [rows, channels], f32. Sums are kept in double; ranges [begin, end) are
// rows.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// Mean and sum of squared deviations from it of each channel over the rows. In blocks that fit
/// into the nearest cache, whose moments are then joined: as exact as two passes, and one of them.
/// Both have `channels` elements; no rows give zeros.
void batch_moments(const float* x, int64_t channels, int64_t begin, int64_t end, double* mean,
                   double* deviation);

/// Joins the moments of `rows` and of `other_rows` rows into the first.
void join_moments(int64_t channels, int64_t rows, double* mean, double* deviation,
                  int64_t other_rows, const double* other_mean, const double* other_deviation);

/// y = (x - mean) * factor + offset, channel by channel, at least 0 with `relu`; y may be x.
void batch_normalise(const float* x, const float* mean, const float* factor, const float* offset,
                     bool relu, int64_t channels, int64_t begin, int64_t end, float* y);

/// Sums of dy and of dy * (x - mean), channel by channel; overwrites both.
void batch_norm_grad_sums(const float* dy, const float* x, const float* mean, int64_t channels,
                          int64_t begin, int64_t end, double* sum_dy, double* sum_product);

/// dx = dy * of_dy + (x - mean) * of_x + constant, channel by channel; dx may be dy or x.
void batch_norm_grad(const float* dy, const float* x, const float* mean, const float* of_dy,
                     const float* of_x, const float* constant, int64_t channels, int64_t begin,
                     int64_t end, float* dx);

} // namespace troupe::arith
