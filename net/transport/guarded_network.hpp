// GuardedNetwork: CAF's network with bounds, for every process of troupe.
// `config.load<GuardedNetwork>()` in place of `load<caf::io::middleman>()`.
//
// - Every connection goes through a MessageFilter. A refused message closes its connection, with
//   one line in the log.
// - A message takes memory as its bytes arrive, not when its header announces them, unless it fits
//   into what all connections may hold in advance.
// - Connections without a handshake are few and short-lived, dialled ones too. The number of others
//   is bounded, and those that fall silent are closed.
// - CAF never waits for a connection to be made: it takes those that dial_tcp has made.
// - Actors cannot be found by name or spawned from outside.
// - Each system has an identity of its own, of random bits.
//
// A node may dial although we have a connection to it. Then it has lost that connection with all
// that it carried, and the end has not reached us. CAF would go on with the new one in silence.
// Here both are closed: everybody in this process learns of the loss, and the node dials again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <caf/io/middleman.hpp>

#include "net/data/sockets.hpp"

namespace troupe {

/// Bounds on what strangers can take; where a name is given, that is its key in [troupe].
struct NetworkLimits {
  std::size_t message_bytes = std::size_t{64} << 20; ///< message-limit: of one message
  /// Held in advance for bytes that have not come (ahead-limit, not for config files).
  std::size_t ahead_bytes = std::size_t{64} << 20;
  /// Held for large messages that have come in part; at least two of the largest.
  std::size_t arrived_bytes = std::size_t{512} << 20;
  std::size_t piece_bytes = 64 * 1024; ///< read at a time beyond that
  /// Waiting for one peer that does not read (unsent-limit, not for config files).
  std::size_t unsent_bytes = std::size_t{512} << 20;
  std::size_t strangers = 64;                  ///< connections without a handshake
  std::size_t connections = 512;               ///< connections: accepted ones in all
  std::chrono::milliseconds handshake{10'000}; ///< handshake-deadline, of either side
  /// An accepted connection on which nothing comes for so long is closed (idle-limit, not for
  /// config files).
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

  /// The network of a process of troupe.
  static GuardedNetwork& of(caf::actor_system& system);

  /// A connection that was made for CAF. While this lives, a request to CAF to connect to the same
  /// host and port takes it, unless CAF has another one there. At its end the connection is closed,
  /// unless the other side has greeted: CAF would wait for the greeting without end, and let
  /// everybody who dials the same address wait with it.
  class Introduction {
  public:
    Introduction(GuardedNetwork& network, std::uint64_t number)
        : network_(&network), number_(number) {}
    Introduction(Introduction&& other) noexcept
        : network_(std::exchange(other.network_, nullptr)), number_(other.number_) {}
    Introduction& operator=(Introduction&&) = delete;
    ~Introduction();

  private:
    GuardedNetwork* network_;
    std::uint64_t number_;
  };
  /// Any thread; the network outlives what is returned.
  [[nodiscard]] Introduction introduce(const std::string& host, std::uint16_t port,
                                       data::Fd connected);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
