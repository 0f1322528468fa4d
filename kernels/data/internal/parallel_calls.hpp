// Calls of one function for several elements at once.
#pragma once

#include "kernels/data/internal/pipeline.hpp"

namespace troupe::data {

struct ParallelOptions {
  std::int64_t calls = 1;         ///< at once, at least 1; results that wait to be taken count
  bool in_order = true;           ///< else each result goes as soon as it is there
  bool keeps_cardinality = false; ///< see after_map
};

/// The number of calls that an input asks for; `autotune` leaves it to us. INVALID_ARGUMENT
/// "num_parallel_calls must be greater than zero.".
Result<std::int64_t> parallel_calls(const KernelContext& c, std::int64_t wanted);
/// Whether attribute `deterministic` ("true", "false", "default"), or the older `sloppy`, asks for
/// order; where they leave it open the pipeline's options do. INVALID_ARGUMENT for other values.
Result<std::optional<bool>> asks_for_order(const KernelContext& c);
inline bool is_in_order(const std::optional<bool>& asked, const Pipeline& pipeline) {
  return asked ? *asked : pipeline.options().deterministic.value_or(true);
}

/// `dataset` is kept. The iterator begins with the first call of `next`.
IteratorRef iterate_with_calls(DatasetRef dataset, IteratorRef input, BoundFunction function,
                               std::shared_ptr<Pipeline> pipeline, ParallelOptions options);

} // namespace troupe::data
