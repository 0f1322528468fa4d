// Colocation groups: nodes that must share a device, what they ask for together, and which device
// types they all have kernels for.
#pragma once

#include <string>
#include <vector>

#include "graph/placement/place.hpp"

namespace troupe::placement {

/// What the members of a group say together.
struct Terms {
  DeviceName owners;              ///< asked for by the owners of variables and resources
  DeviceName requested;           ///< asked for by all, where it does not contradict the owners
  std::vector<std::string> types; ///< that all members support, in the first member's order
  std::string assigned;           ///< of a member that had a device before; empty: none
};

struct Group {
  std::vector<NodeId> members;
  int terms = -1; ///< index into Groups::terms; nodes that are alone and alike have the same
};

struct Groups {
  std::vector<Group> groups;
  std::vector<Terms> terms;
  std::vector<int> of; ///< by node: index into groups, -1 for removed nodes
};

/// Errors as in `place`.
Result<Groups> make_groups(const Graph& graph, const PlacementOptions& options);

} // namespace troupe::placement
