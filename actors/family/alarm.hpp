// Alarm: one budget on the clock for all that an actor waits for at the same time.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include <caf/scheduled_actor.hpp>

#include "core/base/check.hpp"

namespace troupe {

/// Rings once, when its budget is used up, unless it was cleared before. For an actor with many
/// requests that end together: with a budget for each, CAF's clock looks through all of them
/// whenever one request is answered, which for a thousand requests costs more than the answers.
/// Belongs to the actor's state.
class Alarm {
public:
  Alarm() = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { clear(); }

  /// Calls `ring` in `self` after `budget`, and clears what was set before. `self` is the same each
  /// time.
  void set(caf::scheduled_actor* self, std::chrono::nanoseconds budget, std::function<void()> ring);
  void clear();
  bool is_set() const { return is_set_; }

private:
  void listen();
  void heard();

  caf::scheduled_actor* self_ = nullptr;
  caf::message_id id_; ///< the response id that the clock sends; no request uses it
  bool listens_ = false;
  bool is_set_ = false;
  caf::actor_clock::time_point due_;
  std::function<void()> ring_;
};

/// A request to an actor of the same process that ends with an alarm at the latest: the alarm's
/// `ring` lets go of all requests of its actor that are still open.
template <class Self, class Handle, class Message>
auto ask_until(const Alarm& alarm, Self* self, const Handle& peer, Message&& message) {
  TROUPE_CHECK(alarm.is_set(), "no request waits for ever");
  return self->request(peer, caf::infinite, std::forward<Message>(message));
}

} // namespace troupe
