// The bounds on waiting that the protocol of a cluster rests on, with their reasons. [troupe] of a
// config file may change those that have a key.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace troupe {

struct Timeouts {
  /// How often a node says that it lives, and how long it may be silent. Five heartbeats fit in a
  /// lease, so that one lost in a busy moment condemns nobody.
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds lease{5000};
  /// Reaching a peer: TCP connect and hello. A task that starts at the same moment as we needs this
  /// long to listen.
  std::chrono::milliseconds dial{10000};
  /// Ordinary requests between actors of the runtime; their handlers take milliseconds.
  std::chrono::milliseconds request{10000};
  /// Compiling a graph on another node: large graphs take seconds.
  std::chrono::milliseconds compile{300000};
  /// One piece of a tensor: 1 MiB in messages, 4 MiB by UCX.
  std::chrono::milliseconds chunk{30000};
  /// The longest deadline: of steps that have none of their own, and the cap of those that have. A
  /// lost task ends a step at once.
  std::chrono::milliseconds step{std::chrono::hours(24 * 7)};
  /// Between two calls of a partial run, of which only its client knows whether there is another:
  /// what that does meanwhile may take long, a person at a prompt too.
  std::chrono::milliseconds partial_run{std::chrono::hours(1)};
  /// After a step's deadline, for its parts to be cancelled and to answer, before the client is
  /// answered without them.
  std::chrono::milliseconds cancel{2000};
  /// When a node ends: for its peers to be told and what still runs to be cancelled, before it goes
  /// all the same. Only a kernel that holds its thread needs longer.
  std::chrono::milliseconds leave{500};
  /// Explaining a step: a task that has not said within it what it waits for is itself the reason.
  /// The scan takes milliseconds at most; the rest is for a busy machine and the way there.
  std::chrono::milliseconds explain{1000};
  /// Values and tickets that nobody came for, at least; see unclaimed().
  std::chrono::milliseconds orphan{60000};

  /// How long values wait for a peer. One that is silent for less than the lease counts as alive,
  /// and comes for them when it wakes.
  std::chrono::milliseconds unclaimed() const { return std::max(orphan, lease + heartbeat * 2); }

  /// By then the silence of a task has been judged: leases are looked at once a heartbeat, and the
  /// kernel is asked. Whoever waits for several tasks, and was given no time of its own, gives up
  /// then.
  std::chrono::milliseconds verdict() const { return lease + heartbeat * 3 / 2; }
};

/// The lease (µs) of a session whose other end lives in another process and asks for `wanted_us`:
/// that, or our own if it is none or a hundred times as long. Configs may differ, but not by so
/// much, and a session without a lease would stay for ever.
inline std::int64_t bounded_lease(std::int64_t wanted_us, const Timeouts& timeouts) {
  const std::int64_t own = std::chrono::microseconds(timeouts.lease).count();
  return wanted_us <= 0 || wanted_us / 100 > own ? own : wanted_us;
}

/// The timeout (µs; 0: none) of a request that another process sent with `wanted_us`: at most a
/// step's longest time, so that sums and nanoseconds of it do not overflow.
inline std::int64_t bounded_timeout(std::int64_t wanted_us, const Timeouts& timeouts) {
  const std::int64_t longest = std::chrono::microseconds(timeouts.step).count();
  return std::clamp<std::int64_t>(wanted_us, 0, longest);
}

} // namespace troupe
