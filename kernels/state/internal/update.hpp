// Adding to and subtracting from a variable in place.
#pragma once

#include "kernels/arith/elementwise.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::state {

/// variable = variable op value, element by element. The shapes are equal, the dtype is one of
/// `updatable`.
Status update_in_place(KernelContext& c, arith::BinaryOp op, Tensor& variable, const Tensor& value);
/// The kernels' constraint on `attr`.
KernelOptions updatable(const char* attr);
KernelOptions updatable_on_gpu(const char* attr);

} // namespace troupe::state
