// ClusterNode: one task of a cluster in this process: its devices, its actor system, its tree of
// actors, its port.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/family/network.hpp"
#include "actors/family/timeouts.hpp"
#include "actors/protocol/tree.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"
#include "net/cluster/find_address.hpp"
#include "net/data/tensor_path.hpp"

namespace caf {
class actor_system;
}

namespace troupe {

struct DeviceFactory;
struct DeviceHost;
struct NodeServices;

struct NodeOptions {
  Cluster cluster; ///< empty for a node of its own ("local": no network at all)
  std::string job = "localhost";
  int task = 0;
  std::optional<Address> listen; ///< where its port is opened; without it the task's address
  /// Finds the ports of other tasks, where the cluster lists gRPC addresses.
  FindAddress find_address;
  /// Makes the actor that stands for one of TensorFlow's servers (find_address: UNIMPLEMENTED);
  /// empty: such a task cannot be reached.
  DialForeign dial_foreign;
  /// The number of devices of each type, such as "CPU". Without an entry the type decides; CPU has
  /// one.
  std::map<std::string, int> device_count;
  /// Where devices come from; null: every type that this build has.
  const std::vector<DeviceFactory>* device_factories = nullptr;
  /// The DeviceHost of another node in this process, to share its memory and threads;
  /// compute_threads and memory_limit are then ignored. Null: its own.
  std::shared_ptr<DeviceHost> host;
  int compute_threads = 0;       ///< 0: machine_processors()
  int actor_threads = 2;         ///< of the scheduler
  std::int64_t memory_limit = 0; ///< bytes; 0: none
  double accelerator_share = 0;  ///< of a GPU's memory, up to 1; 0: nine tenths
  /// Folders below which graphs may read and write files; empty: the working folder.
  std::vector<std::string> files;
  Timeouts timeouts;
  TensorPathSettings tensor_paths;
  /// CAF's own settings from the config file, such as {"middleman.max-consecutive-reads", "50"};
  /// applied last.
  std::vector<std::pair<std::string, std::string>> caf_settings;
};

/// Everything lives as long as this object. Start and stop from one thread, outside actors.
class ClusterNode {
public:
  /// Starts the tree and, with a cluster, listens at its address. INVALID_ARGUMENT for a
  /// task that is not in the cluster; UNAVAILABLE when the address cannot be bound, naming it and
  /// who may have it; FAILED_PRECONDITION for devices that are not there.
  static Result<std::unique_ptr<ClusterNode>> start(const NodeOptions& options);
  /// A client's end: no port, no worker for others; it may dial `cluster`-less addresses. With
  /// `local` it runs graphs itself.
  ~ClusterNode();

  const std::string& task() const;
  std::uint16_t port() const; ///< 0 when local
  caf::actor_system& system();
  const NodeServices& services() const;
  std::shared_ptr<const NodeServices> shared_services() const;
  /// The GuardianActor, as the tree's root.
  const struct NodeHandles& handles() const;
  /// As it was started, and with what another node of this process needs to share its host.
  const NodeOptions& options() const;

  /// Makes `actor`, spawned in this node's system, one of the tree under `name`: it is seen by
  /// status and why, told before the node ends, and the node ends with it. UNAVAILABLE when the
  /// node is about to end.
  Status adopt(const std::string& name, const DrainActor& actor);

  /// Blocks until the tree has stopped by itself or on somebody's request; returns why.
  std::string wait();
  /// False when the tree stopped because a part of it ended unexpectedly.
  bool ended_in_order() const;
  /// Blocks for at most `budget`; false if it still runs then.
  bool wait_for(std::chrono::milliseconds budget);
  /// Asks the tree to stop; `wait` returns when it has. With a grace, new work is refused and
  /// running steps have that long to finish; without, everything stops at once. Safe from any
  /// thread; not from a signal handler.
  void shut_down(const std::string& reason, std::chrono::milliseconds grace = {});

private:
  ClusterNode();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
