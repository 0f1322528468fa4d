#include "core/base/random.hpp"

#include <random>

namespace troupe {

std::uint64_t random_id() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source()};
    return std::mt19937_64(seed);
  }();
  for (;;)
    if (std::uint64_t id = generator())
      return id;
}

} // namespace troupe
