// CallerUnit: runs the actors that a blocking caller's message makes ready on the caller's own
// thread, so that a local step wakes no thread.
//
//   caf::scoped_actor self{system};
//   CallerUnit unit{system};
//   self->context(&unit);
//   auto request = self->request(…);
//   unit.drain();           // all that the message set off and that can run here has run
//   request.receive(…);     // waits as usual for what had to happen elsewhere
//
// CAF passes the sender's execution unit on to each receiver. An actor is on one unit's list at a
// time, so this is as safe as a scheduler.
#pragma once

#include <deque>

#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>

namespace troupe {

/// Each thread has its own.
class CallerUnit : public caf::execution_unit {
public:
  explicit CallerUnit(caf::actor_system& system) : caf::execution_unit(&system) {}
  void exec_later(caf::resumable* job) override;
  /// Returns when nothing is ready here.
  void drain();
  /// The same, but once `done()` holds (the caller has its answer) it runs a few more jobs only.
  /// The rest goes to the scheduler: an actor that always has more to do must not keep the caller.
  template <class Done>
  void drain_until(Done done) {
    for (int more = max_jobs_after; run_one();)
      if (done() && --more == 0)
        return hand_over();
  }

private:
  static constexpr int max_jobs_after = 32;
  bool run_one(); // false if nothing is ready
  void hand_over();

  std::deque<caf::resumable*> ready_; // each holds one reference, as a scheduler's queue would
};

} // namespace troupe
