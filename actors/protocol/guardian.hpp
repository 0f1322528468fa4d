// The guardian: root of a node.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct Adopt;
struct GetNodeStatus;
struct GetResources;
struct Hello;
struct KillActor;
struct NodeStatus;
struct ResourceList;
struct ShutDown;
struct Welcome;

/// The GUARDIAN: root of a node's actors; the one actor that a node publishes on its port.
using GuardianActor = TreeActor::extend<
    // Answers who we are. Fails: FAILED_PRECONDITION when the versions differ.
    caf::replies_to<Hello>::with<Welcome>,
    // Of the node's owner. Fails: UNAVAILABLE when the node is about to end.
    caf::replies_to<Adopt>::with<caf::ok_atom>,
    // Ends one actor. Fails: NOT_FOUND naming the nearest paths.
    caf::replies_to<KillActor>::with<caf::ok_atom>,
    // Counters, devices, peers.
    caf::replies_to<GetNodeStatus>::with<NodeStatus>,
    // What the devices hold. Fails: UNAVAILABLE while a resource is busy for seconds.
    caf::replies_to<GetResources>::with<ResourceList>,
    // Answers at once; the node ends afterwards.
    caf::replies_to<ShutDown>::with<caf::ok_atom>>;

} // namespace troupe
