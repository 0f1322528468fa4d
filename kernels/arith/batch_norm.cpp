// Forwards to the instruction set in use; joining moments needs none.
#include "kernels/arith/batch_norm.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

void batch_moments(const float* x, int64_t channels, int64_t begin, int64_t end, double* mean,
                   double* deviation) {
  isa_table().batch_moments(x, channels, begin, end, mean, deviation);
}

void join_moments(int64_t channels, int64_t rows, double* mean, double* deviation,
                  int64_t other_rows, const double* other_mean, const double* other_deviation) {
  const auto ours = static_cast<double>(rows), theirs = static_cast<double>(other_rows);
  if (other_rows == 0)
    return;
  for (int64_t c = 0; c < channels; ++c) {
    const double between = other_mean[c] - mean[c];
    deviation[c] += other_deviation[c] + between * between * ours * theirs / (ours + theirs);
    mean[c] += between * theirs / (ours + theirs);
  }
}

void batch_normalise(const float* x, const float* mean, const float* factor, const float* offset,
                     bool relu, int64_t channels, int64_t begin, int64_t end, float* y) {
  isa_table().batch_normalise(x, mean, factor, offset, relu, channels, begin, end, y);
}

void batch_norm_grad_sums(const float* dy, const float* x, const float* mean, int64_t channels,
                          int64_t begin, int64_t end, double* sum_dy, double* sum_product) {
  isa_table().batch_norm_grad_sums(dy, x, mean, channels, begin, end, sum_dy, sum_product);
}

void batch_norm_grad(const float* dy, const float* x, const float* mean, const float* of_dy,
                     const float* of_x, const float* constant, int64_t channels, int64_t begin,
                     int64_t end, float* dx) {
  isa_table().batch_norm_grad(dy, x, mean, of_dy, of_x, constant, channels, begin, end, dx);
}

} // namespace troupe::arith
