// GuardedNetwork: CAF's network with bounds, for every process of troupe.
// `config.load<GuardedNetwork>()` in place of `load<caf::io::middleman>()`.
//
// - Every connection goes through a MessageFilter. A refused message closes its connection, with one
//   line in the log.
// - A message takes memory as its bytes arrive, not when its header announces them, unless it fits
//   into what all connections may hold in advance.
// - Connections without a handshake are few and short-lived. The number of others is bounded, and
//   those that fall silent are closed.
// - Actors cannot be found by name or spawned from outside.
// - Each system has an identity of its own, of random bits.
//
// A node may dial although we have a connection to it. Then it has lost that connection with all that
// it carried, and the end has not reached us. CAF would go on with the new one in silence. Here both
// are closed: everybody in this process learns of the loss, and the node dials again.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include <caf/io/middleman.hpp>

namespace troupe {

/// Bounds on what strangers can take; where a name is given, that is its key in [troupe].
struct NetworkLimits {
  std::size_t message_bytes = std::size_t{64} << 20; ///< message-limit: of one message
  std::size_t ahead_bytes =
      std::size_t{64}
      << 20; ///< ahead-limit (not for config files): held for bytes that have not come
  /// Held for large messages that have come in part; at least two of the largest.
  std::size_t arrived_bytes = std::size_t{512} << 20;
  std::size_t piece_bytes = 64 * 1024; ///< read at a time beyond that
  std::size_t unsent_bytes =
      std::size_t{512}
      << 20; ///< unsent-limit (not for config files): waiting for one peer that does not read
  std::size_t strangers = 64;                  ///< connections without a handshake
  std::size_t connections = 512;               ///< connections: accepted ones in all
  std::chrono::milliseconds handshake{10'000}; ///< handshake-deadline
  /// An accepted connection on which nothing comes for so long is closed (idle-limit, not for config
  /// files).
  std::chrono::milliseconds idle{60'000};
  /// Two nodes may dial each other at the same moment. A connection older than this was not made so
  /// (crossing-time, not for config files).
  std::chrono::milliseconds crossing{1'000};
};

/// An identity for a node: 160 random bits, and the process's number for people.
caf::node_id new_identity();

class GuardedNetwork : public caf::io::middleman {
public:
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);
  explicit GuardedNetwork(caf::actor_system& system);
  ~GuardedNetwork() override;
  void init(caf::actor_system_config& config) override;
  void start() override;
  void stop() override;
  caf::io::network::multiplexer& backend() override;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
