// place: gives every node of a graph a device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/device_name.hpp"
#include "graph/ir/graph.hpp"

namespace troupe {

struct PlacementDevice {
  DeviceName name;  ///< full
  std::string type; ///< "CPU", "GPU"
  std::uint64_t incarnation = 0;
};

/// Device types that have a kernel for the node, best first: a matter of its op and attrs alone. An
/// error says that there is none, and why.
using SupportedDeviceTypes = std::function<Result<std::vector<std::string>>(const Node&)>;

struct PlacementOptions {
  std::vector<PlacementDevice> devices;
  std::string own_task; ///< the master's, whose devices come first; empty: no task's do
  SupportedDeviceTypes supported_types;
  bool allow_soft_placement = false; ///< a request that cannot be met loses its type and id
  bool log_device_placement = false; ///< prints "name: (Op): device" for each node, as graphs print
};

/// Sets `assigned_device` of every node; on an error the graph is unchanged.
///
/// A node may go to the devices that match its requested (partial) name, have a kernel for it and
/// for all nodes of its colocation group. The group is made by `_class` attributes ("loc:@other"),
/// reference edges and resource edges. Among these the first device type of the group's preference
/// wins, then a device of `own_task`, then the first name in lexicographic order. What owns a
/// variable or resource decides against what uses it. A node that has an assigned device keeps it,
/// and so does its group. A node without inputs follows its readers if they are all on one device;
/// Shape, Size, Rank and fetches follow their input.
///
/// Errors, with the names of nodes and devices: INVALID_ARGUMENT for requests that no device meets,
/// that contradict each other within a group, or an op without kernel; INTERNAL if an assigned
/// device is not among `devices`. Linear in nodes, edges and devices.
Status place(Graph& graph, const PlacementOptions& options);

} // namespace troupe
