// What every actor of a node may use: its devices, op library, cluster and bounds. Plain, made
// before the first actor, outlives the last.
#pragma once

#include <memory>
#include <string>

#include "actors/family/network.hpp"
#include "actors/family/timeouts.hpp"
#include "actors/family/work_threads.hpp"
#include "devices/device.hpp"
#include "kernels/framework/op_library.hpp"
#include "net/cluster/cluster.hpp"
#include "net/data/lent_memory.hpp"
#include "net/data/path_book.hpp"
#include "net/data/push_lanes.hpp"

namespace troupe {

/// Who a node is.
struct NodeIdentity {
  std::string task; ///< "/job:worker/replica:0/task:1"; "/job:localhost/replica:0/task:0" for a
                    ///< client's own node
  std::uint64_t incarnation = 0; ///< of this process
  Cluster cluster;               ///< empty without a network
  std::int64_t started_us = 0;   ///< steady_micros() at start
};

/// What a node computes with.
struct NodeDevices {
  DeviceSet devices;
  /// Host memory of this node, which its devices, values from other nodes and shared pages have in
  /// common; counts against its limit.
  Allocator* host_memory = &host_allocator();
  const OpLibrary* library = nullptr;
};

/// How tensors travel; what has moved so far.
struct NodePaths {
  TensorPathSettings tensor_paths;
  std::shared_ptr<PathBook> path_book = std::make_shared<PathBook>();
  std::shared_ptr<LentMemory> lent_memory = std::make_shared<LentMemory>();
  std::shared_ptr<PushLanes> push_lanes = std::make_shared<PushLanes>();
};

struct NodeServices : NodeIdentity, NodeDevices, NodePaths {
  std::shared_ptr<Network> network = std::make_shared<NoNetwork>();
  std::shared_ptr<WorkThreads> threads = std::make_shared<CallersThread>();
  Timeouts timeouts;
};
using Services = std::shared_ptr<const NodeServices>;

} // namespace troupe
