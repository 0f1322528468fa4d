// From a checked config to what a node starts with.
#pragma once

#include "actors/node/node.hpp"
#include "net/cluster/node_config.hpp"

namespace troupe {

NodeOptions to_node_options(const NodeConfig& config);

} // namespace troupe
