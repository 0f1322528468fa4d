// Is an address one of this machine's?
#pragma once

#include "net/cluster/cluster.hpp"

namespace troupe {

/// Loopback, or the host resolves to an address of one of our network interfaces. May ask the
/// resolver.
bool is_on_this_host(const Address& address);

/// Whether other machines hear who listens at that address, if they know it by it. True of
/// loopback, which is meant as such, and of 0.0.0.0 and ::, which are every address. False where
/// the host resolves to no address of this machine (a service's name, a translated address), or,
/// being no loopback address itself, to loopback ones alone (a machine's own name in its
/// /etc/hosts). May ask the resolver.
bool is_heard_at(const Address& address);

} // namespace troupe
