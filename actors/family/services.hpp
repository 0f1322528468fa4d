// What every actor of a node may use: its devices, op library, cluster and bounds. Plain, made
// before the first actor, outlives the last.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <caf/actor_control_block.hpp>

#include "actors/family/timeouts.hpp"
#include "core/base/clock.hpp"
#include "devices/device.hpp"
#include "kernels/framework/op_library.hpp"
#include "net/cluster/cluster.hpp"
#include "net/data/lent_memory.hpp"
#include "net/data/path_book.hpp"

namespace troupe {

struct NodeServices {
  std::string task; ///< "/job:worker/replica:0/task:1"; "/job:localhost/replica:0/task:0" for a
                    ///< client's own node
  std::uint64_t incarnation = 0; ///< of this process
  bool is_local = false;         ///< alone in its process, no network
  Cluster cluster;               ///< empty when local
  DeviceSet devices;
  /// Host memory of this node, which its devices, values from other nodes and shared pages have in
  /// common; counts against its limit.
  Allocator* host_memory = &host_allocator();
  const OpLibrary* library = nullptr;
  Timeouts timeouts;
  std::int64_t started_us = 0; ///< steady_micros() at start
  /// Runs work that takes more than a millisecond away from the actors' threads. In a simulation it
  /// runs at once.
  std::function<void(std::function<void()>)> offload;
  /// Connects to the guardian that listens at an address, within a budget. Blocks: called on a
  /// thread of its own. A simulation puts its wire here.
  std::function<Result<caf::strong_actor_ptr>(caf::actor_system&, const Address&,
                                              std::chrono::milliseconds)>
      dial;
  /// Expensive kernels may go to compute threads; false in a simulation, where one thread does
  /// everything.
  bool parallel_kernels = true;
  /// Peers are reached over TCP, so that the kernel can be asked about a silent one; false in a
  /// simulation and without a network.
  bool real_network = false;
  /// How tensors travel; what has moved so far.
  TensorPathSettings tensor_paths;
  std::shared_ptr<PathBook> path_book = std::make_shared<PathBook>();
  std::shared_ptr<LentMemory> lent_memory = std::make_shared<LentMemory>();
  /// Blocking work gets threads of its own; false in a simulation.
  bool detach_blocking = true;
  /// How long an executor's handler runs kernels before other messages, a cancellation among them,
  /// get their turn. A simulation, which knows no real time, takes none of it or all.
  Duration slice = std::chrono::milliseconds(1);
};
using Services = std::shared_ptr<const NodeServices>;

} // namespace troupe
