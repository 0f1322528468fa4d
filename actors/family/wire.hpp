// The connection to another node, as an actor sees it: asked before silence is taken for death.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor.hpp>

#include "actors/family/services.hpp"
#include "core/base/strings.hpp"
#include "net/transport/wire_state.hpp"

namespace troupe {

/// A node's connection: where its other end is, and what the kernel knows of it.
struct Wire {
  std::string host;
  std::uint16_t port = 0;
  WireState state;
  /// Unique within this process.
  std::string name() const { return str_cat(state.local_port, "-", host, ":", port); }
};

/// Calls `done(std::optional<Wire>)` as part of `self`, within a second: nothing when there is no
/// connection to `node`, or no real network.
template <class Self, class Done>
void ask_wire(Self* self, const Services& services, const caf::node_id& node, Done done) {
  if (!services->network->is_tcp() || node == self->node() || node == caf::none)
    return done(std::optional<Wire>{});
  self->request(self->system().middleman().actor_handle(), caf::timespan(std::chrono::seconds(1)),
                caf::get_atom::value, node)
      .then(
          [=](const caf::node_id&, const std::string& host, std::uint16_t port) mutable {
            auto state = wire_state(host, port);
            done(state ? std::optional<Wire>({host, port, *state}) : std::nullopt);
          },
          [=](caf::error&) mutable { done(std::optional<Wire>{}); });
}

} // namespace troupe
