// Is an address one of this machine's?
#pragma once

#include "net/cluster/cluster.hpp"

namespace troupe {

/// Loopback, or the host resolves to an address of one of our network interfaces. May ask the
/// resolver.
bool is_on_this_host(const Address& address);

} // namespace troupe
