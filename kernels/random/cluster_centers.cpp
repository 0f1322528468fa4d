// KmeansPlusPlusInitialization and KMC2ChainInitialization: points drawn as the first centers of
// clusters. Arthur and Vassilvitskii, "k-means++" (2007); Bachem et al., "Approximate k-means++ in
// sublinear time" (2016).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/arith/gemm.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/random/internal/draws.hpp"

namespace troupe::random_cluster_centers {
namespace {

random::Words words_of(std::int64_t seed) {
  return random::Words(arith::Philox::from_seeds(static_cast<std::uint64_t>(seed), 0));
}

class Centers {
public:
  Centers(KernelContext& c, const Tensor& points, std::int64_t seed)
      : c_(c), count_(static_cast<std::size_t>(points.shape()[0])),
        dims_(static_cast<std::size_t>(points.shape()[1])), points_(points.data<float>().data()),
        words_(words_of(seed)), norms_(count_), nearest_(count_, infinity), sums_(count_),
        taken_(count_) {
    for (std::size_t i = 0; i < count_; ++i) {
      const float* x = points_ + i * dims_;
      norms_[i] = std::inner_product(x, x + dims_, x, 0.0F) / 2;
    }
  }

  /// The next center: the best of 1 + retries draws, each in proportion to the squared distance
  /// from the nearest center so far.
  std::size_t next(std::int64_t retries) {
    std::partial_sum(nearest_.begin(), nearest_.end(), sums_.begin());
    std::vector<float> best;
    float least = infinity;
    std::size_t out = 0;
    // One more than the retries, of which there may be as many as an int64 counts.
    for (std::int64_t left = retries; left >= 0; left -= at_once) {
      c_.stop_if_cancelled();
      std::vector<std::size_t> candidates(static_cast<std::size_t>(std::min(left, at_once - 1)) +
                                          1);
      std::ranges::generate(candidates, [this] { return draw(); });
      std::vector<std::vector<float>> distances = with(candidates);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const float sum = std::accumulate(distances[i].begin(), distances[i].end(), 0.0F);
        if (!best.empty() && !(sum < least))
          continue;
        least = sum;
        out = candidates[i];
        best.swap(distances[i]);
      }
    }
    nearest_.swap(best);
    taken_[out] = true;
    is_first_ = false;
    return out;
  }

private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  /// Draws of points that are centers already, before the first other one is taken: where all
  /// others coincide with centers there may be no end.
  static constexpr int most_draws = 1000;
  static constexpr std::int64_t at_once = 8;           // candidates
  static constexpr std::int64_t points_of_block = 512; // whose products lie in a cache

  /// For each candidate half the squared distances from the nearest center, if it is one.
  std::vector<std::vector<float>> with(const std::vector<std::size_t>& candidates) const {
    const std::size_t n = candidates.size();
    std::vector<float> rows(n * dims_);
    for (std::size_t i = 0; i < n; ++i)
      std::copy_n(points_ + candidates[i] * dims_, dims_, rows.begin() + i * dims_);
    std::vector<std::vector<float>> out(n, std::vector<float>(count_));
    const arith::GemmShape shape{.m = points_of_block,
                                 .n = static_cast<std::int64_t>(n),
                                 .k = static_cast<std::int64_t>(dims_),
                                 .transpose_b = true};
    c_.parallel_for(static_cast<std::int64_t>(count_), static_cast<double>(n * (2 + dims_ / 8)),
                    [&](std::int64_t begin, std::int64_t end) {
                      std::vector<float> products(static_cast<std::size_t>(points_of_block) * n);
                      for (; begin < end; begin += points_of_block) {
                        const auto first = static_cast<std::size_t>(begin);
                        const std::int64_t here = std::min(points_of_block, end - begin);
                        arith::gemm_rows(arith::Type::float32, shape, points_ + first * dims_,
                                         rows.data(), products.data(), 0, here);
                        for (std::size_t i = 0; i < n; ++i)
                          for (std::size_t j = 0; j < static_cast<std::size_t>(here); ++j)
                            out[i][first + j] = std::min(nearest_[first + j],
                                                         norms_[first + j] - products[j * n + i] +
                                                             norms_[candidates[i]]);
                      }
                    });
    return out;
  }

  std::size_t draw() {
    if (is_first_)
      return words_.below_long(count_);
    for (int i = 0; i < most_draws; ++i) {
      const auto found = std::ranges::upper_bound(sums_, words_.next_float() * sums_.back());
      const auto at = std::min(static_cast<std::size_t>(found - sums_.begin()), count_ - 1);
      if (!taken_[at])
        return at;
    }
    return static_cast<std::size_t>(std::ranges::find(taken_, false) - taken_.begin());
  }

  KernelContext& c_;
  std::size_t count_, dims_;
  const float* points_;
  random::Words words_;
  std::vector<float> norms_;   // half squares
  std::vector<float> nearest_; // half squared distances
  std::vector<float> sums_;
  std::vector<bool> taken_;
  bool is_first_ = true;
};

Status compute_plus_plus(KernelContext& c) {
  const Tensor& points = c.input(0);
  if (points.shape().rank() != 2)
    return invalid_argument("Input points should be a matrix.");
  static constexpr const char* names[] = {"num_to_sample", "seed", "num_retries_per_sample"};
  for (int i : {1, 2, 3})
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(str_cat("Input ", names[i - 1], " should be a scalar."));
  const auto number = [&](int i) { return c.input(i).value<std::int64_t>(); };
  const std::int64_t count = number(1), dims = points.shape()[1];
  if (points.shape()[0] == 0)
    return invalid_argument("Expected points.rows() > 0.");
  if (count <= 0)
    return invalid_argument("Expected num_to_sample > 0.");
  if (count > points.shape()[0])
    return invalid_argument(str_cat("Expected num_to_sample <= points.rows(). ", count, " vs ",
                                    points.shape()[0], "."));
  const std::int64_t retries =
      number(3) >= 0 ? number(3)
                     : 2 + static_cast<std::int64_t>(std::log(static_cast<double>(count)));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{count, dims}));
  Centers centers(c, points, number(2));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(centers.next(retries));
    std::copy_n(points.data<float>().begin() + at * dims, dims,
                out.mutable_data<float>().begin() + i * dims);
  }
  return {};
}

/// The last state of a Markov chain over the candidates.
Status compute_chain(KernelContext& c) {
  const Tensor& distances = c.input(0);
  if (distances.shape().rank() != 1)
    return invalid_argument("Input distances should be a vector.");
  if (!c.input(1).shape().is_scalar())
    return invalid_argument("Input seed should be a scalar.");
  if (distances.num_elements() == 0)
    return invalid_argument("Expected distances_tensor.size() > 0.");
  random::Words words = words_of(c.input(1).value<std::int64_t>());
  const auto all = distances.data<float>();
  std::size_t state = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] > words.next_float() * all[state])
      state = i;
  return c.set_output(0, Tensor::scalar(static_cast<std::int64_t>(state)));
}

Status infer_plus_plus(ShapeContext& c) {
  TROUPE_ASSIGN(const auto points, shape_rules::dims_of_rank(c, 0, 2));
  const auto count = c.input_as_ints(1);
  return c.set_output(0, {count && count->size() == 1 ? (*count)[0] : -1, points[1]});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("KmeansPlusPlusInitialization")
      .input("points: float; num_to_sample: int64; seed: int64; num_retries_per_sample: int64")
      .output("samples: float")
      .shape_fn(infer_plus_plus)
      .not_differentiable("it picks points")
      .cpu_kernel(compute_plus_plus, {.expensive = true})
      .doc("Points drawn as centers by k-means++, each the best of some draws.");
  library.op("KMC2ChainInitialization")
      .input("distances: float; seed: int64")
      .output("index: int64")
      .shape_fn(shape_scalar)
      .not_differentiable("it picks a point")
      .cpu_kernel(compute_chain)
      .doc("The point that a k-MC2 chain over candidates at these distances ends at.");
}

} // namespace troupe::random_cluster_centers
