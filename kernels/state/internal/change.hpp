// Variables that an op changes, given by reference or by handle.
#pragma once

#include <memory>

#include "kernels/framework/context.hpp"

namespace troupe::state {

/// The variable behind input i, in either form. FAILED_PRECONDITION if it holds no value.
Result<std::shared_ptr<Variable>> variable_to_change(KernelContext& c, int i);
/// Makes it output 0, where the op gives a reference.
void give_ref(KernelContext& c, std::shared_ptr<Variable> variable);

} // namespace troupe::state
