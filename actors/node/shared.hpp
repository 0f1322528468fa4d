// What the sessions of a process have in common: a node for each kind of local session, an end for
// all that talk to clusters. Made by the first session, ended by the last.
#pragma once

#include <memory>

#include "actors/node/client.hpp"
#include "actors/node/node.hpp"

namespace troupe {

/// The local node of the process for sessions that ask for the same devices, threads and memory;
/// the options' other fields count when it is made. Any thread but an actor's; the last to let go
/// of it waits for its end. Fails like
/// ClusterNode::start.
Result<std::shared_ptr<ClusterNode>> shared_local_node(const NodeOptions& options);
/// One that nobody else shares.
Result<std::shared_ptr<ClusterNode>> own_local_node(const NodeOptions& options);
/// The process's end of its connections to clusters, one to each node that some session has
/// dialled.
std::shared_ptr<ClientNode> shared_client_node();

} // namespace troupe
