// DirectCalls: a session's short steps on the thread of gRPC's that took the call. No actor is
// woken, and no thread but the one that also sends the answer. Knows no actors.
//
// A step is begun here once the actors have run its signature, quickly; DirectSteps has the rest.
// What does not end at once goes to them as it stands.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/master_session/direct_steps.hpp"
#include "api/grpc/master_codec.hpp"
#include "api/grpc/request_book.hpp"
#include "api/grpc/rpc_server.hpp"

namespace troupe {

/// What the actors are told of a step that did not end where it came in.
struct StepNote {
  bool wants_direct = false; ///< its signature is not known here
  std::shared_ptr<BegunStep> begun = nullptr;
  std::uint64_t life = 0; ///< of the DirectSteps that began it
  bool is_booked = false; ///< DirectCalls::ended is to be told of its end
};

/// Of one session. Any thread.
class DirectCalls {
public:
  /// Threads that may run steps at once, over all sessions of a server: fewer than it has, so that
  /// one takes calls whatever a kernel does.
  struct Seats {
    explicit Seats(int seats) : free(seats) {}
    std::atomic<int> free;
  };

  /// `longest_ms`: a step's time where its options give none.
  DirectCalls(std::shared_ptr<DirectSteps> steps, std::int64_t longest_ms);

  /// A step has come for the actors.
  struct ForActors {
    std::shared_ptr<RpcCall> call;
    master_codec::RunStep step;
    StepNote note;
  };
  /// Answers the call if its step ends here, or has before; else `send`s what is the actors'.
  template <class Send>
  void take(Seats& seats, std::shared_ptr<RpcCall> call, master_codec::RunStep step, Send send) {
    auto for_actors = begin(seats, std::move(call), std::move(step));
    if (!for_actors)
      return;
    const auto id = static_cast<std::uint64_t>(for_actors->step.request_id);
    const bool is_booked = for_actors->note.is_booked;
    send(*std::move(for_actors));
    if (is_booked) // now that it is on its way, since what joined it comes after it
      for (ForActors& joined : hand_over(id))
        send(std::move(joined));
  }

  /// Whether the master session that a step was begun for is still the session's.
  bool is_current(const StepNote& note) const { return note.life == steps_->life(); }
  /// The actors have answered such a request.
  void ended(std::uint64_t request_id);
  /// They have run a step of the signature within a short time. Names with their slots: "x:0".
  void learn(std::vector<std::string> feeds, std::vector<std::string> fetches,
             std::vector<std::string> targets, std::shared_ptr<const DirectGraph> graph);
  /// The session is at an end, or is made again: signatures are not known any more.
  void forget();
  /// Calls that have come.
  std::int64_t num_calls() const { return num_calls_.load(std::memory_order_relaxed); }

private:
  using Answer = std::vector<Tensor>;
  struct Learnt {
    std::vector<std::string> feeds, fetches, targets;
    std::shared_ptr<const DirectGraph> graph;
  };

  std::optional<ForActors> begin(Seats& seats, std::shared_ptr<RpcCall> call,
                                 master_codec::RunStep step);
  std::vector<ForActors> hand_over(std::uint64_t request_id);
  DirectOutcome run(const DirectRequest& request);
  std::shared_ptr<const DirectGraph> learnt(const DirectRequest& request) const;

  std::shared_ptr<DirectSteps> steps_;
  std::int64_t longest_ms_;
  std::atomic<std::int64_t> num_calls_{0};
  mutable std::mutex lock_; // guards what follows; never held while a step runs
  RequestBook<std::shared_ptr<ForActors>, Answer> book_;
  std::vector<Learnt> learnt_; ///< the latest last
};

} // namespace troupe
