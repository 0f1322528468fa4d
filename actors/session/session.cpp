#include "actors/session/session.hpp"
#include "actors/family/graph_pieces.hpp"

#include <algorithm>
#include <limits>

#include "actors/family/rounds.hpp"
#include "actors/family/wire.hpp"
#include "actors/session/master_link.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/strings.hpp"

namespace troupe {

SessionState::~SessionState() {
  for (auto& [id, fail] : pending)
    fail(aborted("the session was destroyed while a request was under way"));
  for (Waiting& request : waiting)
    request.go_on(aborted("the session was destroyed while a request waited for its master"));
}

namespace {

using Self = SessionSelf;

struct Parts {
  Services services;
  MasterActor local_master;
  TransportActor transport;
};

// A call's own time is over, whatever its master is at.
Status not_in_time(Self self, std::string_view what, std::chrono::nanoseconds budget) {
  const auto& state = self->state;
  std::string heard;
  if (state.guardian)
    heard =
        str_cat("; it was last heard of ", state.watch.silent_us(now_us(self)) / 1000, " ms ago");
  return deadline_exceeded(
      str_cat(master_name(state), " has not answered ", what, " within ",
              std::chrono::duration_cast<std::chrono::milliseconds>(budget).count(), " ms", heard));
}

// Of a call without a time of its own.
std::chrono::nanoseconds time_of(const SessionState& state, std::chrono::nanoseconds runtimes) {
  const std::chrono::nanoseconds own = std::chrono::microseconds(state.operation_timeout_us);
  return own.count() > 0 ? std::min(own, runtimes) : runtimes;
}

// Of a step: its master ends it by its deadline, and is given the time to cancel its parts.
std::chrono::nanoseconds time_of_step(const SessionState& state, const Timeouts& t,
                                      std::int64_t timeout_us) {
  if (timeout_us <= 0)
    timeout_us = state.operation_timeout_us;
  if (timeout_us <= 0)
    return t.step;
  return std::min<std::chrono::nanoseconds>(
      std::chrono::microseconds(timeout_us) + t.cancel + t.explain, t.step);
}

// Its master session has ended, or is about to be made again: what comes now waits. Not where it
// was asked to close: that answer is on its way, and what comes behind it is refused.
bool is_between(const SessionState& state) {
  return state.recovers || (state.master_session && !state.closing &&
                            caf::actor_cast<caf::abstract_actor*>(state.master_session)
                                ->getf(caf::abstract_actor::is_cleaned_up_flag));
}

// `go_on` is called with OK once there is a master session, or with why there will be none.
template <class Answer, class F>
caf::result<Answer> wait_for_master(Self self, std::string_view what,
                                    std::chrono::nanoseconds budget, F go_on) {
  auto promise = self->template make_response_promise<Answer>();
  const std::int64_t due_us =
      now_us(self) + std::chrono::duration_cast<std::chrono::microseconds>(budget).count();
  self->state.waiting.push_back({due_us,
                                 [=](const Status& why) mutable {
                                   if (why.ok())
                                     go_on(promise);
                                   else
                                     promise.deliver(to_error(why));
                                 },
                                 [=, what = std::string(what)]() mutable {
                                   promise.deliver(to_error(not_in_time(self, what, budget)));
                                 }});
  self->delayed_send(self, request_budget(budget), EndLateSteps{});
  return promise;
}

void end_late(Self self) {
  auto& waiting = self->state.waiting;
  auto late = std::stable_partition(
      waiting.begin(), waiting.end(),
      [now = now_us(self)](const SessionState::Waiting& request) { return request.due_us > now; });
  std::vector<SessionState::Waiting> ended(std::make_move_iterator(late),
                                           std::make_move_iterator(waiting.end()));
  waiting.erase(late, waiting.end());
  for (SessionState::Waiting& request : ended)
    request.is_late();
}

// Sends a request on, and answers ours with what comes back; or with the loss of the master.
template <class Answer, class Message, class Convert>
void forward_to(Self self, std::string_view what, Message message, std::chrono::nanoseconds budget,
                Convert convert, caf::typed_response_promise<Answer> promise) {
  auto& state = self->state;
  std::uint64_t id = state.next_request++;
  state.pending.emplace(id,
                        [promise](const Status& why) mutable { promise.deliver(to_error(why)); });
  if constexpr (std::is_same_v<Message, ExtendGraph>)
    send_pieces(self, state.master_session, message.graph_def);
  ask_watched(self, state.master_session, budget, std::move(message))
      .then(
          [=](Answer& answer) mutable {
            if (self->state.pending.erase(id))
              convert(std::move(answer), promise);
          },
          [=](caf::error& error) mutable {
            // It has ended: its DOWN comes next, says why, and answers.
            if (error == caf::sec::request_receiver_down && self->state.master_session)
              return;
            if (!self->state.pending.erase(id))
              return;
            promise.deliver(to_error(error == caf::sec::request_timeout
                                         ? not_in_time(self, what, budget)
                                         : to_status(error, "the master")));
          });
}

template <class Answer, class Message, class Convert>
caf::result<Answer> forward(Self self, const Services& services, std::string_view what,
                            Message message, std::chrono::nanoseconds budget, Convert convert) {
  if (is_between(self->state)) {
    auto kept = std::make_shared<Message>(std::move(message));
    return wait_for_master<Answer>(
        self, what, budget, [=](caf::typed_response_promise<Answer>& promise) {
          forward_to<Answer>(self, what, std::move(*kept), budget, convert, promise);
        });
  }
  if (Status status = refusal(self->state); !status.ok()) {
    look_for_master(self, services);
    return to_error(status);
  }
  auto promise = self->template make_response_promise<Answer>();
  forward_to<Answer>(self, what, std::move(message), budget, std::move(convert), promise);
  return promise;
}

template <class Answer, class Message>
caf::result<Answer> forward(Self self, const Services& services, std::string_view what,
                            Message message, std::chrono::nanoseconds budget) {
  return forward<Answer>(self, services, what, std::move(message), time_of(self->state, budget),
                         [](Answer answer, caf::typed_response_promise<Answer>& promise) {
                           promise.deliver(std::move(answer));
                         });
}

/// Large feeds on their way to the master; what it has not come for when they go, it will not.
struct Outgoing {
  Services services;
  TransportActor transport;
  std::vector<TicketId> tickets;

  explicit Outgoing(const Parts& parts) : services(parts.services), transport(parts.transport) {}
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  ~Outgoing() { withdraw(services, transport, tickets); }

  void offer(Self self, WireTensor& tensor) {
    tensor = to_wire(std::move(tensor.tensor), services, self->node(), self->state.master_session,
                     transport);
    if (tensor.is_ticket())
      tickets.push_back(tensor.ticket->id);
  }
};

// Large results are fetched before the caller sees them. The feeds are kept until then.
auto fetching(Self self, const Parts& parts, std::shared_ptr<Outgoing> feeds) {
  return [=](RunStepResult answer, caf::typed_response_promise<RunStepResult>& promise) {
    (void)feeds;
    auto shared = std::make_shared<RunStepResult>(std::move(answer));
    std::uint64_t id = self->state.next_request++;
    self->state.pending.emplace(
        id, [promise](const Status& why) mutable { promise.deliver(to_error(why)); });
    from_wire(self, parts.services, parts.transport, std::move(shared->tensors),
              [=](Status status, std::vector<Tensor> tensors) mutable {
                if (!self->state.pending.erase(id))
                  return;
                if (!status.ok())
                  return void(promise.deliver(to_error(status.with_context(
                      str_cat("a result on its way from ", master_name(self->state))))));
                shared->tensors.assign(tensors.begin(), tensors.end());
                promise.deliver(std::move(*shared));
              });
  };
}

template <class F>
void for_each_feed(RunStep& m, F f) {
  for (auto& [name, tensor] : m.feeds)
    f(tensor);
}
template <class F>
void for_each_feed(RunCallable& m, F f) {
  for (WireTensor& tensor : m.feeds)
    f(tensor);
}

// On to a master in another process.
template <class Run>
void run_there(Self self, const Parts& parts, std::string_view what, Run m,
               caf::typed_response_promise<RunStepResult> promise) {
  auto feeds = std::make_shared<Outgoing>(parts);
  for_each_feed(m, [&](WireTensor& tensor) { feeds->offer(self, tensor); });
  const auto budget = time_of_step(self->state, parts.services->timeouts, m.timeout_us);
  forward_to<RunStepResult>(self, what, std::move(m), budget,
                            fetching(self, parts, std::move(feeds)), std::move(promise));
}

// `what` lives as long as the program.
template <class Run>
caf::result<RunStepResult> run(Self self, const Parts& parts, std::string_view what, Run& m) {
  auto& state = self->state;
  if (is_between(state)) {
    const auto budget = time_of_step(state, parts.services->timeouts, m.timeout_us);
    auto kept = std::make_shared<Run>(std::move(m));
    return wait_for_master<RunStepResult>(
        self, what, budget, [=](caf::typed_response_promise<RunStepResult>& promise) {
          if (self->state.remote)
            run_there(self, parts, what, std::move(*kept), promise);
          else
            promise.delegate(self->state.master_session, std::move(*kept));
        });
  }
  if (Status status = refusal(state); !status.ok()) {
    look_for_master(self, parts.services);
    return to_error(status);
  }
  if (!state.remote)
    return self->delegate(state.master_session, std::move(m));
  auto promise = self->make_response_promise<RunStepResult>();
  run_there(self, parts, what, std::move(m), promise);
  return promise;
}

void opened(Self self, const Services& services, SessionCreated& created,
            caf::typed_response_promise<SessionCreated>& promise) {
  auto& state = self->state;
  if (!created.session) {
    state.closed = internal("the master answered without a session");
    return void(promise.deliver(to_error(state.closed)));
  }
  state.master_session = created.session;
  state.handle = created.session_handle;
  state.remote = created.session->node() != self->node();
  self->monitor(caf::actor_cast<caf::actor>(created.session));
  if (state.remote)
    speak(self, services); // before a graph, which may be long
  promise.deliver(std::move(created));
}

void create(Self self, const Services& services, const MasterActor& master, CreateSession request,
            std::chrono::nanoseconds budget, std::uint64_t id,
            caf::typed_response_promise<SessionCreated> promise) {
  self->state.master = master;
  ask_watched(self, master, budget, std::move(request)) // by way of its guardian
      .then(
          [=](SessionCreated& created) mutable {
            self->state.opening = false;
            if (self->state.pending.erase(id))
              return opened(self, services, created, promise);
            // Lost or closed meanwhile: nobody wants it any more.
            ask(self, created.session, budget, CloseSession{})
                .then([](caf::ok_atom) {}, [](caf::error&) {}); // its lease ends it too
          },
          [=](caf::error& error) mutable {
            self->state.opening = false;
            if (!self->state.pending.erase(id))
              return;
            Status why = error == caf::sec::request_timeout
                             ? not_in_time(self, "CreateSession", budget)
                             : to_status(error, "CreateSession");
            self->state.closed = why;
            promise.deliver(to_error(why));
          });
}

/// A session that is being opened.
struct Opening {
  caf::typed_response_promise<SessionCreated> promise;
  std::uint64_t id = 0;      ///< of the request, in `pending`
  std::int64_t began_us = 0; ///< on the actors' clock
  std::chrono::nanoseconds budget{0};
};

void not_opened(Self self, Opening& opening, const Status& why) {
  if (!self->state.pending.erase(opening.id))
    return; // lost or closed meanwhile
  self->state.opening = false;
  self->state.closed = why;
  opening.promise.deliver(to_error(why));
}

// The node has said which task it is, and who its master.
void create_there(Self self, const Parts& parts, const Welcome& w, CreateSession request,
                  std::int64_t timeout_us, Opening& opening) {
  auto& state = self->state;
  state.master_task = w.task;
  state.lost.incarnation = w.incarnation;
  auto limit = opening.budget;
  if (timeout_us > 0) { // its answer, with names, is to come before ours, without
    auto left = std::max<std::int64_t>(opening.began_us + timeout_us - now_us(self), 1000);
    limit = std::chrono::microseconds(left);
    request.timeout_us = left - std::min<std::int64_t>(left / 10, 100'000);
  }
  if (!w.master)
    not_opened(self, opening,
               unavailable(str_cat(w.task, " is shutting down; use another task, or wait until it "
                                           "is back")));
  else if (state.pending.count(opening.id)) // else lost or closed since
    create(self, parts.services, w.master, std::move(request), limit, opening.id, opening.promise);
}

// On a node in another process.
void open_there(Self self, const Parts& parts, OpenSession& m, Opening opening) {
  auto& state = self->state;
  const Timeouts& t = parts.services->timeouts;
  m.request.settings.lease_us = std::chrono::microseconds(t.lease).count();
  state.guardian = m.guardian;
  state.watch.heard(now_us(self));
  state.opening = true;
  self->monitor(caf::actor_cast<caf::actor>(m.guardian));
  self->delayed_send(self, until_next_round(self, t.lease / 4), CheckLeases{});
  const auto greeting = std::min<std::chrono::nanoseconds>(t.request, opening.budget);
  ask_watched(self, m.guardian, greeting, Hello{protocol_version, "client"})
      .then(
          [=, request = std::move(m.request), timeout_us = m.timeout_us](Welcome& w) mutable {
            create_there(self, parts, w, std::move(request), timeout_us, opening);
          },
          [=](caf::error& error) mutable {
            not_opened(self, opening,
                       error == caf::sec::request_timeout
                           ? not_in_time(self, "Hello", greeting)
                           : to_status(error, "the hello to the master's node"));
          });
}

caf::result<SessionCreated> open(Self self, const Parts& parts, OpenSession& m) {
  auto& state = self->state;
  const Timeouts& t = parts.services->timeouts;
  state.operation_timeout_us = m.operation_timeout_us;
  state.lost.address = m.master;
  if (!m.guardian && !parts.local_master)
    return to_error(
        failed_precondition("this process has no master of its own; give the session an address"));
  Opening opening{self->make_response_promise<SessionCreated>(), state.next_request++, now_us(self),
                  m.timeout_us > 0
                      ? std::chrono::nanoseconds(std::chrono::microseconds(m.timeout_us))
                      : std::chrono::nanoseconds(t.dial + 3 * t.request + t.compile)};
  state.pending.emplace(opening.id, [promise = opening.promise](const Status& why) mutable {
    promise.deliver(to_error(why));
  });
  if (m.guardian) {
    open_there(self, parts, m, std::move(opening));
  } else {
    state.master_task = parts.services->task;
    create(self, parts.services, parts.local_master, std::move(m.request), opening.budget,
           opening.id, opening.promise);
  }
  return caf::delegated<SessionCreated>{}; // the promise answers
}

void close_there(Self self, const Parts& parts, caf::typed_response_promise<caf::ok_atom> promise);

// One that is made again is closed then: nobody else would close it.
void close_later(Self self, const Parts& parts, caf::typed_response_promise<caf::ok_atom> promise) {
  auto closed = [=]() mutable { promise.deliver(caf::ok_atom::value); };
  self->state.waiting.push_back({std::numeric_limits<std::int64_t>::max(),
                                 [=](const Status& why) mutable {
                                   if (why.ok())
                                     close_there(self, parts, promise);
                                   else
                                     closed(); // gone is closed
                                 },
                                 closed});
}

void close_there(Self self, const Parts& parts, caf::typed_response_promise<caf::ok_atom> promise) {
  auto& state = self->state;
  std::uint64_t id = state.next_request++;
  state.pending.emplace(id, [=](const Status& why) mutable {
    if (self->state.recovers)
      close_later(self, parts, promise);
    else if (self->state.watch.was_silent())
      promise.deliver(to_error(why));
    else
      promise.deliver(caf::ok_atom::value); // gone is closed
  });
  state.closing = true; // the master is watched until it has answered
  state.closed = failed_precondition("Session is closed.");
  const auto budget = time_of(state, parts.services->timeouts.request);
  auto answered = [=] {
    if (self->state.pending.erase(id) == 0)
      return false;
    self->state.master_session = nullptr;
    return true;
  };
  ask(self, state.master_session, budget, CloseSession{})
      .then(
          [=](caf::ok_atom ok) mutable {
            if (answered())
              promise.deliver(ok);
          },
          [=](caf::error& error) mutable {
            // Its DOWN comes next, and says whether it goes on.
            if (error == caf::sec::request_receiver_down && self->state.master_session)
              return;
            if (!answered())
              return;
            if (error == caf::sec::request_timeout)
              promise.deliver(to_error(not_in_time(self, "CloseSession", budget)));
            else
              promise.deliver(caf::ok_atom::value);
          });
}

// Closed is also what has ended; of a master that is silent the caller is told.
caf::result<caf::ok_atom> close(Self self, const Parts& parts) {
  auto& state = self->state;
  state.lost.is_lost = state.lost.is_found = false;
  if (is_between(state)) {
    auto promise = self->make_response_promise<caf::ok_atom>();
    close_later(self, parts, promise);
    return promise;
  }
  if (!state.master_session || state.closing) {
    state.closed = failed_precondition("Session is closed.");
    if (state.closing)
      return caf::ok_atom::value;
    state.opening = false;
    for (auto pending = std::move(state.pending); auto& [id, fail] : pending)
      fail(state.closed);
    return caf::ok_atom::value;
  }
  auto promise = self->make_response_promise<caf::ok_atom>();
  close_there(self, parts, promise);
  return promise;
}

} // namespace

SessionActor::behavior_type session(Self self, Services services, MasterActor local_master,
                                    TransportActor transport) {
  guard_actor(self);
  self->set_down_handler([=](caf::down_msg& down) { master_ended(self, services, down); });
  Parts parts{services, local_master, transport};
  const Timeouts& t = services->timeouts;
  return {
      [=](OpenSession& m) { return open(self, parts, m); },
      [=](ExtendGraph& m) {
        return forward<GraphExtended>(self, services, "ExtendGraph", std::move(m), t.compile);
      },
      [=](RunStep& m) { return run(self, parts, "RunStep", m); },
      [=](const CancelRun& m) {
        if (is_between(self->state)) // behind the run that it is for
          self->state.waiting.push_back({std::numeric_limits<std::int64_t>::max(),
                                         [=](const Status& why) {
                                           if (why.ok())
                                             self->send(self->state.master_session, m);
                                         },
                                         [] {}});
        else if (self->state.master_session)
          self->send(self->state.master_session, m);
      },
      [=](SetUpPartialRun& m) {
        return forward<PartialRunSetUp>(self, services, "PartialRunSetup", std::move(m), t.request);
      },
      [=](MakeCallable& m) {
        return forward<CallableMade>(self, services, "MakeCallable", std::move(m), t.request);
      },
      [=](RunCallable& m) { return run(self, parts, "RunCallable", m); },
      [=](const ReleaseCallable& m) {
        return forward<caf::ok_atom>(self, services, "ReleaseCallable", m, t.request);
      },
      [=](const ListDevices& m) {
        return forward<DeviceList>(self, services, "ListDevices", m, t.request);
      },
      [=](const GetSteps& m) {
        return forward<StepList>(self, services, "GetSteps", m, t.request);
      },
      [=](const ExplainGraph& m) {
        return forward<GraphExplained>(self, services, "ExplainGraph", m, t.compile);
      },
      [=](const ExplainStep& m) {
        return forward<StepsExplained>(self, services, "ExplainStep", m, t.request + 2 * t.explain);
      },
      [=](const CloseSession&) { return close(self, parts); },
      [=](const RenewLease&) { self->state.watch.heard(now_us(self)); },
      [=](const SessionEnded& m) {
        if (self->current_sender() == self->state.master_session)
          master_lost(self, reason_of(m.status));
        return caf::ok_atom::value;
      },
      [=](CheckLeases) { renew(self, services); },
      [=](EndLateSteps) { end_late(self); },
  };
}

} // namespace troupe
