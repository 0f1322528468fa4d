// The key of a cut edge, made from a node's attributes once and completed by the place in a loop.
#pragma once

#include <string>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::comm {

/// What _Send and _Recv prepare.
struct Edge {
  std::string start; ///< the key up to the last ';'
  std::string key;   ///< outside of loops
  bool leaves_task = false;
};

inline Result<std::shared_ptr<const void>> prepare_edge(PrepareContext& c) {
  TROUPE_ASSIGN(std::string name, c.attr<std::string>("tensor_name"));
  TROUPE_ASSIGN(std::string from, c.attr<std::string>("send_device"));
  TROUPE_ASSIGN(std::string to, c.attr<std::string>("recv_device"));
  TROUPE_ASSIGN(std::int64_t incarnation, c.attr<std::int64_t>("send_device_incarnation"));
  Edge out;
  out.key = rendezvous_key(from, static_cast<std::uint64_t>(incarnation), to, name, 0, 0);
  TROUPE_TRY(parse_rendezvous_key(out.key).status());
  out.start = out.key.substr(0, out.key.rfind(';') + 1);
  out.leaves_task = from.substr(0, from.find("/device:")) != to.substr(0, to.find("/device:"));
  return prepared(std::move(out));
}

inline std::string key_of(const KernelContext& c) {
  const Edge& edge = c.prepared<Edge>();
  return c.frame_id == 0 && c.iteration == 0 ? edge.key
                                             : str_cat(edge.start, c.frame_id, ":", c.iteration);
}

inline Status no_rendezvous(const KernelContext& c) {
  return internal(str_cat("node '", c.node_name(), "' runs in a step without a rendezvous"));
}

constexpr auto edge_attrs = "tensor_name: string; send_device: string; "
                            "send_device_incarnation: int; recv_device: string; "
                            "client_terminated: bool = false";

} // namespace troupe::comm
