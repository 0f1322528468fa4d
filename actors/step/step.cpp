#include "actors/step/step.hpp"

#include <algorithm>

#include "actors/step/inquiry.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "core/trace/recorder.hpp"

namespace troupe {

StepState::~StepState() {
  withdraw(untyped(transport), offered); // what a part has not come for, it will not
  for (auto& promise : asked)
    promise.deliver(to_error(not_found(str_cat("step ", request.step_id, " has ended"))));
  if (promise.pending())
    promise.deliver(
        to_error(aborted(str_cat("step ", request.step_id, " was ended from outside"))));
}

namespace {

using Self = StepActor::stateful_pointer<StepState>;

bool is_elsewhere(Self self, const RegisteredPart& part) {
  return part.session && part.session->node() != self->node();
}

MasterSessionActor master_session_of(Self self) {
  return typed<MasterSessionActor>(self->state.request.master_session);
}

void cancel_part(Self self, const RegisteredPart& part, const CancelStep& cancel) {
  if (is_elsewhere(self, part))
    self->send(master_session_of(self), CancelPart{part.session, cancel});
  else
    self->send(typed<WorkerSessionActor>(part.session), cancel);
}

void clean_up_part(Self self, const RegisteredPart& part) {
  CleanupStep cleanup{self->state.request.step_id};
  if (is_elsewhere(self, part))
    self->send(master_session_of(self), CleanupPart{part.session, cleanup});
  else
    self->send(typed<WorkerSessionActor>(part.session), cleanup);
}

void answer(Self self) {
  auto& state = self->state;
  if (std::exchange(state.answered, true))
    return;
  for (auto& promise : std::exchange(state.asked, {}))
    promise.deliver(to_error(not_found(str_cat("step ", state.request.step_id, " has ended"))));
  if (!state.collector->status().ok()) {
    state.promise.deliver(to_error(state.collector->status()));
  } else {
    RunStepResult result;
    for (Tensor& tensor : state.collector->take_fetched())
      result.tensors.emplace_back(std::move(tensor));
    result.step_id = state.request.step_id;
    result.metadata.stats = std::move(state.stats);
    state.promise.deliver(std::move(result));
  }
  for (const RegisteredPart& part :
       state.request.plan->parts) // behind the answer, which is awaited
    if (part.has_remote_edges)
      clean_up_part(self, part);
  self->quit();
}

void advance(Self self, const Services& services) {
  auto& state = self->state;
  if (!state.explains_end && state.collector->take_cancel_request()) {
    CancelStep cancel{state.request.step_id, {state.collector->status().as_derived()}};
    for (std::size_t i = 0; i < state.request.plan->parts.size(); ++i)
      if (state.arriving.count(i)) // it has ended; nobody wants its fetches any more
        state.collector->part_failed(i, cancel.status.status);
      else if (state.collector->is_open(i))
        cancel_part(self, state.request.plan->parts[i], cancel);
    if (!state.collector
             ->is_finished()) // a part that does not even answer a cancellation is not waited for
      self->delayed_send(self, services->timeouts.cancel, caf::tick_atom::value);
  }
  if (state.collector->is_finished())
    answer(self);
}

// The deadline's error says what the step waited for; only then the parts are cancelled.
void deadline_passed(Self self, const Services& services, std::string_view deadline) {
  auto& state = self->state;
  if (!state.collector->status().ok())
    return; // it is ending
  Status error =
      deadline_exceeded(str_cat("step ", state.request.step_id, " took longer than ", deadline));
  state.collector->fail(error);
  state.explains_end = true;
  inquire(self, services, services->timeouts.explain / 2, [=](const Why& why) {
    self->state.collector->explain(error, why.cause);
    self->state.explains_end = false;
    advance(self, services);
  });
}

void explain(Self self, const Services& services) {
  // All who ask while the parts are being asked get the same answer.
  if (self->state.asked.size() > 1)
    return;
  inquire(self, services, services->timeouts.explain, [=](const Why& why) {
    auto& state = self->state;
    StepExplained out;
    out.step_id = state.request.step_id;
    out.signature = state.request.plan->signature;
    out.running_us = now_us(self) - state.started_us;
    out.tree = why.tree;
    out.cause = why.cause;
    for (auto& promise : std::exchange(state.asked, {}))
      promise.deliver(out);
  });
}

// A worker knows a fetch by its own number; the client is told of its own words.
Status in_clients_words(const StepRequest& request, const RegisteredPart& part,
                        const Status& error) {
  const Origin& origin = error.origin();
  auto retval = std::find(part.retvals.begin(), part.retvals.end(), origin.node);
  if (origin.op != "_Retval" || retval == part.retvals.end() || !request.fetches)
    return error;
  int fetch = part.fetch_of[static_cast<std::size_t>(retval - part.retvals.begin())];
  const FetchName& name = (*request.fetches)[static_cast<std::size_t>(fetch)];
  return Status(error.code(),
                str_cat("Retval[", name.position, "] does not have value: the fetch '", name.name,
                        "' is dead, because the branch that computes it was not taken"))
      .with_origin({name.name.substr(0, name.name.find(':')), "", origin.device, origin.step});
}

std::string describe(const RegisteredPart& part) {
  return str_cat("RunGraph on ", part.task);
}

// What the master saw of a part: from asking for it until its answer was there.
DeviceStats seen_by_master(const Services& services, const RegisteredPart& part,
                           std::int64_t asked_us) {
  NodeStats span;
  span.node = describe(part);
  span.op = "RunGraph";
  span.start_us = asked_us;
  span.end_us = wall_micros();
  span.thread_id = thread_number();
  return {services->task, {std::move(span)}};
}

void start_part(Self self, const Services& services, const TransportActor& transport,
                std::size_t index) {
  auto& state = self->state;
  const RegisteredPart& part = state.request.plan->parts[index];
  RunGraph run;
  run.graph_handle = part.graph_handle;
  run.step_id = state.request.step_id;
  run.trace = state.request.trace;
  for (int feed : part.feed_of) {
    run.args.push_back(to_wire(state.request.feeds[static_cast<std::size_t>(feed)], self->node(),
                               part.session, untyped(transport)));
    if (run.args.back().is_ticket())
      state.offered.push_back(run.args.back().ticket->id);
  }
  std::int64_t asked_us = run.trace ? wall_micros() : 0;
  auto has_ended = [=](GraphRun& run) {
    for (DeviceStats& stats : run.stats)
      self->state.stats.push_back(std::move(stats));
    if (asked_us)
      self->state.stats.push_back(
          seen_by_master(services, self->state.request.plan->parts[index], asked_us));
    self->state.arriving.insert(index);
    from_wire(self, untyped(transport), std::move(run.retvals), services->timeouts.step,
              [=](Status status, std::vector<Tensor> tensors) {
                self->state.arriving.erase(index);
                const RegisteredPart& part = self->state.request.plan->parts[index];
                if (status.ok())
                  self->state.collector->part_done(index, std::move(tensors), part.fetch_of);
                else
                  self->state.collector->part_failed(
                      index, status.with_context(str_cat("a value of ", part.task))
                                 .with_origin({"", "", part.task, self->state.request.step_id}));
                advance(self, services);
              });
  };
  auto has_failed = [=](caf::error& error) {
    if (error == caf::sec::request_timeout)
      return deadline_passed(
          self, services, str_cat("the step-timeout of ", services->timeouts.step.count(), " ms"));
    const StepRequest& request = self->state.request;
    const RegisteredPart& part = request.plan->parts[index];
    // Its connection is gone: whoever watches it is about to tell us why, in better words.
    if (error == caf::sec::request_receiver_down && part.task != services->task) {
      self->delayed_send(
          self, services->timeouts.explain,
          PeerLost{part.task, 0, LossReason::crashed, to_status(error, describe(part)).message()});
      return;
    }
    self->state.collector->part_failed(
        index, in_clients_words(request, part, to_status(error, describe(part))));
    advance(self, services);
  };
  if (is_elsewhere(self, part))
    ask_watched(self, master_session_of(self), services->timeouts.step,
                RunPart{part.session, std::move(run)})
        .then(has_ended, has_failed);
  else
    ask_watched(self, typed<WorkerSessionActor>(part.session), services->timeouts.step,
                std::move(run))
        .then(has_ended, has_failed);
}

} // namespace

StepActor::behavior_type step(Self self, Services services, TransportActor transport,
                              StepRequest request) {
  keep_exception_text(self);
  self->state.request = std::move(request);
  self->state.transport = transport;
  return {
      [=](Start) -> caf::result<RunStepResult> {
        auto& state = self->state;
        const StepPlan& plan = *state.request.plan;
        state.collector = std::make_unique<StepCollector>(plan.parts.size(), plan.num_fetches);
        state.promise = self->make_response_promise<RunStepResult>();
        state.started_us = now_us(self);
        auto promise = state.promise;
        if (state.request.timeout_us > 0)
          self->delayed_send(self, std::chrono::microseconds(state.request.timeout_us), Continue{});
        for (std::size_t i = 0; i < plan.parts.size(); ++i)
          start_part(self, services, transport, i);
        if (plan.parts.empty())
          answer(self);
        return promise;
      },
      [=](const CancelExecutor& m) {
        if (self->state.collector) {
          self->state.collector->fail(m.status.status);
          advance(self, services);
        }
      },
      [=](const ExplainStep&) -> caf::result<StepExplained> {
        if (!self->state.collector || self->state.answered)
          return to_error(not_found(str_cat("step ", self->state.request.step_id, " has ended")));
        auto promise = self->make_response_promise<StepExplained>();
        self->state.asked.push_back(promise);
        explain(self, services);
        return promise;
      },
      [=](const PeerLost& m) {
        auto& state = self->state;
        if (!state.collector)
          return;
        Status why =
            m.reason == LossReason::restarted ? aborted(m.sentence) : unavailable(m.sentence);
        for (std::size_t i = 0; i < state.request.plan->parts.size(); ++i)
          if (state.request.plan->parts[i].task == m.task)
            state.collector->part_failed(i,
                                         why.with_origin({"", "", m.task, state.request.step_id}));
        advance(self, services);
      },
      [=](const GetActors&) {
        std::vector<std::string> open;
        for (std::size_t i = 0; self->state.collector && i < self->state.request.plan->parts.size();
             ++i)
          if (self->state.collector->is_open(i))
            open.push_back(self->state.request.plan->parts[i].task);
        return describe_tree(self,
                             str_cat("waits for ", open.empty() ? "nothing" : str_join(open, ", ")),
                             Children{});
      },
      [=](Continue) {
        deadline_passed(self, services,
                        str_cat("its deadline of ", self->state.request.timeout_us / 1000, " ms"));
      },
      [=](caf::tick_atom) {
        self->state.collector->give_up();
        answer(self);
      },
  };
}

} // namespace troupe
