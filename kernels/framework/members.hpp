// Errors of fused kernels name the node that the user wrote.
#pragma once

#include <cstddef>

#include "core/base/status.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

/// INVALID_ARGUMENT as an error of the member with that number among the node's `members_attr`. Any
/// other error, and that of a node without such a member, stays as it is: the executor names the
/// fused node.
Status of_member(const KernelContext& c, const Status& failed, std::size_t member);

} // namespace troupe
