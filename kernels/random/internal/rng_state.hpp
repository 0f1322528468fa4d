// Generators whose state is a variable: int64 [counter, counter, key].
#pragma once

#include "kernels/arith/philox.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::random {

/// Input 1: an int32 or int64 scalar. INVALID_ARGUMENT, UNIMPLEMENTED for another one than Philox.
Result<std::int64_t> algorithm_of(KernelContext& c);
/// The generator as the variable of input 0 has it; the variable goes on behind `numbers` numbers.
/// `before`, if not null, gets the first three words.
Result<arith::Philox> take(KernelContext& c, std::uint64_t numbers, std::int64_t* before);

} // namespace troupe::random
