// Rows of variables, named by indices.
#pragma once

#include "core/tensor/tensor.hpp"

namespace troupe::state {

/// INVALID_ARGUMENT "indices[1] = 7 is not in [0, 3)" for the first that is outside. int32 or
/// int64.
Status check_rows(const Tensor& indices, std::int64_t limit);

} // namespace troupe::state
