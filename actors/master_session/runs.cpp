#include "actors/master_session/runs.hpp"

#include <algorithm>
#include <functional>

#include "actors/master_session/builds.hpp"
#include "actors/master_session/costs.hpp"
#include "actors/master_session/debug_notes.hpp"
#include "actors/master_session/partial_runs.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "kernels/framework/session_tensors.hpp"

namespace troupe {

namespace {

using Self = MasterSessionSelf;
using Parts = MasterSessionParts;

/// A lost task is looked for at most so often, however many steps are refused for it.
constexpr int looks_in_a_lease = 20;

// How long a large answer is kept for a client that may not have got it: one that lives is
// connected again within a second or two.
constexpr std::chrono::seconds large_answers_stay{5};

void answer(Self self, const Parts& parts, WaitingRun& run, StepOutcome outcome) {
  if (run.partial_step != 0)
    return partial_step_ended(self, parts, run.partial_step, outcome.error);
  self->state.log.answered(run.request_id, outcome, run.may_come_again);
  keep_large_answers_for_a_while(self);
  for (Client& other : run.joined)
    deliver(self, parts, outcome, other);
  deliver(self, parts, std::move(outcome), run.client);
}

void fail(Self self, const Parts& parts, WaitingRun& run, const Status& why) {
  answer(self, parts, run, StepOutcome{std::nullopt, to_error(why)});
}

void tell_if_idle(MasterSessionState& state) {
  if (state.steps.empty() && !state.waiting.is_some_graph_wanted())
    state.idle.answer();
}

Status lost_task(const MasterSessionState& state, const StepPlan& plan) {
  for (const RegisteredPart& part : plan.parts)
    if (const Status* loss = state.tasks.health.loss(part.task))
      return *loss;
  return {};
}

StepActor take_step(Self self, const Parts& parts) {
  if (auto resting = self->state.steps.take_resting())
    return *std::move(resting);
  return self->spawn<caf::monitored>(step, parts.services, parts.transport, parts.membership);
}

std::vector<Tensor> in_plans_order(WaitingRun& run) {
  const std::vector<int>& order = run.bound->feed_index;
  if (std::is_sorted(order.begin(), order.end())) // the caller's is the plan's
    return std::move(run.feeds);
  std::vector<Tensor> out(run.feeds.size());
  for (std::size_t i = 0; i < run.feeds.size(); ++i)
    out[static_cast<std::size_t>(order[i])] = std::move(run.feeds[i]);
  return out;
}

// Its deadline, if it was asked for at `asked_us`; none if that is longer than the step-timeout.
void set_deadline(const Parts& parts, WaitingRun& run, std::int64_t wanted_us,
                  std::int64_t asked_us, const MasterSessionState& state) {
  run.timeout_us = timeout_of(parts, state, wanted_us);
  const std::chrono::microseconds timeout(run.timeout_us);
  if (timeout.count() > 0 && timeout < parts.services->timeouts.step)
    run.due_us = asked_us + timeout.count();
}

// Of every so many, the last; 0: of none.
bool is_turn(std::int64_t number, std::int64_t every) {
  return every > 0 && number > 0 && number % every == 0;
}

void start(Self self, const Parts& parts, WaitingRun run) {
  auto& state = self->state;
  if (run.partial_step != 0 && !is_wanted(self, run.partial_step))
    return;
  const ClientGraph& graph = *run.bound->graph;
  if (Status lost = lost_task(state, *graph.plan); !lost.ok()) {
    look_for_lost_tasks(self, parts);
    return fail(self, parts, run, lost);
  }
  BeginStep begin;
  begin.plan = graph.plan;
  if (run.begun) {
    begin.step_id = run.begun->step_id;
    begin.begun = std::move(run.begun->part);
  } else if (run.partial_step != 0) {
    begin.step_id = run.partial_step;
  } else {
    begin.step_id = new_step_id();
    begin.feeds = in_plans_order(run);
    for (std::size_t i = 0; i < begin.feeds.size(); ++i)
      if (Status status = check_feed(graph, i, begin.feeds[i], true); !status.ok())
        return fail(self, parts, run, status);
  }
  const SessionSettings& settings = *state.record.settings;
  const std::int64_t number = ++run.bound->graph->executions; // 1 is the first
  state.signatures.touch(*run.bound->graph);
  run.tells_costs = is_turn(number - settings.cost_model_after, settings.cost_model_every);
  run.trace = run.trace || is_turn(number, settings.timeline_every);
  begin.timeout_us = run.timeout_us;
  begin.trace = run.trace || run.tells_costs;
  begin.report_allocations = run.report_allocations;
  begin.fetches = run.bound->fetches;
  begin.started_us = run.begun ? run.begun->started_us : exact_us(self);
  running_master_steps().add(1);
  state.log.started(begin.step_id, run.request_id,
                    std::shared_ptr<const std::string>(graph.plan, &graph.plan->signature),
                    begin.started_us);
  RunningStep& running = state.steps.start(begin.step_id, take_step(self, parts));
  running.run = std::move(run);
  look_at(self, running.run.due_us);
  self->send(running.actor, std::move(begin));
  if (running.run.partial_step != 0)
    partial_step_began(self, running);
}

// From the plan's order of fetches to the caller's.
RunStepResult result_of(StepFinished& m, const BoundSignature& bound) {
  RunStepResult out;
  out.step_id = m.step_id;
  out.metadata.stats = std::move(m.stats);
  out.tensors.reserve(bound.fetch_index.size());
  const bool each_once = bound.fetch_index.size() == m.fetched.size();
  for (int index : bound.fetch_index) {
    Tensor& value = m.fetched[static_cast<std::size_t>(index)];
    out.tensors.emplace_back(each_once ? std::move(value) : value);
  }
  return out;
}

// Large feeds are pulled first. Of each of `values`, `tensor_of` is the one that came.
template <class Values, class TensorOf>
void await_feeds(Self self, const Parts& parts, WaitingRun run, Values& values,
                 TensorOf tensor_of) {
  if (std::none_of(values.begin(), values.end(),
                   [&](auto& value) { return tensor_of(value).is_ticket(); })) {
    run.feeds.reserve(values.size());
    for (auto& value : values)
      run.feeds.push_back(std::move(tensor_of(value).tensor));
    return admit(self, parts, std::move(run));
  }
  std::vector<WireTensor> wire;
  for (auto& value : values)
    wire.push_back(std::move(tensor_of(value)));
  look_at(self, run.due_us);
  const std::uint64_t number = self->state.waiting.expect_feeds(std::move(run));
  from_wire(self, parts.services, parts.transport, std::move(wire),
            [=](Status status, std::vector<Tensor> feeds) {
              auto run = self->state.waiting.feeds_arrived(number);
              if (!run)
                return; // cancelled meanwhile
              if (!status.ok())
                return fail(self, parts, *run, feed_lost(parts, status));
              run->feeds = std::move(feeds);
              admit(self, parts, *std::move(run));
            });
}

} // namespace

void keep_large_answers_for_a_while(Self self) {
  auto& state = self->state;
  if (!state.log.has_large())
    return;
  state.large_until_us = exact_us(self) + std::chrono::microseconds(large_answers_stay).count();
  look_at(self, state.large_until_us);
}

void refuse_run(Self self, const Parts& parts, WaitingRun& run, const Status& why) {
  fail(self, parts, run, why);
}

std::uint64_t new_step_id() {
  return random_id() >> 8 | 1;
} // the top bits stay clear, as TensorFlow's do

void deliver(Self self, const Parts& parts, StepOutcome outcome, Client& client) {
  if (!outcome.result)
    return void(client.promise.deliver(outcome.error));
  if (client.actor && client.actor->node() != self->node())
    for (WireTensor& tensor : outcome.result->tensors)
      tensor = to_wire(std::move(tensor.tensor), parts.services, self->node(), client.actor,
                       parts.transport);
  client.promise.deliver(std::move(*outcome.result));
}

void look_at(Self self, std::int64_t due_us) {
  if (due_us != 0 && self->state.looks.add(due_us))
    self->delayed_send(self, std::chrono::microseconds(due_us - now_us(self)), EndLateSteps{});
}

std::int64_t timeout_of(const Parts& parts, const MasterSessionState& state,
                        std::int64_t wanted_us) {
  return bounded_timeout(wanted_us > 0 ? wanted_us : state.record.settings->operation_timeout_us,
                         parts.services->timeouts);
}

Status feed_lost(const Parts& parts, const Status& why) {
  return why.with_context(
      str_cat("a feed on its way from the client to the master on ", parts.services->task));
}

Status check_feed(const ClientGraph& graph, std::size_t i, const Tensor& feed, bool may_be_handle) {
  const std::string& name = graph.signature.feeds[i];
  const DType wanted = graph.feed_types[i];
  if (!feed.has_value())
    return invalid_argument(str_cat("the feed of '", name, "' has no value"));
  if (may_be_handle && wanted != DType::resource && is_tensor_handle(feed))
    return {}; // its task knows the value
  if (wanted != DType::invalid && feed.dtype() != wanted)
    return invalid_argument(str_cat("Tensor ", name, " is fed with ", to_string(feed.dtype()),
                                    " but has dtype ", to_string(wanted)));
  if (!graph.feed_shapes[i].is_compatible_with(feed.shape()))
    return invalid_argument(str_cat("Tensor ", name, " is fed with a value of shape ", feed.shape(),
                                    " but has shape ", graph.feed_shapes[i].to_string()));
  return {};
}

Client client_of(Self self) {
  Client out;
  out.actor = self->current_sender(); // the promise takes it away
  out.promise = self->make_response_promise<RunStepResult>();
  return out;
}

void admit(Self self, const Parts& parts, WaitingRun run) {
  auto& state = self->state;
  if (Status status = state.end.refusal(); !status.ok()) // said while its feeds were under way
    return fail(self, parts, run, status);
  if (run.bound->graph->watches && !run.is_noted)
    return write_debug_note(self, parts, std::move(run));
  if (run.bound->graph->plan)
    return start(self, parts, std::move(run));
  auto graph = run.bound->graph;
  for (const SessionWorker& worker : state.tasks.workers)
    if (const Status* loss = state.tasks.health.loss(worker.task);
        loss &&
        needs_task(*state.record.graph, state.graphs.placed.get(), graph->signature, worker.task)) {
      look_for_lost_tasks(self, parts);
      return fail(self, parts, run, *loss);
    }
  look_at(self, run.due_us);
  if (!state.waiting.wait_for(graph, std::move(run)))
    return;
  state.graphs.queue.add(graph);
  build_next(self, parts);
}

void graph_is_ready(Self self, const Parts& parts, std::vector<WaitingRun>& runs,
                    const Status& status) {
  for (WaitingRun& run : runs)
    if (status.ok())
      start(self, parts, std::move(run));
    else
      fail(self, parts, run, status);
  tell_if_idle(self->state);
}

Counter& running_master_steps() {
  static Counter& steps = counter("master_steps");
  return steps;
}

void look_for_lost_tasks(Self self, const Parts& parts) {
  auto& state = self->state;
  const Timeouts& t = parts.services->timeouts;
  const auto pause = std::chrono::microseconds(t.lease / looks_in_a_lease);
  for (const std::string& task : state.tasks.health.to_ask(now_us(self), pause.count()))
    ask(self, parts.membership, t.lease,
        GetPeer{task, std::chrono::microseconds(t.lease / 4).count(), false})
        .then([=](const Peer&) { self->state.tasks.health.returned(task); },
              [=](caf::error&) { self->state.tasks.health.unreachable(task); });
}

void lose_waiting(Self self, const Parts& parts, const std::string& task) {
  auto& state = self->state;
  const Status* loss = state.tasks.health.loss(task);
  if (!loss)
    return;
  const Status why = *loss;
  auto needs = [&](const ClientGraph& graph) {
    return needs_task(*state.record.graph, state.graphs.placed.get(), graph.signature, task);
  };
  for (WaitingRun& run : state.waiting.take_if(needs))
    fail(self, parts, run, why);
  stop_unwanted_build(state);
}

void step_finished(Self self, const Parts& parts, StepFinished& m) {
  auto& state = self->state;
  RunningStep* running = state.steps.find(m.step_id);
  if (!running)
    return;
  WaitingRun run = std::move(running->run);
  if (!m.status.ok())
    for (caf::message_id open : running->asked) // CAF drops what is answered already
      self->eq_impl(open, self->ctrl(), self->context(), to_error(m.status.as_derived()));
  if (auto surplus = state.steps.finish(m.step_id, m.rests))
    self->send_exit(*surplus, caf::exit_reason::user_shutdown);
  running_master_steps().add(-1);
  state.log.finished(m.step_id, m.status.code(), exact_us(self));
  StepOutcome outcome;
  if (m.status.ok() && run.partial_step != 0) {
    outcome.result.emplace(); // its fetches have come before
  } else if (m.status.ok()) {
    outcome.result = result_of(m, *run.bound);
    RunMetadataMessage& metadata = outcome.result->metadata;
    if (run.tells_costs) {
      metadata.costs = costs_of(*run.bound->graph->plan, metadata.stats);
      state.graphs.costs = with_costs(state.graphs.costs.get(), metadata.costs);
    }
    if (!run.trace)
      metadata.stats.clear();
    if (run.partition_graphs)
      metadata.partition_graphs = state.graphs.parts[run.bound->graph.get()];
    const SessionSettings& settings = *state.record.settings;
    const bool counts_runs = settings.cost_model_every > 0 || settings.timeline_every > 0;
    if (run.wants_direct && state.direct && !counts_runs)
      outcome.result->direct = make_direct_graph(run.bound, state.direct->life());
  } else {
    outcome.error = to_error(m.status);
  }
  answer(self, parts, run, std::move(outcome));
  tell_if_idle(state);
}

void end_late_steps(Self self, const Parts& parts) {
  auto& state = self->state;
  const std::int64_t now = exact_us(self);
  for (auto& [run, what] : state.waiting.take_late(now))
    fail(self, parts, run,
         deadline_exceeded(str_cat("the step took longer than its deadline of ",
                                   run.timeout_us / 1000, " ms while ", what)));
  stop_unwanted_build(state);
  state.looks.passed(now);
  if (state.large_until_us != 0 && state.large_until_us <= now) {
    state.large_until_us = 0;
    state.log.drop_large();
  }
  std::int64_t next = end_late_partial_runs(self, parts, now);
  if (const std::int64_t due = state.waiting.next_due(); due != 0 && (next == 0 || due < next))
    next = due;
  for (auto& [step_id, step] : state.steps)
    if (const std::int64_t due = step.run.due_us; due == 0 || step.is_due) {
      continue;
    } else if (due <= now) {
      step.is_due = true;
      self->send(step.actor, DeadlinePassed{});
    } else if (next == 0 || due < next) {
      next = due;
    }
  if (const std::int64_t due = state.large_until_us; due != 0 && (next == 0 || due < next))
    next = due;
  look_at(self, next);
}

void step_lost(Self self, const Parts& parts, const caf::down_msg& down) {
  auto& state = self->state;
  if (down.source.node() != self->node())
    return;
  StepFinished lost;
  lost.step_id = state.steps.actor_ended(down.source.id());
  if (lost.step_id == 0)
    return;
  lost.status = down.reason.category() == caf::atom("exit")
                    ? aborted(str_cat("step ", lost.step_id, " was ended from outside"))
                    : to_status(down.reason, str_cat("step ", lost.step_id));
  step_finished(self, parts, lost);
}

void cancel_run(Self self, const Parts& parts, std::uint64_t request_id) {
  auto& state = self->state;
  if (request_id == 0 || cancel_partial_run(self, parts, request_id))
    return;
  if (std::uint64_t step_id = state.log.running(request_id)) {
    if (const RunningStep* running = state.steps.find(step_id))
      self->send(running->actor,
                 EndStep{{cancelled(str_cat("step ", step_id, " was cancelled by its client"))}});
    return;
  }
  auto waiting = state.waiting.take(request_id);
  if (!waiting)
    return;
  stop_unwanted_build(state);
  fail(self, parts, waiting->run,
       cancelled(str_cat("the step was cancelled by its client while ", waiting->what)));
}

// It runs already: its caller hands it over.
caf::result<RunStepResult> go_on(Self self, const Parts& parts, RunStep& m) {
  WaitingRun run;
  run.bound = m.begun->bound;
  run.begun = std::move(m.begun);
  run.request_id = m.request_id;
  run.may_come_again = m.may_come_again;
  set_deadline(parts, run, m.timeout_us, run.begun->started_us, self->state);
  run.client = client_of(self);
  start(self, parts, std::move(run));
  return caf::delegated<RunStepResult>{}; // the promise answers
}

// A request that has come before runs once: it is answered as it was, or joins its step wherever
// that waits or runs. Nothing for a new one.
std::optional<caf::result<RunStepResult>>
answer_again(Self self, const Parts& parts, std::uint64_t request_id, std::string_view what) {
  auto& state = self->state;
  if (request_id == 0)
    return std::nullopt;
  if (const StepOutcome* outcome = state.log.outcome(request_id)) {
    if (!outcome->result)
      return caf::result<RunStepResult>(outcome->error);
    StepOutcome again = *outcome;
    Client client = client_of(self);
    deliver(self, parts, std::move(again), client);
    return caf::delegated<RunStepResult>{};
  }
  if (state.log.was_answered(request_id))
    return caf::result<RunStepResult>(to_error(
        aborted(str_cat("The same ", what,
                        " (Master) request was received twice. It was answered before, and "
                        "the answer is not kept any more: run the step again"))));
  std::vector<Client>* joined = nullptr;
  if (std::uint64_t step_id = state.log.running(request_id))
    joined = &state.steps.find(step_id)->run.joined;
  else if (WaitingRun* run = state.waiting.find(request_id))
    joined = &run->joined;
  else if (PartialCall* call = find_partial_call(self, request_id))
    joined = &call->joined;
  if (!joined)
    return std::nullopt;
  joined->push_back(client_of(self));
  return caf::delegated<RunStepResult>{}; // the promise answers
}

caf::result<RunStepResult> run_step(Self self, const Parts& parts, RunStep& m) {
  auto& state = self->state;
  state.client.watch.heard(now_us(self));
  if (Status status = state.end.refusal(); !status.ok())
    return to_error(status);
  if (m.begun)
    return go_on(self, parts, m);
  if (auto again = answer_again(self, parts, m.request_id, "RunStep"))
    return *std::move(again);
  state.log.drop_large();
  if (!m.partial_run_handle.empty())
    return run_partially(self, parts, m);
  if (m.partition_graphs && state.record.settings->hides_partition_graphs)
    return to_error(invalid_argument("RunOptions.output_partition_graphs() is not supported when "
                                     "disable_output_partition_graphs is true."));
  const GraphUse use = m.partition_graphs ? GraphUse::shown_runs : GraphUse::runs;
  const bool is_watched = !m.debug.is_empty();
  auto bound = is_watched ? nullptr : state.signatures.recall(m.feeds, m.fetches, m.targets, use);
  if (!bound) {
    std::vector<std::string> names;
    for (const auto& [name, value] : m.feeds)
      names.push_back(name);
    GraphVariant variant(use);
    if (is_watched)
      variant.watches = std::make_shared<const std::vector<DebugWatch>>(std::move(m.debug.watches));
    auto found = state.signatures.bind(names, m.fetches, m.targets, variant);
    if (!found.ok())
      return to_error(found.status());
    bound = *std::move(found);
    if (!m.partition_graphs && !is_watched &&
        state.record.learn({std::move(names), m.fetches, m.targets}))
      keep_record(self, parts);
  }
  WaitingRun run;
  run.bound = std::move(bound);
  set_deadline(parts, run, m.timeout_us, exact_us(self), state);
  run.trace = m.trace;
  run.partition_graphs = m.partition_graphs;
  run.report_allocations = m.report_allocations;
  run.debug_step = m.debug.global_step;
  run.request_id = m.request_id;
  run.may_come_again = m.may_come_again;
  run.wants_direct = m.wants_direct;
  run.client = client_of(self);
  await_feeds(self, parts, std::move(run), m.feeds,
              [](auto& feed) -> WireTensor& { return feed.second; });
  return caf::delegated<RunStepResult>{}; // the promise answers
}

caf::result<RunStepResult> run_callable(Self self, const Parts& parts, RunCallable& m) {
  auto& state = self->state;
  if (Status status = state.end.refusal(); !status.ok())
    return to_error(status);
  if (auto again = answer_again(self, parts, m.request_id, "RunCallable"))
    return *std::move(again);
  state.log.drop_large();
  auto it = state.callables.find(m.handle);
  if (it == state.callables.end())
    return to_error(invalid_argument(
        str_cat("there is no callable ", m.handle, "; it was released or never made")));
  const BoundSignature& bound = *it->second;
  if (m.feeds.size() != bound.feed_index.size())
    return to_error(invalid_argument(
        str_cat("the callable takes ", bound.feed_index.size(), " feeds, got ", m.feeds.size())));
  WaitingRun run;
  run.bound = it->second;
  set_deadline(parts, run, m.timeout_us, exact_us(self), state);
  run.trace = m.trace;
  run.partition_graphs = bound.graph->use == GraphUse::shown_runs;
  run.report_allocations = m.report_allocations;
  run.request_id = m.request_id;
  run.may_come_again = m.may_come_again;
  run.wants_direct = m.wants_direct;
  run.client = client_of(self);
  await_feeds(self, parts, std::move(run), m.feeds,
              [](WireTensor& feed) -> WireTensor& { return feed; });
  return caf::delegated<RunStepResult>{}; // the promise answers
}

caf::result<caf::ok_atom> drain(Self self, const Parts& parts, const Drain& m) {
  auto& state = self->state;
  state.end.leave(m.refusal, m.end);
  if (state.direct)
    state.direct->close();
  end_partial_runs(self, parts, m.end.ok() ? m.refusal : m.end);
  if (!m.end.ok()) {
    for (const auto& [step_id, running] : state.steps)
      self->send(running.actor, EndStep{{m.end}});
    for (WaitingRun& run : state.waiting.take_all())
      fail(self, parts, run, m.end);
  }
  if (state.steps.empty() && !state.waiting.is_some_graph_wanted())
    return caf::ok_atom::value;
  auto promise = self->make_response_promise<caf::ok_atom>();
  state.idle.add(promise);
  return promise;
}

} // namespace troupe
