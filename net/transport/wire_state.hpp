// What the kernel knows of a TCP connection of this process. A peer's message may take minutes on a
// slow link; its first bytes already say that the peer lives.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

struct WireState {
  /// Since the last byte came. Bytes that came out of order, while the kernel waits for one that
  /// was lost, are known from the second time that the connection is asked for: ask before it
  /// matters.
  std::chrono::milliseconds silent{0};
  /// Something that was sent has been repeated without being acknowledged: the other machine cannot
  /// be reached. False while that machine's kernel answers, however frozen the process is.
  bool is_cut = false;
  /// The time of a round trip now, with the spread that the kernel has seen: seconds where a slow
  /// link has a long queue. The other end waits so long, or twice that, before it repeats lost
  /// bytes. The first is this connection's, the second the longest of this process's connections,
  /// which may share the link.
  std::chrono::milliseconds round_trip{0}, longest_round_trip{0};
  std::uint16_t local_port = 0; ///< with the other end's address it names the connection

  /// False when a silence of this length means that the other end is dead. What was lost on
  /// the way comes some round trips later, so a slow link has more than its `lease`: two round
  /// trips, up to twelve leases, or up to three where it is another connection that is slow.
  bool lives(std::chrono::microseconds lease) const;
};

/// The connection of this process whose other end is host:port (numeric, as the kernel tells it);
/// of several the one that heard something last. Nothing if there is none. Any thread.
std::optional<WireState> wire_state(const std::string& host, std::uint16_t port);

/// Ends every connection to host:port. Its users find it closed at once, and none of its bytes are
/// delivered later, when a cut is healed. Any thread; false if there was none.
bool close_wire(const std::string& host, std::uint16_t port);

} // namespace troupe
