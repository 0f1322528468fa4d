// What nodes send each other: who they are, that they live, bytes of tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/common.hpp"
#include "actors/protocol/master.hpp"
#include "actors/protocol/membership.hpp"
#include "actors/protocol/message_code.hpp"
#include "actors/protocol/transport.hpp"
#include "actors/protocol/worker.hpp"
#include "net/cluster/cluster.hpp"

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
  std::string task;              ///< "/job:worker/replica:0/task:1"
  std::uint64_t incarnation = 0; ///< of the process
  std::string software;          ///< "troupe 0.1.0"
  WorkerActor worker;            ///< WorkerActor
  MasterActor master;            ///< MasterActor
  TransportActor transport;      ///< TransportActor
  MembershipActor membership;    ///< MembershipActor
  ClusterIdentity cluster;
};
/// One actor of the live tree.
struct ActorInfo {
  std::string path; ///< "guardian/worker/session-1f…/graph-manager"
  std::uint64_t id = 0;
  std::uint64_t mailbox = 0; ///< messages that wait
  std::string detail;        ///< what it is at: "3 graphs, 1 step"
  TreeActor actor;           ///< empty in what a node answers to others
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
/// Why a peer counts as lost.
enum class LossReason : std::uint8_t {
  crashed,   ///< its connection closed
  frozen,    ///< connection open, no sign of life for the lease
  cut_off,   ///< cannot be reached
  left,      ///< it said that it ends
  restarted, ///< the same task answers with another incarnation
  gave_up,   ///< it lives, and has given us up: it had heard nothing of us
};
std::string to_string(LossReason reason);
/// The reason of that number; nothing for a number that is none. A peer may send any.
std::optional<LossReason> loss_reason_of(std::uint8_t number);

/// A task of the cluster as another one sees it, for people.
struct PeerInfo {
  std::string task;
  std::string address;
  bool is_connected = false;
  std::int64_t silent_us = 0;          ///< since it was heard of last; while it is connected
  std::optional<LossReason> last_loss; ///< why it was lost last; none: never
  /// "alive", "lost", or "not dialled yet", which is no fault: tasks dial those that they need.
  std::string_view state() const {
    return is_connected ? "alive" : last_loss ? "lost" : "not dialled yet";
  }
  /// "alive, last heard of 12 ms ago".
  std::string to_string() const;
};
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
/// Sent every heartbeat interval to each watched peer.
struct Heartbeat {
  std::string from;
  std::uint64_t incarnation = 0;
  /// How often `from` has lost the receiver, and which incarnation of it. A receiver that has lost
  /// `from` less often has missed the end of a connection.
  std::uint32_t losses = 0;
  std::uint64_t lost_incarnation = 0;
  std::uint64_t cluster = 0; ///< ClusterIdentity::digest of `from`
  /// For how long `from` had heard nothing of the receiver when it lost it last; 0: lost otherwise.
  std::int64_t silent_us = 0;
};
/// A task ends in order, so that nobody takes it for crashed; or it gives the receiver up, before
/// it closes the connection, so that both say the same of it.
struct Farewell {
  std::string from;
  std::uint64_t incarnation = 0;
  std::uint64_t cluster = 0; ///< as in Heartbeat
  /// Not 0: it does not end; it has heard nothing of the receiver for so long.
  std::int64_t silent_us = 0;
};
/// Bytes [offset, offset + length) of an offered tensor.
struct PullChunk {
  std::uint64_t ticket = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
/// The receiver has everything.
struct ReleaseTensor {
  std::uint64_t ticket = 0;
};
/// A node wants to pull tensors from another: says who it is, and asks on which paths it may.
struct OpenPath {
  std::string task;        ///< task name, or "client"
  std::uint8_t choice = 0; ///< PathChoice
  std::string host;        ///< boot id
  std::uint8_t ucx = 0;    ///< UcxSupport
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
  std::uint8_t ucx = 0;     ///< UcxSupport
};

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
  std::uint8_t loss = x.last_loss ? static_cast<std::uint8_t>(*x.last_loss) + 1 : 0;
  auto store = [&]() -> caf::error {
    x.last_loss = loss ? loss_reason_of(loss - 1) : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("PeerInfo"), x.task, x.address, x.is_connected, x.silent_us, loss,
           caf::meta::load_callback(store));
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
           x.cluster, x.silent_us);
}
template <class F>
typename F::result_type inspect(F& f, Farewell& x) {
  return f(caf::meta::type_name("Farewell"), x.from, x.incarnation, x.cluster, x.silent_us);
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
  return f(caf::meta::type_name("OpenPath"), x.task, x.choice, x.host, x.ucx);
}
template <class F>
typename F::result_type inspect(F& f, PathOffer& x) {
  return f(caf::meta::type_name("PathOffer"), x.task, x.choice, x.host, x.local_name, x.stream_host,
           x.port, x.token, x.proof, x.ucx);
}

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_node, troupe::type_block::node)
TROUPE_MESSAGE(troupe_node, Hello)
TROUPE_MESSAGE(troupe_node, Welcome)
TROUPE_MESSAGE(troupe_node, GetActors)
TROUPE_MESSAGE(troupe_node, ActorTree)
TROUPE_MESSAGE(troupe_node, KillActor)
TROUPE_MESSAGE(troupe_node, GetNodeStatus)
TROUPE_MESSAGE(troupe_node, NodeStatus)
TROUPE_MESSAGE(troupe_node, ShutDown)
TROUPE_MESSAGE(troupe_node, Heartbeat)
TROUPE_MESSAGE(troupe_node, PullChunk)
TROUPE_MESSAGE(troupe_node, ReleaseTensor)
TROUPE_MESSAGE(troupe_node, Farewell)
TROUPE_MESSAGE(troupe_node, OpenPath)
TROUPE_MESSAGE(troupe_node, PathOffer)
TROUPE_MESSAGE(troupe_node, GetResources)
TROUPE_MESSAGE(troupe_node, ResourceList)
CAF_END_TYPE_ID_BLOCK(troupe_node)
