// How the transport gets a path to a peer, and what it does with the fetches that wait for one.
#pragma once

#include "actors/transport/transport.hpp"

namespace troupe::transport_paths {

using Self = TransportActor::stateful_pointer<TransportState>;

/// What bounds the memory of tensors that come through shared memory: the limit of the node.
std::shared_ptr<MemoryLimit> limit_of(const Services& services);

/// Puts a fetch into its peer's queue, and sees to it that there is a path.
void enqueue(Self self, const Services& services, const caf::actor_addr& peer, std::uint64_t fetch);
/// Takes what a peer sends unasked.
void claim(Self self, const Services& services, const caf::actor_addr& peer, std::uint64_t fetch);
/// Starts what has its turn.
void pump(Self self, const Services& services, const caf::actor_addr& peer);
/// A fetch has ended: answers it, and starts the next.
void finish(Self self, const Services& services, const caf::actor_addr& peer, std::uint64_t fetch,
            const Status& status);
/// A peer is gone: its fetches end with `why`.
void lose(Self self, const Services& services, const caf::actor_addr& peer, const Status& why);
/// Tells a receiver on which paths it may pull from us.
caf::result<PathOffer> offer_path(Self self, const Services& services, const OpenPath& request);

/// The next pieces of a tensor that comes in messages.
void ask_for_next(Self self, const Services& services, const caf::actor_addr& peer,
                  std::uint64_t fetch);

} // namespace troupe::transport_paths
