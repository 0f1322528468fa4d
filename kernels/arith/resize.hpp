// Images of another size, a row at a time: weighted sums of the pixels of a row, and of rows.
// Pixels lie in turn, each with its channels.
#pragma once
#include <cstdint>

namespace troupe::arith {

/// Where the pixels of a row of another width come from. Pixel x is made of those whose channels
/// begin at elements at[k] of a row, for k in [starts[x], starts[x + 1]), which has at least one.
struct ResizeColumns {
  int64_t width, channels;
  const int64_t* starts;
  const int64_t* at;
  const float* weights;
};

/// Pixel x of `out` is the sum of weights[k] times the pixel at at[k], added in order.
void weigh_columns(const ResizeColumns& columns, const float* row, float* out);

/// The same for two of each, as a + (b - a) * weight of b.
void blend_columns(const ResizeColumns& columns, const float* row, float* out);

/// Adds weights[k] times pixel x of `grads` times `factor` to the pixel at at[k]: what
/// weigh_columns read.
void spread_columns(const ResizeColumns& columns, const float* grads, float factor, float* row);

/// out[i] is the sum of weights[k] * rows[k][i], added in order, times `scale`; count is at least
/// 1.
void weigh_rows(const float* const* rows, const float* weights, int64_t count, float scale,
                int64_t n, float* out);

/// out[i] = top[i] + (bottom[i] - top[i]) * part.
void blend_rows(const float* top, const float* bottom, float part, int64_t n, float* out);

} // namespace troupe::arith
