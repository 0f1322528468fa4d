#include "api/grpc/gateway_session.hpp"

#include <algorithm>

#include "actors/family/ask.hpp"
#include "actors/family/children.hpp"
#include "actors/protocol/error_text.hpp"
#include "api/internal/settings.hpp"
#include "api/internal/step_result.hpp"
#include "core/base/device_name.hpp"
#include "core/base/log.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/recorder.hpp"

namespace troupe {

namespace {

using GatewaySessionSelf = GatewaySessionActor::stateful_pointer<GatewaySessionState>;
namespace codec = master_codec;

/// A gRPC client is connected again within one or two seconds, if it lives.
constexpr std::chrono::seconds comes_back_within{5};

// A step ends by its own deadline; this one is for a master session that is gone.
std::chrono::microseconds budget_of(const Services& services, std::int64_t timeout_us) {
  const Timeouts& t = services->timeouts;
  const std::chrono::microseconds longest(t.step);
  return timeout_us > 0 ? std::min<std::chrono::microseconds>(
                              std::chrono::microseconds(timeout_us) + t.cancel + t.request, longest)
                        : longest;
}

/// A step that takes the actors no longer is worth a try on the thread of its next call.
constexpr std::int64_t short_step_us = 2000;

struct Signature {
  std::vector<std::string> feeds, fetches, targets;
};

std::vector<Tensor> tensors_of(RunStepResult& result) {
  std::vector<Tensor> out;
  out.reserve(result.tensors.size());
  for (WireTensor& tensor : result.tensors)
    out.push_back(std::move(tensor.tensor));
  return out;
}

/// Of a client without a deadline.
constexpr std::chrono::hours no_deadline{24 * 365};

/// For how long a step may run: `timeout_us`, or the session's if that is 0, and not beyond its
/// client's deadline. It ends a little before the client's deadline: where that passes first, a
/// program is told that the step has ended while it may still take effect here.
std::int64_t within_deadline(GatewaySessionSelf self, const RpcCall& call,
                             std::int64_t timeout_us) {
  constexpr std::chrono::microseconds margin = std::chrono::milliseconds(5);
  const std::chrono::microseconds left = call.time_left(no_deadline);
  if (left >= no_deadline)
    return timeout_us;
  const std::int64_t here = std::max<std::int64_t>((left - std::min(margin, left / 10)).count(), 1);
  const std::int64_t own = timeout_us > 0 ? timeout_us : self->state.operation_timeout_us;
  return own > 0 ? std::min(own, here) : here;
}

// Writes the call down, and cancels its step when nobody waits for it any more.
std::uint64_t begin_call(GatewaySessionSelf self, const std::shared_ptr<RpcCall>& call,
                         std::uint64_t request_id) {
  std::uint64_t number = self->state.calls.begin(request_id);
  caf::actor_addr address = self->address();
  const auto deadline = std::chrono::steady_clock::now() + call->time_left(no_deadline);
  call->when_gone([address, number, deadline] {
    const bool has_given_up =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(1) >= deadline;
    if (auto session = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(caf::actor_cast<GatewaySessionActor>(session),
                     ClientGone{number, has_given_up});
  });
  return number;
}

// The step of a call has ended; `booked`: the request's id, where gRPC's threads know it.
void end_call(GatewaySessionSelf self, std::uint64_t number, std::uint64_t booked) {
  self->state.calls.end(number);
  if (booked != 0 && self->state.direct)
    self->state.direct->ended(booked);
}

// Whoever comes for a step that was ended since nobody waited for it is told what MonitoredSession
// recovers from.
Status check_not_abandoned(GatewaySessionSelf self, std::int64_t request_id,
                           std::string_view what) {
  if (!self->state.abandoned.contains(static_cast<std::uint64_t>(request_id)))
    return {};
  return aborted(str_cat("The same ", what,
                         " (Master) request was received twice. Its step was cancelled, "
                         "since nobody had waited for it for ",
                         comes_back_within.count(), " s: run it again"));
}

// What means nothing over a wire, as with TensorFlow's servers.
void drop_hints(RunOptions& options) {
  options.inter_op_thread_pool = 0;
  options.timeout_ms = std::max<std::int64_t>(options.timeout_ms, 0);
}

// Of a step that may not begin, or go on.
Status refusal_of(GatewaySessionSelf self, const codec::RunStep& m, const StepNote& note) {
  TROUPE_TRY(check_options(m.options));
  TROUPE_TRY(check_not_abandoned(self, m.request_id, "RunStep"));
  if (note.begun && !self->state.direct->is_current(note))
    return aborted(str_cat("the master session of session ", self->state.handle,
                           " ended while a step of it ran; what that has done of its work is not "
                           "known. The session goes on: run the step again if it may be done "
                           "twice"));
  return {};
}

// All that a step that has not begun brings along; its names become complete.
void put_request(codec::RunStep& m, RunStep& to) {
  codec::complete_names(m.feeds);
  for (auto& [name, value] : m.feeds)
    to.feeds.emplace_back(std::move(name), std::move(value));
  to.fetches = m.fetches; // the answer has the names that were asked for
  codec::complete_names(to.fetches);
  to.targets = std::move(m.targets);
  to.partial_run_handle = std::move(m.partial_run_handle);
}

Signature signature_of(const RunStep& step) {
  Signature out{{}, step.fetches, step.targets};
  for (const auto& [name, value] : step.feeds)
    out.feeds.push_back(name);
  return out;
}

void run(GatewaySessionSelf self, const Services& services, const std::shared_ptr<RpcCall>& call,
         codec::RunStep& m, StepNote& note) {
  const bool in_body = m.errors_in_body;
  drop_hints(m.options);
  if (Status refused = refusal_of(self, m, note); !refused.ok()) {
    if (note.is_booked)
      self->state.direct->ended(static_cast<std::uint64_t>(m.request_id));
    return fail_call(*call, in_body, refused);
  }
  RunStep step;
  put_options(m.options, services->timeouts.step.count(), step);
  step.timeout_us = within_deadline(self, *call, step.timeout_us);
  if (!note.begun)
    put_request(m, step);
  step.begun = std::move(note.begun);
  step.wants_direct = note.wants_direct;
  Signature signature = note.wants_direct ? signature_of(step) : Signature();
  step.may_come_again = true;
  step.request_id = m.request_id != 0 ? static_cast<std::uint64_t>(m.request_id) : random_id();
  const std::uint64_t number = begin_call(self, call, step.request_id);
  const std::uint64_t booked = note.is_booked ? step.request_id : 0;
  const std::int64_t sent_us = exact_us(self);
  ask(self, self->state.session, budget_of(services, step.timeout_us), std::move(step))
      .then(
          [=, wants_direct = note.wants_direct, names = std::move(m.fetches),
           signature = std::move(signature)](RunStepResult& result) mutable {
            end_call(self, number, booked);
            // One that came again has the first one's answer, and not its signature.
            if (wants_direct && result.direct && exact_us(self) - sent_us < short_step_us)
              self->state.direct->learn(std::move(signature.feeds), std::move(signature.fetches),
                                        std::move(signature.targets), std::move(result.direct));
            auto bytes = codec::write_step_done(names, tensors_of(result), metadata_of(result));
            if (bytes.ok())
              call->answer(*std::move(bytes));
            else
              fail_call(*call, in_body, bytes.status());
          },
          [=](caf::error& error) {
            end_call(self, number, booked);
            fail_call(*call, in_body, to_status(error, "RunStep"));
          });
}

void set_up_partial_run(GatewaySessionSelf self, const Services& services,
                        const std::shared_ptr<RpcCall>& call, codec::PartialRunSetup& m) {
  codec::complete_names(m.feeds);
  codec::complete_names(m.fetches);
  ask(self, self->state.session, services->timeouts.request,
      SetUpPartialRun{std::move(m.feeds), std::move(m.fetches), std::move(m.targets)})
      .then(
          [=](const PartialRunSetUp& made) {
            call->answer(codec::write_partial_run_set_up(made.handle));
          },
          [=](caf::error& error) { fail_call(*call, false, to_status(error, "PartialRunSetup")); });
}

void extend(GatewaySessionSelf self, const Services& services, const std::shared_ptr<RpcCall>& call,
            codec::ExtendSession& m) {
  auto& extensions = self->state.extensions;
  const auto key = extensions.key_of(m.current_graph_version, m.graph_def);
  if (auto version = extensions.known(key)) // its client has lost the answer
    return call->answer(codec::write_session_extended(*version));
  if (!extensions.begin(key, call))
    return;
  ask(self, self->state.session, services->timeouts.compile,
      ExtendGraph{std::move(m.graph_def), m.current_graph_version})
      .then(
          [=](const GraphExtended& extended) {
            for (const auto& waiting : self->state.extensions.ended(key, extended.graph_version))
              waiting->answer(codec::write_session_extended(extended.graph_version));
          },
          [=](caf::error& error) {
            const Status why = to_status(error, "ExtendSession");
            for (const auto& waiting : self->state.extensions.ended(key, std::nullopt))
              fail_call(*waiting, false, why);
          });
}

void make_callable(GatewaySessionSelf self, const Services& services,
                   const std::shared_ptr<RpcCall>& call, codec::MakeCallable& m) {
  CallableOptions& options = m.options;
  if (options.names_devices)
    return call->fail(
        unimplemented("CallableOptions::feed_devices and CallableOptions::fetch_devices to "
                      "configure feeding/fetching tensors to/from device memory is not yet "
                      "supported when using a remote session."));
  drop_hints(options.options);
  if (Status status = check_options(options.options); !status.ok())
    return call->fail(status);
  codec::complete_names(options.feeds);
  codec::complete_names(options.fetches);
  GatewayCallable callable;
  callable.num_feeds = options.feeds.size();
  callable.num_fetches = options.fetches.size();
  callable.options = options.options;
  MakeCallable request{std::move(options.feeds), std::move(options.fetches),
                       std::move(options.targets)};
  for (auto& [from, to] : options.connections)
    request.connections.push_back({std::move(from), std::move(to)});
  request.watches = std::move(options.options.debug.watches);
  request.partition_graphs = options.options.output_partition_graphs;
  ask(self, self->state.session, services->timeouts.request, std::move(request))
      .then(
          [=](const CallableMade& made) mutable {
            callable.handle = made.handle;
            call->answer(
                codec::write_callable_made(self->state.callables.add(std::move(callable))));
          },
          [=](caf::error& error) { fail_call(*call, false, to_status(error, "MakeCallable")); });
}

void run_callable(GatewaySessionSelf self, const Services& services,
                  const std::shared_ptr<RpcCall>& call, codec::RunCallable& m) {
  auto callable = self->state.callables.find(m.handle);
  if (!callable.ok())
    return call->fail(callable.status());
  const GatewayCallable& found = **callable;
  if (m.feeds.size() < found.num_feeds)
    return call->fail(invalid_argument(
        str_cat("the callable takes ", found.num_feeds, " feeds, and ", m.feeds.size(), " came")));
  if (Status status = check_not_abandoned(self, m.request_id, "RunCallable"); !status.ok())
    return call->fail(status);
  m.feeds.resize(found.num_feeds); // TensorFlow takes more, too
  RunCallable step;
  step.handle = found.handle;
  for (Tensor& value : m.feeds)
    step.feeds.emplace_back(std::move(value));
  put_options(found.options, services->timeouts.step.count(), step);
  step.timeout_us = within_deadline(self, *call, step.timeout_us);
  step.may_come_again = true;
  step.request_id = m.request_id != 0 ? static_cast<std::uint64_t>(m.request_id) : random_id();
  const std::uint64_t number = begin_call(self, call, step.request_id);
  ask(self, self->state.session, budget_of(services, step.timeout_us), std::move(step))
      .then(
          [=](RunStepResult& result) {
            self->state.calls.end(number);
            auto bytes = codec::write_callable_done(tensors_of(result), metadata_of(result));
            if (bytes.ok())
              call->answer(*std::move(bytes));
            else
              call->fail(bytes.status());
          },
          [=](caf::error& error) {
            self->state.calls.end(number);
            fail_call(*call, false, to_status(error, "RunCallable"));
          });
}

void release_callable(GatewaySessionSelf self, const Services& services,
                      const std::shared_ptr<RpcCall>& call, const codec::ReleaseCallable& m) {
  auto callable = self->state.callables.find(m.handle);
  if (!callable.ok()) // whoever releases twice, or what was never made, loses nothing
    return call->answer({});
  std::uint64_t handle = std::exchange((*callable)->handle, 0);
  ask(self, self->state.session, services->timeouts.request, ReleaseCallable{handle})
      .then(
          [=](caf::ok_atom) { call->answer({}); },
          [=](caf::error& error) { fail_call(*call, false, to_status(error, "ReleaseCallable")); });
}

void list_devices(GatewaySessionSelf self, const Services& services,
                  const std::shared_ptr<RpcCall>& call) {
  ask(self, self->state.session, services->timeouts.request, ListDevices{})
      .then(
          [=](const DeviceList& list) {
            std::vector<DeviceAttributes> local, remote;
            for (const DeviceAttributes& device : list.devices) {
              const bool is_clients = local.empty() && device.type == "CPU" &&
                                      task_of_device(device.name) == services->task;
              (is_clients || !self->state.splits_devices ? local : remote).push_back(device);
            }
            call->answer(codec::write_device_list(local, remote));
          },
          [=](caf::error& error) { fail_call(*call, false, to_status(error, "ListDevices")); });
}

// Its client knows from the answer on that it is gone.
void close(GatewaySessionSelf self, const Services& services,
           const std::shared_ptr<SessionTable>& sessions, const std::shared_ptr<RpcCall>& call) {
  ask(self, self->state.session, services->timeouts.request, CloseSession{})
      .then(
          [=](caf::ok_atom) {
            sessions->remove(self->state.handle);
            call->answer({});
          },
          [=](caf::error& error) {
            sessions->remove(self->state.handle);
            fail_call(*call, false, to_status(error, "CloseSession"));
          });
}

void look_if_idle(GatewaySessionSelf self, const Services& services,
                  std::chrono::milliseconds idle_limit) {
  auto& state = self->state;
  if (const std::int64_t calls = state.direct ? state.direct->num_calls() : 0;
      calls != std::exchange(state.direct_calls, calls))
    state.heard_us = now_us(self);
  const std::int64_t idle_us = now_us(self) - state.heard_us;
  if (state.session && state.calls.size() == 0 &&
      idle_us >= std::chrono::microseconds(idle_limit).count()) {
    log_info("session ", state.handle, " of a gRPC client is closed: no call has come for ",
             idle_us / 1'000'000, " s");
    ask(self, state.session, services->timeouts.request, CloseSession{})
        .then([](caf::ok_atom) {}, [](caf::error&) {}); // its end ends us
  }
  self->delayed_send(self, idle_limit / 4, LookIfIdle{});
}

void serve(GatewaySessionSelf self, const Services& services,
           const std::shared_ptr<SessionTable>& sessions, SessionCall& m) {
  std::visit(
      [&](auto& request) {
        using T = std::decay_t<decltype(request)>;
        if constexpr (std::is_same_v<T, codec::RunStep>)
          run(self, services, m.call, request, m.note);
        else if constexpr (std::is_same_v<T, codec::PartialRunSetup>)
          set_up_partial_run(self, services, m.call, request);
        else if constexpr (std::is_same_v<T, codec::ExtendSession>)
          extend(self, services, m.call, request);
        else if constexpr (std::is_same_v<T, codec::MakeCallable>)
          make_callable(self, services, m.call, request);
        else if constexpr (std::is_same_v<T, codec::RunCallable>)
          run_callable(self, services, m.call, request);
        else if constexpr (std::is_same_v<T, codec::ReleaseCallable>)
          release_callable(self, services, m.call, request);
        else if constexpr (std::is_same_v<T, SessionCall::ListDevices>)
          list_devices(self, services, m.call);
        else
          close(self, services, sessions, m.call);
      },
      m.request);
}

// A fault has ended the master session; its master answers when it has made it again, or given it
// up.
void recover(GatewaySessionSelf self, const Services& services, const MasterActor& master,
             const std::shared_ptr<SessionTable>& sessions) {
  self->state.session = MasterSessionActor{};
  ask(self, master, 2 * services->timeouts.lease, FindSession{self->state.handle})
      .then(
          [=](const SessionCreated& found) {
            auto& state = self->state;
            state.session = found.session;
            self->monitor(caf::actor_cast<caf::actor>(state.session));
            for (auto held = std::exchange(state.held, {}); SessionCall & call : held)
              serve(self, services, sessions, call);
          },
          [=](caf::error& error) {
            const Status why = to_status(error, "FindSession");
            for (auto held = std::exchange(self->state.held, {}); SessionCall & call : held)
              call.call->fail(why);
            self->quit();
          });
}

} // namespace

GatewaySessionActor::behavior_type
gateway_session(GatewaySessionSelf self, Services services, std::string handle, MasterActor master,
                MasterSessionActor session, std::shared_ptr<DirectCalls> direct,
                std::shared_ptr<SessionTable> sessions, GatewayLimits limits,
                std::int64_t operation_timeout_us) {
  guard_actor(self);
  auto& state = self->state;
  const std::chrono::milliseconds idle_limit = limits.idle_session;
  state.handle = std::move(handle);
  state.splits_devices = limits.splits_devices;
  state.operation_timeout_us = operation_timeout_us;
  state.session = std::move(session);
  state.direct = std::move(direct);
  state.heard_us = now_us(self);
  self->monitor(caf::actor_cast<caf::actor>(state.session));
  self->set_down_handler([=](caf::down_msg& down) {
    if (!self->state.session || down.source != self->state.session.address())
      return;
    if (self->state.direct)
      self->state.direct->forget();
    if (is_fault(down.reason))
      recover(self, services, master, sessions);
    else
      self->quit();
  });
  self->delayed_send(self, idle_limit / 4, LookIfIdle{});
  return {
      [=](const GetActors&) {
        return describe_tree(
            self,
            str_cat("session ", self->state.handle, ", ", self->state.calls.size(), " calls wait"),
            Children());
      },
      [=](SessionCall& m) {
        self->state.heard_us = now_us(self);
        if (self->state.session)
          serve(self, services, sessions, m);
        else
          self->state.held.push_back(std::move(m));
      },
      [=](const ClientGone& m) {
        const auto abandoned = self->state.calls.gone(m.number);
        if (abandoned && m.has_given_up)
          self->send(self, EndAbandonedStep{*abandoned});
        else if (abandoned)
          self->delayed_send(self, comes_back_within, EndAbandonedStep{*abandoned});
      },
      [=](const EndAbandonedStep& m) {
        if (!self->state.session || self->state.calls.is_waited_for(m.request_id))
          return;
        self->state.abandoned.add(m.request_id);
        self->send(self->state.session, CancelRun{m.request_id});
      },
      [=](const LookIfIdle&) { look_if_idle(self, services, idle_limit); },
  };
}

} // namespace troupe
