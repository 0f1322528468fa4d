#include "actors/step/step.hpp"

#include <algorithm>

#include "actors/step/inquiry.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/check.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "core/trace/recorder.hpp"

namespace troupe {

StepState::~StepState() {
  withdraw(services, transport, offered); // no part will fetch its feeds any more
  for (auto& promise : asked)
    promise.deliver(to_error(not_found(str_cat("step ", request.step_id, " has ended"))));
}

namespace {

using Self = StepActor::stateful_pointer<StepState>;

bool is_elsewhere(Self self, const RegisteredPart& part) {
  return part.session && part.session->node() != self->node();
}

void cancel_part(Self self, const RegisteredPart& part, const CancelStep& cancel) {
  if (is_elsewhere(self, part))
    self->send(self->state.master_session, CancelPart{part.session, cancel});
  else
    self->send(part.session, cancel);
}

void clean_up_part(Self self, const RegisteredPart& part, bool ended_well) {
  std::uint64_t step_id = self->state.request.step_id;
  if (is_elsewhere(self, part))
    self->send(self->state.master_session, CleanupPart{part.session, step_id, ended_well});
  else
    self->send(part.session, CleanupStep{{step_id}});
}

// After a good end only messages that the master session had sent before can arrive, and an actor
// at rest drops them. After a failure, or an explanation, late answers may: that actor ends.
bool may_rest(const StepState& state) {
  return state.collector->status().ok() && !state.inquired;
}

void answer(Self self) {
  auto& state = self->state;
  for (auto& promise : state.asked)
    promise.deliver(to_error(not_found(str_cat("step ", state.request.step_id, " has ended"))));
  state.asked.clear();
  if (!state.offered.empty())
    withdraw(state.services, state.transport, std::exchange(state.offered, {}));
  StepFinished out;
  out.step_id = state.request.step_id;
  out.status = state.collector->status();
  out.rests = may_rest(state);
  if (out.status.ok()) {
    out.fetched = state.collector->take_fetched();
    out.stats = std::exchange(state.stats, {});
  }
  state.collector.reset();
  state.deadline.clear();
  const bool rests = out.rests, ended_well = out.status.ok();
  self->send(state.master_session, std::move(out));
  // After the answer: the client waits for that one.
  for (const RegisteredPart& part : state.request.plan->parts)
    if (part.has_remote_edges)
      clean_up_part(self, part, ended_well);
  if (!rests)
    return self->quit();
  state.master_session = MasterSessionActor{};
  state.request = BeginStep{};
}

// The client's end of a partial run counts as one more part, which ends when all fetches are there.
std::size_t clients_part(const StepState& state) {
  return state.request.plan->parts.size();
}

void advance(Self self) {
  auto& state = self->state;
  if (!state.explains_end && state.collector->take_cancel_request()) {
    CancelStep cancel{state.request.step_id, {state.collector->status().as_derived()}};
    for (std::size_t i = 0; i < state.request.plan->parts.size(); ++i) {
      if (state.collector->is_open(i) && !state.arriving.count(i))
        cancel_part(self, state.request.plan->parts[i], cancel);
      // Fetches that are still arriving are not wanted, and overdue parts will not answer.
      if (state.arriving.count(i) || state.overdue.count(i))
        state.collector->part_failed(i, cancel.status.status);
    }
    if (state.request.plan->client && state.collector->is_open(clients_part(state)))
      state.collector->part_failed(clients_part(state), cancel.status.status);
    // A part that does not answer the cancellation either is given up.
    if (!state.collector->is_finished())
      self->delayed_send(self, state.services->timeouts.cancel, StopWaiting{});
  }
  if (state.collector->is_finished())
    answer(self);
}

// The deadline's error says what the step waited for; only then the parts are cancelled.
void deadline_passed(Self self, std::string_view deadline) {
  auto& state = self->state;
  const Services& services = state.services;
  if (!state.collector->status().ok())
    return; // it is ending
  Status error =
      deadline_exceeded(str_cat("step ", state.request.step_id, " took longer than ", deadline));
  state.collector->fail(error);
  state.explains_end = state.inquired = true;
  inquire(self, services, services->timeouts.explain / 2, [=](const Why& why) {
    self->state.collector->explain(error, why.cause);
    self->state.explains_end = false;
    advance(self);
  });
}

// Parts that have not answered within the step-timeout are cancelled, and no longer waited for.
void step_timeout_passed(Self self) {
  for (std::size_t i = 0; i < self->state.request.plan->parts.size(); ++i)
    if (self->state.collector->is_open(i))
      self->state.overdue.insert(i);
  deadline_passed(
      self, str_cat("the step-timeout of ", self->state.services->timeouts.step.count(), " ms"));
}

void explain(Self self) {
  // All who ask while the parts are being asked get the same answer.
  if (self->state.asked.size() > 1)
    return;
  self->state.inquired = true;
  const Services& services = self->state.services;
  inquire(self, services, services->timeouts.explain, [=](const Why& why) {
    auto& state = self->state;
    StepExplained out;
    out.step_id = state.request.step_id;
    out.signature = state.request.plan->signature;
    out.running_us = exact_us(self) - state.request.started_us;
    out.tree = why.tree;
    out.cause = why.cause;
    for (auto& promise : std::exchange(state.asked, {}))
      promise.deliver(out);
  });
}

Status dead_fetch(const FetchName& name, const Origin& origin) {
  return invalid_argument(str_cat("Retval[", name.position, "] does not have value: the fetch '",
                                  name.name,
                                  "' is dead, because the branch that computes it was not taken"))
      .with_origin({name.name.substr(0, name.name.find(':')), "", origin.device, origin.step});
}

// Workers number fetches; errors for the client name the fetch as the client did.
Status in_clients_words(const BeginStep& request, const RegisteredPart& part, const Status& error) {
  const Origin& origin = error.origin();
  auto retval = std::find(part.retvals.begin(), part.retvals.end(), origin.node);
  const bool is_dead = error.message().find("does not have value") != std::string::npos;
  if (retval == part.retvals.end() || !request.fetches || !is_dead)
    return error;
  int fetch = part.fetch_of[static_cast<std::size_t>(retval - part.retvals.begin())];
  return dead_fetch((*request.fetches)[static_cast<std::size_t>(fetch)], origin);
}

std::string describe(const RegisteredPart& part) {
  return str_cat("RunGraph on ", part.task);
}

// What the master saw of a part: from asking for it until its answer was there.
DeviceStats seen_by_master(const StepState& state, const RegisteredPart& part) {
  NodeStats span;
  span.node = describe(part);
  span.op = "RunGraph";
  span.start_us = state.asked_us;
  span.end_us = wall_micros();
  span.thread_id = thread_number();
  return {state.services->task, {std::move(span)}};
}

// The connection to a part is gone. Membership's PeerLost will name the reason; if none comes in
// time, this error is used.
void await_verdict(Self self, const RegisteredPart& part, const Status& why) {
  self->delayed_send(self, self->state.services->timeouts.explain,
                     PeerLost{part.task, 0, LossReason::crashed, why.message()});
}

// A part has ended well; large values of another node's are on their way.
void part_ended(Self self, std::size_t index, GraphRun& run) {
  auto& state = self->state;
  const RegisteredPart& part = state.request.plan->parts[index];
  // A peer's answer is not trusted: counts and values are checked.
  if (run.retvals.size() != part.fetch_of.size() ||
      std::any_of(run.retvals.begin(), run.retvals.end(), [](const WireTensor& value) {
        return !value.is_ticket() && !value.tensor.has_value();
      })) {
    state.collector->part_failed(
        index, internal(str_cat(part.task, " answered step ", state.request.step_id,
                                " with other values than the ", part.fetch_of.size(),
                                " that it was asked for; are both nodes of the same version?"))
                   .with_origin({"", "", part.task, state.request.step_id}));
    return advance(self);
  }
  for (DeviceStats& stats : run.stats)
    state.stats.push_back(std::move(stats));
  if (state.request.trace)
    state.stats.push_back(seen_by_master(state, part));
  if (std::none_of(run.retvals.begin(), run.retvals.end(),
                   [](const WireTensor& value) { return value.is_ticket(); })) {
    for (std::size_t i = 0; i < run.retvals.size(); ++i)
      state.collector->take(index, part.fetch_of[i], std::move(run.retvals[i].tensor));
    state.collector->part_done(index);
    return advance(self);
  }
  state.arriving.insert(index);
  from_wire(self, state.services, state.transport, std::move(run.retvals),
            [=](Status status, std::vector<Tensor> tensors) {
              self->state.arriving.erase(index);
              const RegisteredPart& part = self->state.request.plan->parts[index];
              Status why = status.with_context(str_cat("a value of ", part.task))
                               .with_origin({"", "", part.task, self->state.request.step_id});
              if (status.ok())
                self->state.collector->part_done(index, std::move(tensors), part.fetch_of);
              else if (status.code() == Code::unavailable && status.derived())
                return await_verdict(self, part, why);
              else
                self->state.collector->part_failed(index, why);
              advance(self);
            });
}

void part_failed(Self self, std::size_t index, const caf::error& error) {
  auto& state = self->state;
  const Services& services = state.services;
  if (error == caf::sec::request_timeout) { // the part's own task enforces the same step-timeout
    if (state.collector->status().ok())
      return step_timeout_passed(self);
    state.overdue.insert(index);
    if (state.explains_end)
      return; // advance() cancels it with the others
    state.collector->part_failed(index, state.collector->status().as_derived());
    return advance(self);
  }
  const RegisteredPart& part = state.request.plan->parts[index];
  if (error == caf::sec::request_receiver_down && part.task != services->task)
    return await_verdict(self, part, to_status(error, describe(part)));
  state.collector->part_failed(
      index, in_clients_words(state.request, part, to_status(error, describe(part))));
  advance(self);
}

RunGraph request_of(Self self, const RegisteredPart& part) {
  auto& state = self->state;
  const bool is_only_part = state.request.plan->parts.size() == 1;
  RunGraph run;
  run.graph_handle = part.graph_handle;
  run.step_id = state.request.step_id;
  run.trace = state.request.trace;
  run.report_allocations = state.request.report_allocations;
  const std::int64_t timeout_us = state.request.timeout_us;
  if (timeout_us > 0 && std::chrono::microseconds(timeout_us) < state.services->timeouts.step)
    run.timeout_us =
        std::max<std::int64_t>(timeout_us - (exact_us(self) - state.request.started_us), 1);
  if (state.request.begun)
    return run; // it has its args
  run.args.reserve(part.feed_of.size());
  for (int index : part.feed_of) {
    Tensor& feed = state.request.feeds[static_cast<std::size_t>(index)];
    if (part.manager) { // in this process
      run.args.emplace_back(is_only_part ? std::move(feed) : feed);
      continue;
    }
    run.args.push_back(to_wire(feed, state.services, self->node(), part.session, state.transport));
    if (run.args.back().is_ticket())
      state.offered.push_back(run.args.back().ticket->id);
  }
  return run;
}

void start_part(Self self, std::size_t index) {
  auto& state = self->state;
  const RegisteredPart& part = state.request.plan->parts[index];
  RunGraph run = request_of(self, part);
  auto has_ended = [=](GraphRun& run) { part_ended(self, index, run); };
  auto has_failed = [=](caf::error& error) { part_failed(self, index, error); };
  if (part.manager)
    ask_until(state.deadline, self, part.manager,
              ExecuteGraph{std::move(run), {}, nullptr, std::move(state.request.begun)})
        .then(has_ended, has_failed);
  else if (is_elsewhere(self, part))
    self->send(state.master_session, RunPart{part.session, index, std::move(run)});
  else
    ask_until(state.deadline, self, part.session, std::move(run)).then(has_ended, has_failed);
}

// A partial run's fetches come when they are there, so they are asked for before the parts.
void ask_for_fetches(Self self, const ClientEdges& client) {
  auto& state = self->state;
  state.missing_fetches = client.fetches.size();
  for (const std::string& key : client.fetches)
    self->send(client.session, TakeEdge{state.request.step_id, key, self->address(), nullptr});
  if (client.fetches.empty())
    state.collector->part_done(clients_part(state));
}

void begin(Self self, BeginStep& m) {
  auto& state = self->state;
  state.request = std::move(m);
  state.master_session = typed<MasterSessionActor>(self->current_sender());
  const StepPlan& plan = *state.request.plan;
  state.collector.emplace(plan.parts.size() + plan.client.has_value(), plan.num_fetches);
  if (!plan.parts.empty())
    state.deadline.set(self, state.services->timeouts.step, [self] { step_timeout_passed(self); });
  if (state.request.trace)
    state.asked_us = wall_micros();
  if (plan.client)
    ask_for_fetches(self, *plan.client);
  for (std::size_t i = 0; i < plan.parts.size(); ++i)
    start_part(self, i);
  if (plan.parts.empty())
    answer(self);
}

void feed(Self self, FeedStep& m) {
  auto& state = self->state;
  if (!state.collector || m.step_id != state.request.step_id)
    return;
  const ClientEdges& client = *state.request.plan->client;
  for (auto& [number, value] : m.feeds)
    if (const std::string& key = client.feeds[number]; !key.empty())
      self->send(client.session, PutEdge{m.step_id, key, std::move(value), false});
}

void fetched(Self self, EdgeTaken& m) {
  auto& state = self->state;
  if (!state.collector || !state.collector->status().ok())
    return; // it is ending
  const std::vector<std::string>& keys = state.request.plan->client->fetches;
  const auto fetch =
      static_cast<std::size_t>(std::find(keys.begin(), keys.end(), m.key) - keys.begin());
  const std::uint64_t step_id = state.request.step_id;
  if (!m.status.ok()) {
    state.collector->part_failed(clients_part(state), m.status);
  } else if (m.is_dead) {
    state.collector->part_failed(
        clients_part(state), dead_fetch((*state.request.fetches)[fetch], {"", "", "", step_id}));
  } else {
    self->send(state.master_session, StepFetched{step_id, fetch, std::move(m.tensor)});
    if (--state.missing_fetches == 0)
      state.collector->part_done(clients_part(state));
  }
  advance(self);
}

void peer_lost(Self self, const PeerLost& m) {
  auto& state = self->state;
  if (!state.collector)
    return;
  Status why = m.reason == LossReason::restarted ? aborted(m.sentence) : unavailable(m.sentence);
  why = why.with_origin({"", "", m.task, state.request.step_id});
  for (std::size_t i = 0; i < state.request.plan->parts.size(); ++i)
    if (state.request.plan->parts[i].task != m.task)
      continue;
    else if (state.explains_end) // of a deadline: is this the explanation?
      state.collector->part_lost_at_deadline(i, why);
    else
      state.collector->part_failed(i, why);
  advance(self);
}

caf::result<StepExplained> explain_step(Self self, const ExplainStep& m) {
  if (!self->state.collector)
    return to_error(not_found(str_cat("step ", m.step_id, " has ended")));
  auto promise = self->make_response_promise<StepExplained>();
  self->state.asked.push_back(promise);
  explain(self);
  return promise;
}

caf::result<ActorTree> tree(Self self) {
  const auto& state = self->state;
  if (!state.collector)
    return describe_tree(self, "rests", Children{});
  std::vector<std::string> open;
  for (std::size_t i = 0; i < state.request.plan->parts.size(); ++i)
    if (state.collector->is_open(i))
      open.push_back(state.request.plan->parts[i].task);
  return describe_tree(self, str_cat("waits for ", open.empty() ? "nothing" : str_join(open, ", ")),
                       Children{});
}

} // namespace

StepActor::behavior_type step(Self self, Services services, TransportActor transport,
                              MembershipActor membership) {
  guard_actor(self);
  self->state.services = std::move(services);
  self->state.transport = transport;
  self->state.membership = membership;
  return {
      [=](BeginStep& m) { begin(self, m); },
      [=](PartRun& m) {
        if (!self->state.collector || m.step_id != self->state.request.step_id)
          return;
        if (m.error)
          part_failed(self, m.index, m.error);
        else
          part_ended(self, m.index, m.run);
      },
      [=](FeedStep& m) { feed(self, m); },
      [=](EdgeTaken& m) { fetched(self, m); },
      [=](const EndStep& m) {
        if (self->state.collector) {
          self->state.collector->fail(m.status.status);
          advance(self);
        }
      },
      [=](const ExplainStep& m) { return explain_step(self, m); },
      [=](const PeerLost& m) { peer_lost(self, m); },
      [=](const GetActors&) { return tree(self); },
      [=](DeadlinePassed) {
        if (self->state.collector)
          deadline_passed(
              self, str_cat("its deadline of ", self->state.request.timeout_us / 1000, " ms"));
      },
      [=](StopWaiting) {
        if (!self->state.collector)
          return;
        self->state.collector->give_up();
        answer(self);
      },
  };
}

} // namespace troupe
