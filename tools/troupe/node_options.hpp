// From a checked config to what a node starts with.
#pragma once

#include "actors/node/node.hpp"
#include "net/cluster/node_config.hpp"

namespace troupe {

struct GatewayOptions;

NodeOptions to_node_options(const NodeConfig& config);
/// Of settings that have an address.
GatewayOptions to_gateway_options(const GatewaySettings& settings);

} // namespace troupe
