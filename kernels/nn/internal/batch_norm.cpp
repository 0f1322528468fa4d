#include "kernels/nn/internal/batch_norm.hpp"

#include <algorithm>

namespace troupe::nn {
namespace {

/// Into how many parts the rows are split, each with sums of its own.
std::int64_t norm_parts(KernelContext& c, const ChannelRows& images) {
  constexpr std::int64_t worth_splitting = 200'000; // elements
  if (images.rows * images.channels < worth_splitting)
    return 1;
  return std::clamp<std::int64_t>(images.rows / 64, 1, c.device().compute().threads());
}

/// Calls body(part, first row, last row) for each part, and gives it two arrays of doubles.
template <class Body>
Result<Tensor> sums_by_part(KernelContext& c, const ChannelRows& images, std::int64_t parts,
                            double cost, const Body& body) {
  TROUPE_ASSIGN(Tensor sums, c.allocate_temp(DType::float64, Shape{parts, 2, images.channels}));
  double* all = sums.mutable_data<double>().data();
  const double each =
      cost * static_cast<double>(images.rows * images.channels) / static_cast<double>(parts);
  c.parallel_for(parts, each, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      double* mine = all + k * 2 * images.channels;
      body(k * images.rows / parts, (k + 1) * images.rows / parts, mine, mine + images.channels);
    }
  });
  return sums;
}

double row_cost(const ChannelRows& images) {
  return 0.2 * static_cast<double>(images.channels);
}

} // namespace

Status moments(KernelContext& c, const ChannelRows& images, const float* x, float* mean,
               float* variance) {
  const std::int64_t parts = norm_parts(c, images), n = images.channels;
  TROUPE_ASSIGN(Tensor sums,
                sums_by_part(c, images, parts, 0.15,
                             [&](std::int64_t begin, std::int64_t end, double* a, double* b) {
                               arith::batch_moments(x, n, begin, end, a, b);
                             }));
  double *means = sums.mutable_data<double>().data(), *deviations = means + n;
  for (std::int64_t k = 1; k < parts; ++k) {
    const std::int64_t before = k * images.rows / parts;
    const double* other = means + k * 2 * n;
    arith::join_moments(n, before, means, deviations, (k + 1) * images.rows / parts - before, other,
                        other + n);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    mean[i] = static_cast<float>(means[i]);
    variance[i] = static_cast<float>(deviations[i] / static_cast<double>(images.rows));
  }
  return {};
}

void normalise(KernelContext& c, const ChannelRows& images, const float* x, const float* mean,
               const float* factor, const float* offset, bool relu, float* y) {
  c.parallel_for(images.rows, row_cost(images), [&](std::int64_t begin, std::int64_t end) {
    arith::batch_normalise(x, mean, factor, offset, relu, images.channels, begin, end, y);
  });
}

Status gradient_sums(KernelContext& c, const ChannelRows& images, const float* dy, const float* x,
                     const float* mean, float* sum_dy, float* sum_product) {
  const std::int64_t parts = norm_parts(c, images), n = images.channels;
  TROUPE_ASSIGN(Tensor sums,
                sums_by_part(c, images, parts, 0.2,
                             [&](std::int64_t begin, std::int64_t end, double* a, double* b) {
                               arith::batch_norm_grad_sums(dy, x, mean, n, begin, end, a, b);
                             }));
  const double* all = sums.data<double>().data();
  for (std::int64_t i = 0; i < n; ++i) {
    double first = 0, second = 0;
    for (std::int64_t k = 0; k < parts; ++k) {
      first += all[k * 2 * n + i];
      second += all[k * 2 * n + n + i];
    }
    sum_dy[i] = static_cast<float>(first);
    sum_product[i] = static_cast<float>(second);
  }
  return {};
}

void gradient(KernelContext& c, const ChannelRows& images, const float* dy, const float* x,
              const float* mean, const float* of_dy, const float* of_x, const float* constant,
              float* dx) {
  c.parallel_for(images.rows, row_cost(images), [&](std::int64_t begin, std::int64_t end) {
    arith::batch_norm_grad(dy, x, mean, of_dy, of_x, constant, images.channels, begin, end, dx);
  });
}

} // namespace troupe::nn
