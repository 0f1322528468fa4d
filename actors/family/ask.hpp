// Requests with an end, and errors with a name.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <caf/exit_reason.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/protocol/status.hpp"
#include "net/transport/step_clock.hpp"

namespace troupe {

/// Watches the handle of an actor of another node while a request to it is under way. When the
/// connection that carried the request is lost, CAF answers nothing; the guard then answers
/// request_receiver_down, as CAF does for an actor that has ended already. Any thread.
class RequestGuard {
public:
  /// `asker` waits for `response` of `peer`.
  RequestGuard(caf::strong_actor_ptr peer, const caf::actor_addr& asker, caf::message_id response);
  RequestGuard(const RequestGuard&) = delete;
  RequestGuard& operator=(const RequestGuard&) = delete;
  ~RequestGuard(); ///< the request is answered, or nobody waits for it any more

private:
  caf::strong_actor_ptr peer_;
};

/// Takes the budget of a request off the clock when it is destroyed: the request is answered, or
/// nobody waits for it any more. The clock would keep it until it ends, and a step may take days.
class RequestBudget {
public:
  RequestBudget(caf::local_actor* asker, caf::message_id response)
      : asker_(asker), response_(response) {}
  RequestBudget(RequestBudget&& other) noexcept
      : asker_(std::exchange(other.asker_, nullptr)), response_(other.response_) {}
  ~RequestBudget() {
    // The clock forgets everything of an actor that has ended by itself.
    if (asker_ && !asker_->getf(caf::abstract_actor::is_cleaned_up_flag))
      asker_->clock().cancel_request_timeout(asker_, response_);
  }

private:
  caf::local_actor* asker_;
  caf::message_id response_;
};

/// Makes an error safe to keep and to pass on. CAF puts an answer of the wrong type into the error
/// that it makes of it: that content is dropped, since a port would refuse it. A peer's error
/// without a code, which would read as success, becomes a real one.
void make_plain(caf::error& error);

/// A request under way; `then` takes what comes of it.
template <class Response>
class Asked {
public:
  Asked(Response response, RequestBudget budget, std::shared_ptr<RequestGuard> guard = nullptr)
      : response_(std::move(response)), budget_(std::move(budget)), guard_(std::move(guard)) {}
  template <class F, class G>
  void then(F on_answer, G on_error) {
    // CAF drops both functions, and with them budget and guard, when one of them has been called.
    response_.then(std::move(on_answer),
                   [on_error = std::move(on_error), budget = std::move(budget_),
                    guard = std::move(guard_)](caf::error& error) mutable {
                     make_plain(error);
                     on_error(error);
                   });
  }

private:
  Response response_;
  RequestBudget budget_;
  std::shared_ptr<RequestGuard> guard_;
};

/// A budget as CAF takes it. CAF reads a negative one, or a sum that has overflowed, as "for ever":
/// what is over already becomes a nanosecond, and what exceeds a year a year.
template <class Rep, class Period>
caf::timespan request_budget(std::chrono::duration<Rep, Period> budget) {
  using Wanted = std::chrono::duration<Rep, Period>;
  constexpr std::chrono::hours longest(365 * 24);
  if (budget <= Wanted::zero())
    return caf::timespan(1);
  return budget >= longest ? caf::timespan(longest) : caf::timespan(budget);
}

/// What a handle stands for; null for one that is null, as another process may send it. CAF's own
/// cast gives what lies behind a control block, also where there is none.
template <class Handle>
caf::abstract_actor* object_of(const Handle& peer) {
  const auto block = caf::actor_cast<caf::strong_actor_ptr>(peer);
  return block ? block->get() : nullptr;
}

/// For a caller that watches `peer` itself, by a monitor or by PeerLost, and will learn the reason
/// of its loss: the request then ends early only if the peer is known to have ended before.
template <class Self, class Handle, class Budget, class Message>
auto ask_watched(Self* self, const Handle& peer, Budget budget, Message&& message) {
  auto answer = self->request(peer, request_budget(budget), std::forward<Message>(message));
  // An actor of another node that is known to have ended: CAF would drop the request in silence.
  if (const auto* actor = object_of(peer); actor &&
                                           actor->getf(caf::abstract_actor::is_cleaned_up_flag) &&
                                           actor->node() != self->node())
    self->eq_impl(answer.id(), self->ctrl(), self->context(),
                  caf::make_error(caf::sec::request_receiver_down));
  RequestBudget time(self, answer.id());
  return Asked(std::move(answer), std::move(time));
}

/// The way an actor asks another: the answer, or an error after `budget` at the latest. At once
/// when the peer has ended, or when the connection to it is lost before it has answered.
///   ask(self, peer, 5s, GetPeer{task}).then([=](Peer& p) {…}, [=](caf::error& e) {…});
template <class Self, class Handle, class Budget, class Message>
auto ask(Self* self, const Handle& peer, Budget budget, Message&& message) {
  auto answer = self->request(peer, request_budget(budget), std::forward<Message>(message));
  std::shared_ptr<RequestGuard> guard;
  if (const auto* actor = object_of(peer); actor && actor->node() != self->node())
    guard = std::make_shared<RequestGuard>(caf::actor_cast<caf::strong_actor_ptr>(peer),
                                           self->address(), answer.id());
  RequestBudget time(self, answer.id());
  return Asked(std::move(answer), std::move(time), std::move(guard));
}

/// Gives a handle that came untyped (a sender, an address) its type. The interface is the
/// protocol's promise.
template <class Handle>
Handle typed(const caf::strong_actor_ptr& actor) {
  return caf::actor_cast<Handle>(actor);
}
template <class Handle>
caf::strong_actor_ptr untyped(const Handle& actor) {
  return caf::actor_cast<caf::strong_actor_ptr>(actor);
}

/// Says what an actor does with messages that its behavior does not name; the first call of every
/// actor. Handlers that the actor sets afterwards replace these.
///
///   a message that it does not know   UNIMPLEMENTED if it is a request, else dropped
///   an error that answers nothing     dropped
///   the end of an actor               dropped, unless it watches others and has a handler of its own
///   an exception                      the actor ends; who asked and who watches see INTERNAL with its words
///
/// What is dropped counts as `stray_messages`. An order to end, which no port lets through, still
/// ends the actor. CAF's own defaults would end it with the first stray error, and a part of a node
/// takes the node along.
void guard_actor(caf::scheduled_actor* self);

/// Microseconds on the actor system's clock, which a simulation turns by hand; only differences
/// mean something, and those to some milliseconds: a node's clock may be a tick ahead.
template <class Self>
std::int64_t now_us(Self* self) {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             self->clock().now().time_since_epoch())
      .count();
}

/// The same to the microsecond, for what people are shown; dearer.
template <class Self>
std::int64_t exact_us(Self* self) {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             StepClock::exact_now(self->clock()).time_since_epoch())
      .count();
}

/// Ends an actor the ordinary way; null does nothing.
template <class Handle>
void stop(const Handle& actor) {
  if (actor)
    caf::anon_send_exit(caf::actor_cast<caf::actor>(actor), caf::exit_reason::user_shutdown);
}

} // namespace troupe
