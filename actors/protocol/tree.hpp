// Roles that many actors share.
#pragma once

#include <caf/typed_actor.hpp>

namespace troupe {

struct ActorTree;
struct Drain;
struct GetActors;
struct PeerLost;

/// An actor of the live tree: lists itself (with an empty path) and everything below it.
using TreeActor = caf::typed_actor<caf::replies_to<GetActors>::with<ActorTree>>;

/// One that ends in order: refuses what is new, and answers when nothing of it runs any more.
using DrainActor = TreeActor::extend<caf::replies_to<Drain>::with<caf::ok_atom>>;

/// One that is told when a task is gone.
using PeerWatcher = caf::typed_actor<caf::reacts_to<PeerLost>>;

} // namespace troupe
