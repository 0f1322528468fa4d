#include "kernels/random/internal/rng_state.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/random/internal/fill.hpp"

namespace troupe::random {
namespace {

constexpr std::uint64_t blocks_per_number = 256;

Status check_algorithm(std::int64_t algorithm) {
  if (algorithm == static_cast<std::int64_t>(Algorithm::threefry))
    return unimplemented("Non-XLA devices don't support the ThreeFry algorithm.");
  if (algorithm != static_cast<std::int64_t>(Algorithm::philox) &&
      algorithm != static_cast<std::int64_t>(Algorithm::auto_select))
    return invalid_argument(str_cat("Unsupported algorithm id: ", algorithm));
  return {};
}

Status check_state(const Tensor& state) {
  if (state.dtype() != DType::int64)
    return invalid_argument(
        str_cat("dtype of RNG state variable must be int64, not ", to_string(state.dtype())));
  if (state.shape().rank() != 1)
    return invalid_argument(
        str_cat("RNG state must have one and only one dimension, not ", state.shape().rank()));
  if (state.shape()[0] < 3)
    return invalid_argument(str_cat(
        "For the Philox algorithm, the size of state must be at least 3; got ", state.shape()[0]));
  return {};
}

} // namespace

Result<std::int64_t> algorithm_of(KernelContext& c) {
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("input 1 (0-based) must have shape [], not ", c.input(1).shape()));
  TROUPE_ASSIGN(const auto value, integers(c.input(1)));
  TROUPE_TRY(check_algorithm(value[0]));
  return value[0];
}

Result<arith::Philox> take(KernelContext& c, std::uint64_t numbers, std::int64_t* before) {
  TROUPE_ASSIGN(const auto variable, resource_variable(c, 0));
  arith::Philox out;
  TROUPE_TRY(variable->update([&](Tensor& state) -> Status {
    TROUPE_TRY(check_state(state));
    const auto words = state.mutable_data<std::int64_t>();
    const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(words[i]); };
    if (before)
      std::copy_n(words.begin(), 3, before);
    out = random::philox(word(0), word(1), word(2));
    arith::Philox next = out;
    next.skip(numbers * blocks_per_number);
    const auto& counter = next.counter();
    words[0] = static_cast<std::int64_t>(random::word_pair(counter[0], counter[1]));
    words[1] = static_cast<std::int64_t>(random::word_pair(counter[2], counter[3]));
    return {};
  }));
  return out;
}

} // namespace troupe::random
