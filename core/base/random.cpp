#include "core/base/random.hpp"

#include <random>

namespace troupe {

namespace {
std::mt19937_64& generator() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source()};
    return std::mt19937_64(seed);
  }();
  return generator;
}
} // namespace

std::uint64_t random_id() {
  for (;;)
    if (std::uint64_t id = generator()())
      return id;
}

void seed_random_ids(std::uint64_t seed) {
  generator().seed(seed);
}

} // namespace troupe
