// A kernel's call on its way to COLLECTIVES, and a session's door to that actor.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "actors/protocol/local/collectives.hpp"
#include "kernels/framework/collectives.hpp"

namespace troupe {

/// The kernel keeps the memory of its step until it is answered, but the actor may end before that.
/// So a call that is destroyed without an answer answers CANCELLED, on the thread that destroys it.
class PendingCollective {
public:
  PendingCollective(CollectiveCall call, std::string session, Arrived arrived)
      : call(std::move(call)), session(std::move(session)), arrived_(std::move(arrived)) {}
  ~PendingCollective();
  PendingCollective(const PendingCollective&) = delete;
  /// Only the first counts.
  void answer(Result<Tensors> outcome);

  const CollectiveCall call;
  const std::string session;

private:
  Arrived arrived_; ///< empty once it was called
};

/// What calls wait for, written by the actor for whoever asks. Any thread.
class CollectiveNotes {
public:
  void set(std::uint64_t ticket, std::string text);
  void forget(std::uint64_t ticket);
  std::string get(std::uint64_t ticket) const;

private:
  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, std::string> texts_;
};

/// The door of the session `handle` to its task's COLLECTIVES, which writes `notes`. It does not
/// keep the actor alive.
std::shared_ptr<Collectives> session_collectives(const CollectivesActor& actor, std::string handle,
                                                 std::shared_ptr<CollectiveNotes> notes);

} // namespace troupe
