// Filling an output with random numbers from a Philox generator, whatever op the generator is of.
#pragma once

#include "kernels/arith/lookup.hpp"
#include "kernels/arith/philox.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"

namespace troupe::random {

enum class Distribution : std::uint8_t { uniform, normal, truncated_normal, full_int };

/// Allocates output 0 and fills it.
Status fill(KernelContext& c, Distribution distribution, const arith::Philox& start,
            const Shape& shape);
/// Integers in [minval, maxval), which are inputs `low` and `low` + 1. Checked by check_range.
Status fill_range(KernelContext& c, int low, const arith::Philox& start, const Shape& shape);
/// INVALID_ARGUMENT "Need minval < maxval, got 5 >= 5", "minval must be 0-D, got shape [1]".
Status check_range(KernelContext& c, int low, const Shape& shape);

/// What V2 ops and generators name an algorithm by.
enum class Algorithm : std::int64_t { philox = 1, threefry = 2, auto_select = 3 };

/// The generator whose state is a counter of 128 bits and a key.
inline arith::Philox philox(std::uint64_t counter0, std::uint64_t counter1, std::uint64_t key) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return arith::Philox({low(counter0), high(counter0), low(counter1), high(counter1)},
                       {low(key), high(key)});
}
inline std::uint64_t word_pair(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

/// The generator of a seed of two numbers. INVALID_ARGUMENT "seed must have shape [2], not [3]".
Result<arith::Philox> seeded(const Tensor& seed);
/// That of inputs `first` to `first` + 2: key, counter and algorithm.
Result<arith::Philox> given(KernelContext& c, int first);

} // namespace troupe::random
