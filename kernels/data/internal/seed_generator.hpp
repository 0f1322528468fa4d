// Seeds of shuffles, and the numbers that they draw: number for number as TensorFlow's.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/base/random.hpp"
#include "devices/resource/resource_manager.hpp"
#include "kernels/data/internal/state.hpp"
#include "kernels/random/internal/draws.hpp"

namespace troupe::data {

struct Seeds {
  std::int64_t first = 0, second = 0;
};
/// Both 0 stand for any.
inline Seeds chosen(Seeds seeds) {
  if (seeds.first == 0 && seeds.second == 0)
    return {static_cast<std::int64_t>(random_id()), static_cast<std::int64_t>(random_id())};
  return seeds;
}

/// Words of a generator, with how many were drawn.
class CountedWords {
public:
  explicit CountedWords(Seeds seeds, std::int64_t drawn = 0)
      : generator_(at_block(seeds, drawn / 4)), words_(generator_), drawn_(drawn) {
    for (std::int64_t i = 0; i < drawn % 4; ++i)
      words_.next();
  }
  std::uint32_t next() {
    ++drawn_;
    return words_.next();
  }
  std::int64_t drawn() const { return drawn_; }

private:
  static arith::Philox at_block(Seeds seeds, std::int64_t block) {
    auto out = arith::Philox::from_seeds(static_cast<std::uint64_t>(seeds.first),
                                         static_cast<std::uint64_t>(seeds.second));
    out.skip(static_cast<std::uint64_t>(block));
    return out;
  }
  arith::Philox generator_;
  random::Words words_;
  std::int64_t drawn_ = 0;
};

/// The seeds of one iteration after the other: others each time, or the same. Any thread.
class SeedGenerator final : public Resource {
public:
  SeedGenerator(Seeds seeds, bool reshuffles)
      : seeds_(chosen(seeds)), reshuffles_(reshuffles), words_(seeds_) {}
  Seeds next() {
    std::scoped_lock guard(lock_);
    if (!reshuffles_)
      return seeds_;
    const std::int64_t first = words_.next();
    return {first, words_.next()};
  }
  bool reshuffles() const { return reshuffles_; }
  std::int64_t drawn() const {
    std::scoped_lock guard(lock_);
    return words_.drawn();
  }
  void set_drawn(std::int64_t drawn) {
    std::scoped_lock guard(lock_);
    words_ = CountedWords(seeds_, drawn);
  }
  std::string description() const override { return "seed generator"; }

private:
  const Seeds seeds_;
  const bool reshuffles_;
  mutable std::mutex lock_;
  CountedWords words_;
};

} // namespace troupe::data
