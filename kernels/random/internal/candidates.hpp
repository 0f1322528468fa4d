// Distributions over the classes [0, range) that candidate samplers draw from, number for number as
// TensorFlow's draw.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/status.hpp"
#include "kernels/random/internal/draws.hpp"

namespace troupe::random {

class ClassSampler {
public:
  explicit ClassSampler(std::int64_t range) : range_(range) {}
  virtual ~ClassSampler() = default;
  std::int64_t range() const { return range_; }
  /// How many classes have a probability that is not 0.
  virtual std::int64_t possible() const { return range_; }
  virtual std::int64_t sample(Words& words) const = 0;
  /// Requires 0 <= value < range.
  virtual float probability(std::int64_t value) const = 0;
  /// After a batch with these true classes.
  virtual void learn(std::span<const std::int64_t>) {}

private:
  std::int64_t range_;
};

class UniformClasses final : public ClassSampler {
public:
  using ClassSampler::ClassSampler;
  std::int64_t sample(Words& words) const override {
    return static_cast<std::int64_t>(words.below_long(static_cast<std::uint64_t>(range())));
  }
  float probability(std::int64_t) const override {
    return static_cast<float>(1.0 / static_cast<double>(range()));
  }
};

/// Zipf's: class k with probability log((k + 2) / (k + 1)) / log(range + 1).
class LogUniformClasses final : public ClassSampler {
public:
  explicit LogUniformClasses(std::int64_t range);
  std::int64_t sample(Words& words) const override;
  float probability(std::int64_t value) const override;

private:
  double log_range_;
};

/// By how often each class was true so far, plus one. Only classes that were are kept.
class LearnedClasses final : public ClassSampler {
public:
  /// Requires a range below 2^31 - 1.
  explicit LearnedClasses(std::int64_t range);
  std::int64_t sample(Words& words) const override;
  float probability(std::int64_t value) const override;
  void learn(std::span<const std::int64_t> values) override;

private:
  /// That of a node of the binary tree over the classes: node i of `level` covers 2^level of them.
  std::int64_t weight(int level, std::int64_t i) const;

  int levels_ = 0;
  std::int64_t total_;
  std::vector<std::unordered_map<std::int64_t, std::int64_t>> extra_; ///< by level
};

/// By given weights (Walker's method of aliases).
class WeightedClasses final : public ClassSampler {
public:
  /// Requires a weight, and a positive sum.
  explicit WeightedClasses(std::vector<float> weights);
  std::int64_t possible() const override;
  std::int64_t sample(Words& words) const override;
  float probability(std::int64_t value) const override;

private:
  struct Bucket {
    float own = 1; ///< the probability that the bucket gives its own class
    std::int64_t other = 0;
  };
  std::vector<float> weights_;
  std::vector<Bucket> buckets_;
  float total_ = 0;
};

} // namespace troupe::random
