// Collectives in a communicator, or in a part of one.
#pragma once

#include "kernels/collective/internal/call.hpp"

namespace troupe::collective {

/// A call with the value of input 0 in the communicator of input 1. Input 2 says which ranks
/// compute together: a row for each such group, or nothing for all of them. INVALID_ARGUMENT when
/// it does not name each rank once.
Result<CollectiveCall> call_in_communicator(KernelContext& c);

} // namespace troupe::collective
