// Requests with an end, and errors with a name.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <caf/exit_reason.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/protocol/status.hpp"
#include "core/base/check.hpp"

namespace troupe {

/// The only way an actor asks another: the answer, or an error after `budget` at the latest.
/// At once when the peer is known to have ended.
///   ask(self, peer, 5s, GetPeer{task}).then([=](Peer& p) {…}, [=](caf::error& e) {…});
template <class Self, class Handle, class Message>
auto ask(Self* self, const Handle& peer, std::chrono::nanoseconds budget, Message&& message) {
  TROUPE_CHECK(budget.count() > 0, "no request waits for ever");
  auto answer = self->request(peer, caf::timespan(budget.count()), std::forward<Message>(message));
  // An actor of another node that is known to have ended: CAF would drop the request in silence.
  if (const auto* actor = caf::actor_cast<caf::abstract_actor*>(peer);
      actor && actor->getf(caf::abstract_actor::is_cleaned_up_flag) &&
      actor->node() != self->node())
    self->eq_impl(answer.id(), self->ctrl(), self->context(),
                  caf::make_error(caf::sec::request_receiver_down));
  return answer;
}

/// Handles travel as strong_actor_ptr; this gives them their type back. The interface is the
/// protocol's promise.
template <class Handle>
Handle typed(const caf::strong_actor_ptr& actor) {
  return caf::actor_cast<Handle>(actor);
}
template <class Handle>
caf::strong_actor_ptr untyped(const Handle& actor) {
  return caf::actor_cast<caf::strong_actor_ptr>(actor);
}

/// Keeps the text of an exception that escapes a handler: callers and monitors see INTERNAL with
/// its words instead of "runtime_error".
caf::error exception_to_error(std::exception_ptr& exception);
template <class Self>
void keep_exception_text(Self* self) {
  self->set_exception_handler(
      [](std::exception_ptr& x) -> caf::error { return exception_to_error(x); });
}

/// Microseconds on the actor system's clock, which a simulation turns by hand; only differences
/// mean something.
template <class Self>
std::int64_t now_us(Self* self) {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             self->clock().now().time_since_epoch())
      .count();
}

/// Ends an actor the ordinary way.
inline void stop(const caf::strong_actor_ptr& actor) {
  if (actor)
    caf::anon_send_exit(caf::actor_cast<caf::actor>(actor), caf::exit_reason::user_shutdown);
}

} // namespace troupe
