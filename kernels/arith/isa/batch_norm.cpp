// Batch normalisation: tiles of some rows by some channels, small enough to be read twice from the
// nearest cache. Sums run in f32 over the rows of a tile and are added in f64.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

constexpr int64_t tile_rows = 64, tile_width = 64;

TROUPE_INLINE int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/// Sums F over the rows of a tile, `width` channels at a time: in registers where that is constant.
template <class F>
TROUPE_INLINE void sum_tile(int64_t rows, int64_t width, float* sums, F value) {
  if (width == tile_width) {
    float lanes[tile_width] = {};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < tile_width; ++c)
        lanes[c] += value(r, c);
    for (int64_t c = 0; c < tile_width; ++c)
      sums[c] = lanes[c];
    return;
  }
  for (int64_t c = 0; c < width; ++c)
    sums[c] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < width; ++c)
      sums[c] += value(r, c);
  }
}

} // namespace

void batch_moments(const float* x, int64_t channels, int64_t begin, int64_t end, double* mean,
                   double* deviation) {
  for (int64_t c = 0; c < channels; ++c)
    mean[c] = deviation[c] = 0;
  for (int64_t r0 = begin; r0 < end; r0 += tile_rows) {
    const int64_t rows = least(tile_rows, end - r0);
    const double before = static_cast<double>(r0 - begin), now = static_cast<double>(rows);
    for (int64_t c0 = 0; c0 < channels; c0 += tile_width) {
      const int64_t width = least(tile_width, channels - c0);
      const float* in = x + r0 * channels + c0;
      float sums[tile_width], squares[tile_width], shift[tile_width];
      sum_tile(rows, width, sums, [=](int64_t r, int64_t c) { return in[r * channels + c]; });
      for (int64_t c = 0; c < width; ++c)
        shift[c] = sums[c] / static_cast<float>(rows);
      const float* middle = shift;
      sum_tile(rows, width, squares, [=](int64_t r, int64_t c) {
        const float d = in[r * channels + c] - middle[c];
        return d * d;
      });
      for (int64_t c = 0; c < width; ++c) {
        // The squares are around `shift`, which is the tile's mean but for its rounding.
        const double own = static_cast<double>(sums[c]) / now;
        const double off = own - static_cast<double>(shift[c]);
        const double between = own - mean[c0 + c];
        deviation[c0 + c] += static_cast<double>(squares[c]) - off * off * now +
                             between * between * before * now / (before + now);
        mean[c0 + c] += between * now / (before + now);
      }
    }
  }
}

void batch_normalise(const float* x, const float* mean, const float* factor, const float* offset,
                     bool relu, int64_t channels, int64_t begin, int64_t end, float* y) {
  for (int64_t r = begin; r < end; ++r) {
    const float* in = x + r * channels;
    float* out = y + r * channels;
    if (relu) {
      TROUPE_INDEPENDENT
      for (int64_t c = 0; c < channels; ++c) {
        const float value = (in[c] - mean[c]) * factor[c] + offset[c];
        out[c] = value < 0.0f ? 0.0f : value;
      }
    } else {
      TROUPE_INDEPENDENT
      for (int64_t c = 0; c < channels; ++c)
        out[c] = (in[c] - mean[c]) * factor[c] + offset[c];
    }
  }
}

void batch_norm_grad_sums(const float* dy, const float* x, const float* mean, int64_t channels,
                          int64_t begin, int64_t end, double* sum_dy, double* sum_product) {
  for (int64_t c = 0; c < channels; ++c)
    sum_dy[c] = sum_product[c] = 0;
  for (int64_t r0 = begin; r0 < end; r0 += tile_rows) {
    const int64_t rows = least(tile_rows, end - r0);
    for (int64_t c0 = 0; c0 < channels; c0 += tile_width) {
      const int64_t width = least(tile_width, channels - c0);
      const float* gradient = dy + r0 * channels + c0;
      const float* in = x + r0 * channels + c0;
      const float* middle = mean + c0;
      float sums[tile_width], products[tile_width];
      sum_tile(rows, width, sums, [=](int64_t r, int64_t c) { return gradient[r * channels + c]; });
      sum_tile(rows, width, products, [=](int64_t r, int64_t c) {
        return gradient[r * channels + c] * (in[r * channels + c] - middle[c]);
      });
      for (int64_t c = 0; c < width; ++c) {
        sum_dy[c0 + c] += static_cast<double>(sums[c]);
        sum_product[c0 + c] += static_cast<double>(products[c]);
      }
    }
  }
}

void batch_norm_grad(const float* dy, const float* x, const float* mean, const float* of_dy,
                     const float* of_x, const float* constant, int64_t channels, int64_t begin,
                     int64_t end, float* dx) {
  for (int64_t r = begin; r < end; ++r) {
    const float* gradient = dy + r * channels;
    const float* in = x + r * channels;
    float* out = dx + r * channels;
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < channels; ++c)
      out[c] = gradient[c] * of_dy[c] + ((in[c] - mean[c]) * of_x[c] + constant[c]);
  }
}

} // namespace troupe::arith::TROUPE_ISA
