// Messages of membership and transport within a node: peers, tensors offered and fetched.
#pragma once

#include <functional>
#include <memory>

#include <caf/node_id.hpp>

#include "actors/protocol/guardian.hpp"
#include "actors/protocol/tree.hpp"
#include "actors/protocol/wire/node.hpp"
#include "net/data/tensor_path.hpp"

namespace troupe {

/// The node is about to end. The receiver refuses new work with `refusal`; if `end` is not OK,
/// running work ends with it.
struct Drain {
  Status refusal;
  Status end;
};
/// An actor that the node's owner has made becomes one of the tree: the guardian watches it as its
/// own children, drains and stops it before them.
struct Adopt {
  std::string name; ///< in the tree
  DrainActor actor;
};
/// A peer as this node sees it, dialled by this node itself.
struct Peer {
  std::string task;
  std::uint64_t incarnation = 0;
  WorkerActor worker;
  MasterActor master;
  TransportActor transport;
  MembershipActor membership;
};
/// Asks for a connection to a task of the cluster.
struct GetPeer {
  std::string task;           ///< canonical task name
  std::int64_t budget_us = 0; ///< the longest try; 0: the dial deadline
  /// Whether the task may still be starting: a refused connection is then tried again until the
  /// budget ends.
  bool may_start = true;
};
/// Asks to be told when `task` is lost.
struct WatchPeer {
  std::string task;
  PeerWatcher watcher; ///< gets PeerLost; anonymous monitoring, ends with the watcher
};
struct PeerLost {
  std::string task;
  std::uint64_t incarnation = 0;
  LossReason reason = LossReason::crashed;
  std::string sentence; ///< what happened and what to do
};
struct GetPeers {};
struct PeerList {
  std::vector<PeerInfo> peers; ///< by task
};
/// Puts a tensor up for pulling under a ticket until it has been pulled, it is released, the
/// receiver ends or is lost, or nobody has pulled for too long.
struct OfferTensor {
  std::uint64_t ticket = 0;
  Tensor tensor;
  caf::strong_actor_ptr receiver; ///< who was told the ticket
};
/// Asks our own transport for the tensor behind a descriptor of another node's transport.
struct FetchTensor {
  WireTensor tensor;
};
struct FetchedTensor {
  Tensor tensor;
  Transfer transfer;
};
/// Work that a thread of the data connections hands to the transport actor.
struct TransportEvent {
  std::shared_ptr<const std::function<void()>> run;
};
/// Names a node in tables.
inline std::uint64_t node_key(const caf::node_id& node) {
  return std::hash<std::string>{}(to_string(node));
}
/// An actor's own timer: end the leases that have run out.
struct CheckLeases {};
/// Of membership to itself: the next round of heartbeats.
struct HeartbeatDue {};

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_node_local, troupe::type_block::node_local)
TROUPE_LOCAL_MESSAGE(troupe_node_local, Peer)
TROUPE_LOCAL_MESSAGE(troupe_node_local, GetPeer)
TROUPE_LOCAL_MESSAGE(troupe_node_local, WatchPeer)
TROUPE_LOCAL_MESSAGE(troupe_node_local, PeerLost)
TROUPE_LOCAL_MESSAGE(troupe_node_local, OfferTensor)
TROUPE_LOCAL_MESSAGE(troupe_node_local, FetchTensor)
TROUPE_LOCAL_MESSAGE(troupe_node_local, FetchedTensor)
TROUPE_LOCAL_MESSAGE(troupe_node_local, GetPeers)
TROUPE_LOCAL_MESSAGE(troupe_node_local, PeerList)
TROUPE_LOCAL_MESSAGE(troupe_node_local, Drain)
TROUPE_LOCAL_MESSAGE(troupe_node_local, Adopt)
TROUPE_LOCAL_MESSAGE(troupe_node_local, TransportEvent)
TROUPE_LOCAL_MESSAGE(troupe_node_local, CheckLeases)
TROUPE_LOCAL_MESSAGE(troupe_node_local, HeartbeatDue)
CAF_END_TYPE_ID_BLOCK(troupe_node_local)
