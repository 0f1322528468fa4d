// Where tasks are, if the addresses that their cluster lists are not those of their ports.
#pragma once

#include <chrono>
#include <functional>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

class StopEvent;

/// Where a task's port is, of the address under which the cluster lists it; blocks for at most
/// `budget`, and not beyond `stop` (may be null). UNAVAILABLE naming the address.
using FindAddress = std::function<Result<Address>(
    const Address& listed, std::chrono::milliseconds budget, const StopEvent* stop)>;

} // namespace troupe
