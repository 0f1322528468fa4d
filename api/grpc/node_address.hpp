// How the tasks of a cluster that is known by gRPC addresses alone find each other's ports: each
// tells its own to whoever asks at its gRPC port. Asked again with each dial, so that a task that
// has started again on another port is found.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

class StopEvent;

/// Takes any request; its answer is the number of the port, in ASCII.
inline constexpr std::string_view node_address_method = "/troupe.Node/Address";

/// Takes a cluster and the task of it that the node is to be, as TF_CONFIG; its answer is the
/// number of the port of that task.
inline constexpr std::string_view join_cluster_method = "/troupe.Node/Join";

/// Asks the gRPC address of a task for the port of its node, which is on the same host. Blocks for
/// at most `budget`, and not beyond `stop` (may be null). UNAVAILABLE naming the address when
/// nobody answers; UNIMPLEMENTED when the server is not troupe's; otherwise the server's own
/// refusal.
Result<Address> ask_node_address(const Address& grpc_address, std::chrono::milliseconds budget,
                                 const StopEvent* stop);

/// The same of a task that is to join a cluster.
Result<Address> ask_to_join(const Address& grpc_address, const std::string& tf_config,
                            std::chrono::milliseconds budget, const StopEvent* stop);

} // namespace troupe
