// The family of a node: its guardian (the tree of actors), membership (who is alive) and transport
// (tensor bytes).
#pragma once

#include <functional>
#include <memory>

#include <caf/node_id.hpp>
#include <caf/typed_actor.hpp>

#include "actors/protocol/common.hpp"
#include "actors/protocol/message_code.hpp"
#include "net/cluster/cluster.hpp"
#include "net/data/tensor_path.hpp"

namespace troupe {

/// Asks a node who it is; the first message on any connection.
struct Hello {
  std::uint32_t version = protocol_version;
  std::string from; ///< task name, or "client"
};

/// Who a node is. The handles are its own, so messages to them take the connection that brought
/// this.
struct Welcome {
  std::uint32_t version = 0;
  std::string task;                 ///< "/job:worker/replica:0/task:1"
  std::uint64_t incarnation = 0;    ///< of the process
  std::string software;             ///< "troupe 0.1.0"
  caf::strong_actor_ptr worker;     ///< WorkerActor
  caf::strong_actor_ptr master;     ///< MasterActor
  caf::strong_actor_ptr transport;  ///< TransportActor
  caf::strong_actor_ptr membership; ///< MembershipActor
  ClusterIdentity cluster;
};

/// One actor of the live tree.
struct ActorInfo {
  std::string path; ///< "guardian/worker/session-1f…/graph-manager"
  std::uint64_t id = 0;
  std::uint64_t mailbox = 0;   ///< messages that wait
  std::string detail;          ///< what it is at: "3 graphs, 1 step"
  caf::strong_actor_ptr actor; ///< empty in what a node answers to others
};
/// Understood by every actor of the tree: itself (with an empty path) and everything below it.
struct GetActors {};
struct ActorTree {
  std::vector<ActorInfo> actors;
};
/// Ends the actor at `path` the way a crash would.
struct KillActor {
  std::string path;
};
/// A task of the cluster as another one sees it, for people.
struct PeerInfo {
  std::string task;
  std::string address;
  bool is_connected = false;
  std::int64_t silent_us = 0; ///< since it was heard of last; while it is connected
  std::string last_loss;      ///< why it was lost last, as to_string(LossReason); empty: never
  /// "alive", "lost", or "not dialled yet", which is no fault: tasks dial those that they need.
  std::string_view state() const {
    return is_connected ? "alive" : last_loss.empty() ? "not dialled yet" : "lost";
  }
  /// "alive, last heard of 12 ms ago".
  std::string to_string() const;
};
/// "last heard of 12 ms ago".
std::string last_heard_of(std::int64_t silent_us);
/// What a node's devices hold for all sessions in one container; sessions with a state of their own
/// are not counted.
struct ContainerInfo {
  std::string container;
  std::int64_t resources = 0; ///< variables and the like
  std::int64_t bytes = 0;
};
/// One of them.
struct ResourceInfo {
  std::string device; ///< full name
  std::string container;
  std::string name;
  std::string description; ///< "variable f32[784,10]"
  std::int64_t bytes = 0;
};
struct GetResources {};
struct ResourceList {
  std::vector<ResourceInfo> resources; ///< by device, container, name
};
/// What a node is at, for people and tests.
struct GetNodeStatus {};
struct NodeStatus {
  std::string task;
  std::uint64_t incarnation = 0;
  std::int64_t uptime_us = 0;
  std::int64_t resident_bytes = 0;
  std::vector<DeviceAttributes> devices;
  std::vector<std::pair<std::string, std::int64_t>> counters; ///< core/trace/counters.hpp, by name
  std::vector<PeerInfo> peers;                                ///< every other task of the cluster
  std::vector<std::string>
      paths; ///< of tensors: "from TASK: shared-memory, 40 tensors, 1.2 GiB, …"
  std::vector<ContainerInfo> containers; ///< by name
};
/// Ends the node in order: no new steps, running ones may finish within `grace_us`, then everything
/// stops.
struct ShutDown {
  std::int64_t grace_us = 0; ///< 0: everything stops at once
  std::string reason;
};

/// The node is about to end: whoever gets this takes nothing new and lets go of what runs. Local
/// only.
struct Drain {
  Status refusal; ///< the answer to new requests from now on
  Status end;     ///< not OK: what still runs ends with this, now
};

/// The GUARDIAN: root of a node's actors; the one actor that a node publishes on its port.
using GuardianActor = caf::typed_actor<
    // Answers who we are. Fails: FAILED_PRECONDITION when the versions differ.
    caf::replies_to<Hello>::with<Welcome>,
    // Lists the live tree in order of path.
    caf::replies_to<GetActors>::with<ActorTree>,
    // Ends one actor. Fails: NOT_FOUND naming the nearest paths.
    caf::replies_to<KillActor>::with<caf::ok_atom>,
    // Counters, devices, peers.
    caf::replies_to<GetNodeStatus>::with<NodeStatus>,
    // What the devices hold. Fails: UNAVAILABLE while a resource is busy for seconds.
    caf::replies_to<GetResources>::with<ResourceList>,
    // Answers at once; the node ends afterwards.
    caf::replies_to<ShutDown>::with<caf::ok_atom>>;

/// Why a peer counts as lost.
enum class LossReason : std::uint8_t {
  crashed,   ///< its connection closed
  frozen,    ///< connection open, no sign of life for the lease
  cut_off,   ///< cannot be reached
  left,      ///< it said that it ends
  restarted, ///< the same task answers with another incarnation
};
std::string to_string(LossReason reason);

/// A peer as this node sees it, dialled by this node itself.
struct Peer {
  std::string task;
  std::uint64_t incarnation = 0;
  caf::strong_actor_ptr worker, master, transport, membership;
};
/// Asks for a connection to a task of the cluster.
struct GetPeer {
  std::string task; ///< canonical task name
};
/// Asks to be told when `task` is lost.
struct WatchPeer {
  std::string task;
  caf::strong_actor_ptr watcher; ///< gets PeerLost; anonymous monitoring, ends with the watcher
};
struct PeerLost {
  std::string task;
  std::uint64_t incarnation = 0;
  LossReason reason = LossReason::crashed;
  std::string sentence; ///< what happened and what to do
};
/// Sent every heartbeat interval to each watched peer.
struct Heartbeat {
  std::string from;
  std::uint64_t incarnation = 0;
  /// How often `from` has lost the receiver, and which incarnation of it. A receiver that has lost
  /// `from` less often has missed the end of a connection.
  std::uint32_t losses = 0;
  std::uint64_t lost_incarnation = 0;
  std::uint64_t cluster = 0; ///< ClusterIdentity::digest of `from`
};

/// A task says that it ends in order, so that nobody takes it for crashed.
struct Farewell {
  std::string from;
  std::uint64_t incarnation = 0;
  std::uint64_t cluster = 0; ///< as in Heartbeat
};

struct GetPeers {};
struct PeerList {
  std::vector<PeerInfo> peers; ///< by task
};

/// MEMBERSHIP: dials peers, keeps one connection to each, and says who is alive.
using MembershipActor = caf::typed_actor<
    // Answers with the peer once it has said welcome. Fails: NOT_FOUND for a task that is not in
    // the cluster; UNAVAILABLE when it cannot be reached within the dial deadline, naming its
    // address.
    caf::replies_to<GetPeer>::with<Peer>,
    // Answers once the watch stands; the watcher gets at most one PeerLost for it.
    caf::replies_to<WatchPeer>::with<caf::ok_atom>,
    // Local, once at start: our own handles, the answer to GetPeer for our own task.
    caf::reacts_to<Peer>,
    // Answers with our own heartbeat. Fails, as Farewell: FAILED_PRECONDITION for one that is no task
    // of our cluster.
    caf::replies_to<Heartbeat>::with<Heartbeat>,
    // A task leaves: whoever watches it is told so.
    caf::replies_to<Farewell>::with<caf::ok_atom>,
    // With an end: says farewell to every peer, and answers when they have heard it.
    caf::replies_to<Drain>::with<caf::ok_atom>,
    // Every other task of the cluster.
    caf::replies_to<GetPeers>::with<PeerList>, caf::replies_to<GetActors>::with<ActorTree>,
    // Internal: the next round of heartbeats.
    caf::reacts_to<caf::tick_atom>>;

/// Bytes [offset, offset + length) of an offered tensor.
struct PullChunk {
  std::uint64_t ticket = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
/// Puts a tensor up for pulling under a ticket until it has been pulled, it is released, the
/// receiver ends or is lost, or nobody has pulled for too long.
struct OfferTensor {
  std::uint64_t ticket = 0;
  Tensor tensor;
  caf::strong_actor_ptr receiver; ///< who was told the ticket
};
/// The receiver has everything.
struct ReleaseTensor {
  std::uint64_t ticket = 0;
};
/// Asks our own transport for the tensor behind a descriptor of another node's transport.
struct FetchTensor {
  WireTensor tensor;
};
struct FetchedTensor {
  Tensor tensor;
  Transfer transfer;
};
/// A node wants to pull tensors from another: says who it is, and asks on which paths it may.
struct OpenPath {
  std::string task;        ///< task name, or "client"
  std::uint8_t choice = 0; ///< PathChoice
  std::string host;        ///< boot id
};
/// The sender's end. The token is good for one connection, soon.
struct PathOffer {
  std::string task;
  std::uint8_t choice = 0;
  std::string host;
  std::string local_name;  ///< of its Unix socket; empty: none
  std::string stream_host; ///< empty: it does not listen for streams
  std::uint16_t port = 0;
  std::string token, proof; ///< 16 bytes each, for net/data/frames.hpp
};
/// Something happened on a thread of the data connections: what to do about it. Local only.
struct TransportEvent {
  std::shared_ptr<const std::function<void()>> run;
};

/// Names a node in tables.
inline std::uint64_t node_key(const caf::node_id& node) {
  return std::hash<std::string>{}(to_string(node));
}

/// TRANSPORT: moves large tensors between nodes over the best path that both have, straight into
/// the receiver's buffer.
using TransportActor = caf::typed_actor<
    // Local: holds the tensor for its receiver.
    caf::reacts_to<OfferTensor>,
    // From a peer: a piece of an offered tensor, sent from its buffer. Fails: NOT_FOUND when it was
    // released or its lease ran out.
    caf::replies_to<PullChunk>::with<TensorChunk>,
    // From a peer: forget the ticket.
    caf::reacts_to<ReleaseTensor>,
    // From a peer that will pull: where and how it can. Fails: FAILED_PRECONDITION when a path that
    // one of the two asks for by name is not to be had.
    caf::replies_to<OpenPath>::with<PathOffer>,
    // Local: pulls the whole tensor. Fails: UNAVAILABLE when the sender is lost or the path breaks;
    // FAILED_PRECONDITION without the path that was asked for; RESOURCE_EXHAUSTED when there is no
    // memory for it.
    caf::replies_to<FetchTensor>::with<FetchedTensor>,
    // Local: answers when nothing is offered any more.
    caf::replies_to<Drain>::with<caf::ok_atom>, caf::replies_to<GetActors>::with<ActorTree>,
    // Internal: looks for leases that ran out.
    caf::reacts_to<caf::tick_atom>, caf::reacts_to<TransportEvent>>;

// How they travel.

template <class F>
typename F::result_type inspect(F& f, Hello& x) {
  return f(caf::meta::type_name("Hello"), x.version, x.from);
}
template <class F>
typename F::result_type inspect(F& f, ClusterIdentity& x) {
  return f(caf::meta::type_name("ClusterIdentity"), x.name, x.tasks, x.digest);
}
template <class F>
typename F::result_type inspect(F& f, Welcome& x) {
  return f(caf::meta::type_name("Welcome"), x.version, x.task, x.incarnation, x.software, x.worker,
           x.master, x.transport, x.membership, x.cluster);
}
template <class F>
typename F::result_type inspect(F& f, ActorInfo& x) {
  return f(caf::meta::type_name("ActorInfo"), x.path, x.id, x.mailbox, x.detail, x.actor);
}
template <class F>
typename F::result_type inspect(F& f, GetActors&) {
  return f(caf::meta::type_name("GetActors"));
}
template <class F>
typename F::result_type inspect(F& f, ActorTree& x) {
  return f(caf::meta::type_name("ActorTree"), x.actors);
}
template <class F>
typename F::result_type inspect(F& f, KillActor& x) {
  return f(caf::meta::type_name("KillActor"), x.path);
}
template <class F>
typename F::result_type inspect(F& f, PeerInfo& x) {
  return f(caf::meta::type_name("PeerInfo"), x.task, x.address, x.is_connected, x.silent_us,
           x.last_loss);
}
template <class F>
typename F::result_type inspect(F& f, ContainerInfo& x) {
  return f(caf::meta::type_name("ContainerInfo"), x.container, x.resources, x.bytes);
}
template <class F>
typename F::result_type inspect(F& f, ResourceInfo& x) {
  return f(caf::meta::type_name("ResourceInfo"), x.device, x.container, x.name, x.description,
           x.bytes);
}
template <class F>
typename F::result_type inspect(F& f, GetResources&) {
  return f(caf::meta::type_name("GetResources"));
}
template <class F>
typename F::result_type inspect(F& f, ResourceList& x) {
  return f(caf::meta::type_name("ResourceList"), x.resources);
}
template <class F>
typename F::result_type inspect(F& f, GetNodeStatus&) {
  return f(caf::meta::type_name("GetNodeStatus"));
}
template <class F>
typename F::result_type inspect(F& f, NodeStatus& x) {
  return f(caf::meta::type_name("NodeStatus"), x.task, x.incarnation, x.uptime_us, x.resident_bytes,
           x.devices, x.counters, x.peers, x.paths, x.containers);
}
template <class F>
typename F::result_type inspect(F& f, ShutDown& x) {
  return f(caf::meta::type_name("ShutDown"), x.grace_us, x.reason);
}
template <class F>
typename F::result_type inspect(F& f, Heartbeat& x) {
  return f(caf::meta::type_name("Heartbeat"), x.from, x.incarnation, x.losses, x.lost_incarnation,
           x.cluster);
}
template <class F>
typename F::result_type inspect(F& f, Farewell& x) {
  return f(caf::meta::type_name("Farewell"), x.from, x.incarnation, x.cluster);
}
template <class F>
typename F::result_type inspect(F& f, PullChunk& x) {
  return f(caf::meta::type_name("PullChunk"), x.ticket, x.offset, x.length);
}
template <class F>
typename F::result_type inspect(F& f, ReleaseTensor& x) {
  return f(caf::meta::type_name("ReleaseTensor"), x.ticket);
}
template <class F>
typename F::result_type inspect(F& f, OpenPath& x) {
  return f(caf::meta::type_name("OpenPath"), x.task, x.choice, x.host);
}
template <class F>
typename F::result_type inspect(F& f, PathOffer& x) {
  return f(caf::meta::type_name("PathOffer"), x.task, x.choice, x.host, x.local_name, x.stream_host,
           x.port, x.token, x.proof);
}

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Drain)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::TransportEvent)

CAF_BEGIN_TYPE_ID_BLOCK(troupe_node, troupe::type_block::node)
TROUPE_MESSAGE(troupe_node, Hello)
TROUPE_MESSAGE(troupe_node, Welcome)
TROUPE_MESSAGE(troupe_node, GetActors)
TROUPE_MESSAGE(troupe_node, ActorTree)
TROUPE_MESSAGE(troupe_node, KillActor)
TROUPE_MESSAGE(troupe_node, GetNodeStatus)
TROUPE_MESSAGE(troupe_node, NodeStatus)
TROUPE_MESSAGE(troupe_node, ShutDown)
TROUPE_LOCAL_MESSAGE(troupe_node, Peer)
TROUPE_LOCAL_MESSAGE(troupe_node, GetPeer)
TROUPE_LOCAL_MESSAGE(troupe_node, WatchPeer)
TROUPE_LOCAL_MESSAGE(troupe_node, PeerLost)
TROUPE_MESSAGE(troupe_node, Heartbeat)
TROUPE_MESSAGE(troupe_node, PullChunk)
TROUPE_LOCAL_MESSAGE(troupe_node, OfferTensor)
TROUPE_MESSAGE(troupe_node, ReleaseTensor)
TROUPE_LOCAL_MESSAGE(troupe_node, FetchTensor)
TROUPE_LOCAL_MESSAGE(troupe_node, FetchedTensor)
TROUPE_LOCAL_MESSAGE(troupe_node, GetPeers)
TROUPE_LOCAL_MESSAGE(troupe_node, PeerList)
TROUPE_MESSAGE(troupe_node, Farewell)
TROUPE_MESSAGE(troupe_node, OpenPath)
TROUPE_MESSAGE(troupe_node, PathOffer)
TROUPE_MESSAGE(troupe_node, GetResources)
TROUPE_MESSAGE(troupe_node, ResourceList)
CAF_END_TYPE_ID_BLOCK(troupe_node)
