// The generator of a stateful random op: lives as long as its session, shared by all runs of the
// node.
#pragma once

#include <mutex>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "kernels/arith/philox.hpp"
#include "kernels/framework/glue.hpp"

namespace troupe::random {

/// Hands out stretches of one Philox sequence. Any thread.
class Generator {
public:
  explicit Generator(arith::Philox start) : next_(start) {}
  /// The generator at the start of a stretch of `blocks` blocks, which nobody else gets.
  arith::Philox reserve(std::uint64_t blocks) {
    std::scoped_lock guard(lock_);
    arith::Philox out = next_;
    next_.skip(blocks);
    return out;
  }

private:
  std::mutex lock_;
  arith::Philox next_;
};

/// The start of the sequence of the attributes seed and seed2; both 0: of the system's random
/// source.
inline arith::Philox start_of_node(KernelContext& c) {
  auto seed = static_cast<std::uint64_t>(c.attrs().get_or("seed", std::int64_t{0}));
  auto seed2 = static_cast<std::uint64_t>(c.attrs().get_or("seed2", std::int64_t{0}));
  if (seed == 0 && seed2 == 0) {
    seed = random_id();
    seed2 = random_id();
  }
  return arith::Philox::from_seeds(seed, seed2);
}
/// Of this node in this session, from its attributes.
inline std::shared_ptr<Generator> generator(KernelContext& c) {
  return c.node_state<Generator>([&] { return std::make_shared<Generator>(start_of_node(c)); });
}

/// The shape that a vector of int32 or int64 names. INVALID_ARGUMENT in TensorFlow's words.
inline Result<Shape> shape_from(const Tensor& sizes) {
  if (sizes.shape().rank() != 1)
    return invalid_argument(
        str_cat("shape must be a vector of {int32,int64}, got shape ", sizes.shape()));
  return troupe::shape_from(sizes);
}

} // namespace troupe::random
