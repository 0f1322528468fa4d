// What reductions on GPUs compute. Also included by .cu files.
#pragma once

namespace troupe::gpu {

/// The first ones are those of arith::ReduceOp, in its order.
enum class Reduce : int { sum, mean, prod, max, min, any, all, half_of_squares, root_of_squares };

} // namespace troupe::gpu
