// CallerUnit: runs the actors that a blocking caller's message makes ready on the caller's own
// thread, so that a local step wakes nobody.
//
//   caf::scoped_actor self{system};
//   CallerUnit unit{system};
//   self->context(&unit);
//   auto request = self->request(…);
//   unit.drain();                       // everything that the message set off, and that can run
//   now, has run request.receive(…);                 // what had to happen elsewhere is waited for
//   as usual
//
// CAF hands the sender's execution unit to whomever it sends to; an actor is on one unit's list at
// a time, so this is as safe as a scheduler.
#pragma once

#include <deque>

#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>

namespace troupe {

/// For one thread.
class CallerUnit : public caf::execution_unit {
public:
  explicit CallerUnit(caf::actor_system& system) : caf::execution_unit(&system) {}
  void exec_later(caf::resumable* job) override;
  /// Returns when nothing is ready here.
  void drain();

private:
  std::deque<caf::resumable*> ready_; // each holds one reference, as a scheduler's queue would
};

} // namespace troupe
