#include "kernels/random/internal/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::random {

LogUniformClasses::LogUniformClasses(std::int64_t range)
    : ClassSampler(range), log_range_(std::log1p(static_cast<double>(range))) {}

std::int64_t LogUniformClasses::sample(Words& words) const {
  const auto value = static_cast<std::int64_t>(std::exp(words.next_unit() * log_range_)) - 1;
  return value % range();
}

float LogUniformClasses::probability(std::int64_t value) const {
  const auto k = static_cast<double>(value);
  return static_cast<float>(std::log((k + 2.0) / (k + 1.0)) / log_range_);
}

LearnedClasses::LearnedClasses(std::int64_t range) : ClassSampler(range), total_(range) {
  while ((std::int64_t{1} << levels_) < range)
    ++levels_;
  extra_.resize(static_cast<std::size_t>(levels_) + 1);
}

std::int64_t LearnedClasses::weight(int level, std::int64_t i) const {
  const std::int64_t begin = i << level, end = std::min(range(), (i + 1) << level);
  const auto& extra = extra_[static_cast<std::size_t>(level)];
  const auto found = extra.find(i);
  return std::max<std::int64_t>(end - begin, 0) + (found == extra.end() ? 0 : found->second);
}

std::int64_t LearnedClasses::sample(Words& words) const {
  std::int64_t position = words.below(static_cast<std::uint32_t>(total_));
  std::int64_t node = 0;
  for (int level = levels_; level-- > 0;) {
    const std::int64_t left = weight(level, 2 * node);
    node = 2 * node + (position < left ? 0 : 1);
    position -= position < left ? 0 : left;
  }
  return node;
}

float LearnedClasses::probability(std::int64_t value) const {
  return static_cast<float>(weight(0, value)) / static_cast<float>(total_);
}

void LearnedClasses::learn(std::span<const std::int64_t> values) {
  const auto room = static_cast<std::size_t>(INT32_MAX - total_);
  for (std::int64_t value : values.first(std::min(values.size(), room))) {
    ++total_;
    for (int level = 0; level <= levels_; ++level)
      ++extra_[static_cast<std::size_t>(level)][value >> level];
  }
}

WeightedClasses::WeightedClasses(std::vector<float> weights)
    : ClassSampler(static_cast<std::int64_t>(weights.size())), weights_(std::move(weights)),
      buckets_(weights_.size()) {
  double sum = 0;
  for (float weight : weights_) {
    sum += static_cast<double>(weight);
    total_ += weight;
  }
  std::vector<double> share;
  std::vector<std::size_t> high, low;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    share.push_back(static_cast<double>(weights_[i] * static_cast<float>(weights_.size())) / sum);
    (share[i] < 1.0 ? low : high).push_back(i);
  }
  while (!high.empty() && !low.empty()) {
    const std::size_t l = low.back(), h = high.back();
    low.pop_back();
    high.pop_back();
    buckets_[l].other = static_cast<std::int64_t>(h);
    share[h] -= 1.0 - share[l];
    (share[h] < 1.0 ? low : high).push_back(h);
  }
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    buckets_[i].own = static_cast<float>(share[i]);
  // What is left is 1 but for rounding.
  for (const auto* left : {&high, &low})
    for (std::size_t i : *left)
      buckets_[i] = {1.0F, static_cast<std::int64_t>(i)};
}

std::int64_t WeightedClasses::possible() const {
  return std::ranges::count_if(weights_, [](float weight) { return weight > 0; });
}

std::int64_t WeightedClasses::sample(Words& words) const {
  const float own = words.next_float();
  const std::uint32_t i = words.below(static_cast<std::uint32_t>(weights_.size()));
  return own < buckets_[i].own ? i : buckets_[i].other;
}

float WeightedClasses::probability(std::int64_t value) const {
  return weights_[static_cast<std::size_t>(value)] / total_;
}

} // namespace troupe::random
