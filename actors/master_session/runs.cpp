#include "actors/master_session/runs.hpp"

#include <algorithm>
#include <functional>

#include "actors/master_session/builds.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

namespace {

using Self = MasterSessionSelf;
using Parts = MasterSessionParts;

/// Step actors that are kept for the next steps; more are only needed while more steps run at once.
constexpr std::size_t max_resting = 16;

/// A lost task is looked for at most so often, however many steps are refused for it.
constexpr int looks_in_a_lease = 20;

std::uint64_t new_step_id() {
  return random_id() >> 8 | 1;
} // the top bits stay clear, as TensorFlow's do

void deliver(Self self, const Parts& parts, StepOutcome outcome,
             caf::typed_response_promise<RunStepResult>& promise,
             const caf::strong_actor_ptr& client) {
  if (!outcome.result)
    return void(promise.deliver(outcome.error));
  if (client && client->node() != self->node())
    for (WireTensor& tensor : outcome.result->tensors)
      tensor =
          to_wire(std::move(tensor.tensor), parts.services, self->node(), client, parts.transport);
  promise.deliver(std::move(*outcome.result));
}

void answer(Self self, const Parts& parts, WaitingRun& run, std::uint64_t step_id,
            StepOutcome outcome) {
  auto& state = self->state;
  state.log.answered(run.request_id, outcome);
  if (!state.joined.empty())
    if (auto joined = state.joined.extract(step_id); !joined.empty())
      for (auto& other : joined.mapped())
        deliver(self, parts, outcome, other.promise, other.client);
  deliver(self, parts, std::move(outcome), run.promise, run.client);
}

void fail(Self self, const Parts& parts, WaitingRun& run, const Status& why) {
  answer(self, parts, run, 0, StepOutcome{std::nullopt, to_error(why)});
}

void tell_if_idle(MasterSessionState& state) {
  if (state.steps.empty() && state.waiting.empty())
    state.idle.answer();
}

Status lost_task(const MasterSessionState& state, const StepPlan& plan) {
  for (const RegisteredPart& part : plan.parts)
    if (const Status* loss = state.health.loss(part.task))
      return *loss;
  return {};
}

Status feed_lost(const Parts& parts, const Status& why) {
  return why.with_context(
      str_cat("a feed on its way from the client to the master on ", parts.services->task));
}

Status check_feeds(const ClientGraph& graph, const std::vector<Tensor>& feeds) {
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    DType wanted = graph.feed_types[i];
    if (!feeds[i].has_value())
      return invalid_argument(str_cat("the feed of '", graph.signature.feeds[i], "' has no value"));
    if (wanted != DType::invalid && feeds[i].dtype() != wanted)
      return invalid_argument(str_cat("Tensor ", graph.signature.feeds[i], " is fed with ",
                                      to_string(feeds[i].dtype()), " but has dtype ",
                                      to_string(wanted)));
    if (!graph.feed_shapes[i].is_compatible_with(feeds[i].shape()))
      return invalid_argument(str_cat("Tensor ", graph.signature.feeds[i],
                                      " is fed with a value of shape ", feeds[i].shape(),
                                      " but has shape ", graph.feed_shapes[i].to_string()));
  }
  return {};
}

StepActor take_step(Self self, const Parts& parts) {
  auto& state = self->state;
  if (state.resting.empty())
    return self->spawn<caf::monitored>(step, parts.services, parts.transport, parts.membership);
  StepActor out = std::move(state.resting.back());
  state.resting.pop_back();
  return out;
}

// One timer serves all steps: the clock would keep each, and whoever set it, until it is due.
void look_at(Self self, std::int64_t due_us) {
  auto& looks = self->state.looks;
  if (!looks.empty() && *looks.begin() <= due_us)
    return;
  looks.insert(due_us);
  self->delayed_send(self, std::chrono::microseconds(due_us - now_us(self)), EndLateSteps{});
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

// The timeout (µs; 0: none) of a run that came with `wanted_us`, else the session's.
std::int64_t timeout_of(const Parts& parts, const MasterSessionState& state,
                        std::int64_t wanted_us) {
  return bounded_timeout(wanted_us > 0 ? wanted_us : state.record.settings->operation_timeout_us,
                         parts.services->timeouts);
}

// When its deadline passes, on the actors' clock; 0: never, as one that is longer than the step-timeout.
std::int64_t due_of(const Parts& parts, const WaitingRun& run) {
  const std::chrono::microseconds timeout(run.timeout_us);
  return timeout.count() > 0 && timeout < parts.services->timeouts.step
             ? run.asked_us + timeout.count()
             : 0;
}

void start(Self self, const Parts& parts, WaitingRun run) {
  auto& state = self->state;
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
  } else {
    begin.step_id = new_step_id();
    begin.feeds = in_plans_order(run);
    if (Status status = check_feeds(graph, begin.feeds); !status.ok())
      return fail(self, parts, run, status);
  }
  begin.timeout_us = run.timeout_us;
  begin.trace = run.trace;
  begin.fetches = run.bound->fetches;
  begin.started_us = run.begun ? run.begun->started_us : exact_us(self);
  const std::int64_t due_us = due_of(parts, run);
  running_master_steps().add(1);
  state.log.started(begin.step_id, run.request_id,
                    std::shared_ptr<const std::string>(graph.plan, &graph.plan->signature),
                    begin.started_us);
  RunningStep& running = state.steps.add(begin.step_id);
  running.actor = take_step(self, parts);
  state.step_of.emplace(running.actor.id(), begin.step_id);
  running.run = std::move(run);
  if (due_us != 0) {
    running.due_us = due_us;
    look_at(self, due_us);
  }
  self->send(running.actor, std::move(begin));
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

void admit(Self self, const Parts& parts, WaitingRun run) {
  auto& state = self->state;
  if (Status status = state.end.refusal(); !status.ok()) // said while its feeds were under way
    return fail(self, parts, run, status);
  if (run.bound->graph->plan)
    return start(self, parts, std::move(run));
  auto graph = run.bound->graph;
  for (const SessionWorker& worker : state.workers)
    if (const Status* loss = state.health.loss(worker.task);
        loss &&
        needs_task(*state.record.graph, state.placed.get(), graph->signature, worker.task)) {
      look_for_lost_tasks(self, parts);
      return fail(self, parts, run, *loss);
    }
  bool first = !state.waiting.count(graph);
  if (const std::int64_t due_us = due_of(parts, run); due_us != 0)
    look_at(self, due_us);
  state.waiting[graph].push_back(std::move(run));
  if (!first)
    return;
  state.builds.add(graph);
  build_next(self, parts);
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
  std::uint64_t id = self->state.next_arrival++;
  if (const std::int64_t due_us = due_of(parts, run); due_us != 0)
    look_at(self, due_us);
  self->state.arriving.emplace(id, std::move(run));
  from_wire(self, parts.services, parts.transport, std::move(wire),
            [=](Status status, std::vector<Tensor> feeds) {
              auto arrived = self->state.arriving.extract(id);
              if (arrived.empty())
                return; // cancelled meanwhile
              WaitingRun& run = arrived.mapped();
              if (!status.ok())
                return fail(self, parts, run, feed_lost(parts, status));
              run.feeds = std::move(feeds);
              admit(self, parts, std::move(run));
            });
}

} // namespace

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
  for (const std::string& task : state.health.to_ask(now_us(self), pause.count()))
    ask(self, parts.membership, t.lease,
        GetPeer{task, std::chrono::microseconds(t.lease / 4).count(), false})
        .then([=](const Peer&) { self->state.health.returned(task); },
              [=](caf::error&) { self->state.health.unreachable(task); });
}

void lose_waiting(Self self, const Parts& parts, const std::string& task) {
  auto& state = self->state;
  const Status* loss = state.health.loss(task);
  if (!loss)
    return;
  const Status why = *loss;
  for (auto& [graph, runs] : state.waiting)
    if (!runs.empty() &&
        needs_task(*state.record.graph, state.placed.get(), graph->signature, task))
      for (WaitingRun& run : std::exchange(runs, {}))
        fail(self, parts, run, why);
  stop_unwanted_build(state);
}

void step_finished(Self self, const Parts& parts, StepFinished& m) {
  auto& state = self->state;
  RunningStep* running = state.steps.find(m.step_id);
  if (!running)
    return;
  WaitingRun run = std::move(running->run);
  state.step_of.erase(running->actor.id());
  if (!m.status.ok())
    for (caf::message_id open : running->asked) // CAF drops what is answered already
      self->eq_impl(open, self->ctrl(), self->context(), to_error(m.status.as_derived()));
  if (m.rests && state.resting.size() < max_resting)
    state.resting.push_back(std::move(running->actor));
  else if (m.rests)
    self->send_exit(running->actor, caf::exit_reason::user_shutdown);
  state.steps.remove(m.step_id);
  running_master_steps().add(-1);
  state.log.finished(m.step_id, m.status.code(), exact_us(self));
  StepOutcome outcome;
  if (m.status.ok()) {
    outcome.result = result_of(m, *run.bound);
    if (run.partition_graphs)
      outcome.result->metadata.partition_graphs = state.partition_graphs[run.bound->graph];
    if (run.wants_direct && state.direct)
      outcome.result->direct = make_direct_graph(run.bound, state.direct->life());
  } else {
    outcome.error = to_error(m.status);
  }
  answer(self, parts, run, m.step_id, std::move(outcome));
  tell_if_idle(state);
}

// Runs that wait for their feeds or their graph have deadlines too. The next one of them, or 0.
std::int64_t end_late_waiting(Self self, const Parts& parts, std::int64_t now) {
  auto& state = self->state;
  std::int64_t next = 0;
  auto look_after = [&](const WaitingRun& run) {
    if (const std::int64_t due = due_of(parts, run); due != 0 && (next == 0 || due < next))
      next = due;
  };
  auto end = [&](WaitingRun& run, std::string_view while_what) {
    fail(self, parts, run,
         deadline_exceeded(str_cat("the step took longer than its deadline of ",
                                   run.timeout_us / 1000, " ms while ", while_what)));
  };
  for (auto it = state.arriving.begin(); it != state.arriving.end();)
    if (const std::int64_t due = due_of(parts, it->second); due != 0 && due <= now) {
      end(it->second, "its feeds were on their way to the master");
      it = state.arriving.erase(it);
    } else {
      look_after(it->second);
      ++it;
    }
  for (auto& [graph, runs] : state.waiting) {
    auto is_due = [&](const WaitingRun& run) {
      const std::int64_t due = due_of(parts, run);
      return due != 0 && due <= now;
    };
    auto late = std::stable_partition(runs.begin(), runs.end(), std::not_fn(is_due));
    for (auto run = late; run != runs.end(); ++run)
      end(*run, "it waited for its graph to be built by the master");
    runs.erase(late, runs.end());
    for (const WaitingRun& run : runs)
      look_after(run);
  }
  stop_unwanted_build(state);
  return next;
}

void end_late_steps(Self self, const Parts& parts) {
  auto& state = self->state;
  std::int64_t now = exact_us(self), next = end_late_waiting(self, parts, now);
  state.looks.erase(state.looks.begin(), state.looks.upper_bound(now));
  for (auto& [step_id, step] : state.steps)
    if (step.due_us != 0 && step.due_us <= now) {
      step.due_us = 0;
      self->send(step.actor, DeadlinePassed{});
    } else if (step.due_us != 0 && (next == 0 || step.due_us < next)) {
      next = step.due_us;
    }
  if (next != 0)
    look_at(self, next);
}

void step_lost(Self self, const Parts& parts, const caf::down_msg& down) {
  auto& state = self->state;
  const caf::actor_id id = down.source.id();
  if (down.source.node() != self->node())
    return;
  std::erase_if(state.resting, [&](const StepActor& actor) { return actor.id() == id; });
  auto found = state.step_of.find(id);
  if (found == state.step_of.end())
    return;
  StepFinished lost;
  lost.step_id = found->second;
  lost.status = down.reason.category() == caf::atom("exit")
                    ? aborted(str_cat("step ", lost.step_id, " was ended from outside"))
                    : to_status(down.reason, str_cat("step ", lost.step_id));
  step_finished(self, parts, lost);
}

void cancel_run(Self self, const Parts& parts, std::uint64_t request_id) {
  auto& state = self->state;
  if (request_id == 0)
    return;
  if (std::uint64_t step_id = state.log.running(request_id)) {
    if (const RunningStep* running = state.steps.find(step_id))
      self->send(running->actor,
                 EndStep{{cancelled(str_cat("step ", step_id, " was cancelled by its client"))}});
    return;
  }
  auto is_meant = [=](const WaitingRun& run) { return run.request_id == request_id; };
  auto arriving = std::find_if(state.arriving.begin(), state.arriving.end(),
                               [&](const auto& entry) { return is_meant(entry.second); });
  if (arriving != state.arriving.end()) {
    WaitingRun run = std::move(arriving->second);
    state.arriving.erase(arriving);
    return fail(self, parts, run,
                cancelled("the step was cancelled by its client while its feeds were on their way "
                          "to the master"));
  }
  for (auto& [graph, runs] : state.waiting) {
    auto it = std::find_if(runs.begin(), runs.end(), is_meant);
    if (it == runs.end())
      continue;
    WaitingRun run = std::move(*it);
    runs.erase(it);
    stop_unwanted_build(state);
    return fail(self, parts, run,
                cancelled("the step was cancelled by its client while it waited for its graph to "
                          "be built by the master"));
  }
}

// It runs already: its caller hands it over.
caf::result<RunStepResult> go_on(Self self, const Parts& parts, RunStep& m) {
  WaitingRun run;
  run.bound = m.begun->bound;
  run.begun = std::move(m.begun);
  run.timeout_us = timeout_of(parts, self->state, m.timeout_us);
  run.asked_us = run.begun->started_us;
  run.client = self->current_sender();
  run.promise = self->make_response_promise<RunStepResult>();
  start(self, parts, std::move(run));
  return caf::delegated<RunStepResult>{}; // the promise answers
}

caf::result<RunStepResult> run_step(Self self, const Parts& parts, RunStep& m) {
  auto& state = self->state;
  state.watch.heard(now_us(self));
  if (Status status = state.end.refusal(); !status.ok())
    return to_error(status);
  if (m.begun)
    return go_on(self, parts, m);
  if (const StepOutcome* outcome = state.log.outcome(m.request_id)) {
    if (outcome->result)
      return *outcome->result;
    return outcome->error;
  }
  if (std::uint64_t step_id = state.log.running(m.request_id)) {
    caf::strong_actor_ptr client = self->current_sender(); // the promise takes it away
    auto promise = self->make_response_promise<RunStepResult>();
    state.joined[step_id].push_back({std::move(client), promise});
    return promise;
  }
  auto bound = state.signatures.recall(m.feeds, m.fetches, m.targets, m.partition_graphs);
  if (!bound) {
    std::vector<std::string> names;
    for (const auto& [name, value] : m.feeds)
      names.push_back(name);
    auto found = state.signatures.bind(names, m.fetches, m.targets, m.partition_graphs);
    if (!found.ok())
      return to_error(found.status());
    bound = *std::move(found);
    if (!m.partition_graphs && state.record.learn({std::move(names), m.fetches, m.targets}))
      keep_record(self, parts);
  }
  WaitingRun run;
  run.bound = std::move(bound);
  run.timeout_us = timeout_of(parts, state, m.timeout_us);
  run.asked_us = exact_us(self);
  run.trace = m.trace;
  run.partition_graphs = m.partition_graphs;
  run.request_id = m.request_id;
  run.wants_direct = m.wants_direct;
  run.client = self->current_sender();
  run.promise = self->make_response_promise<RunStepResult>();
  await_feeds(self, parts, std::move(run), m.feeds,
              [](auto& feed) -> WireTensor& { return feed.second; });
  return caf::delegated<RunStepResult>{}; // the promise answers
}

caf::result<RunStepResult> run_callable(Self self, const Parts& parts, RunCallable& m) {
  auto& state = self->state;
  if (Status status = state.end.refusal(); !status.ok())
    return to_error(status);
  auto it = state.callables.find(m.handle);
  if (it == state.callables.end())
    return to_error(invalid_argument(
        str_cat("there is no callable ", m.handle, "; it was released or never made")));
  const BoundSignature& bound = *it->second.bound;
  if (m.feeds.size() != bound.feed_index.size())
    return to_error(invalid_argument(
        str_cat("the callable takes ", bound.feed_index.size(), " feeds, got ", m.feeds.size())));
  WaitingRun run;
  run.bound = it->second.bound;
  run.timeout_us = timeout_of(parts, state, m.timeout_us);
  run.asked_us = exact_us(self);
  run.trace = m.trace;
  run.request_id = m.request_id;
  run.wants_direct = m.wants_direct;
  run.client = self->current_sender();
  run.promise = self->make_response_promise<RunStepResult>();
  await_feeds(self, parts, std::move(run), m.feeds,
              [](WireTensor& feed) -> WireTensor& { return feed; });
  return caf::delegated<RunStepResult>{}; // the promise answers
}

caf::result<caf::ok_atom> drain(Self self, const Parts& parts, const Drain& m) {
  auto& state = self->state;
  state.end.leave(m.refusal, m.end);
  if (state.direct)
    state.direct->close();
  if (!m.end.ok()) {
    for (const auto& [step_id, running] : state.steps)
      self->send(running.actor, EndStep{{m.end}});
    for (auto arriving = std::exchange(state.arriving, {}); auto& [id, run] : arriving)
      fail(self, parts, run, m.end);
    for (auto waiting = std::exchange(state.waiting, {}); auto& [graph, runs] : waiting)
      for (WaitingRun& run : runs)
        fail(self, parts, run, m.end);
  }
  if (state.steps.empty() && state.waiting.empty())
    return caf::ok_atom::value;
  auto promise = self->make_response_promise<caf::ok_atom>();
  state.idle.add(promise);
  return promise;
}

} // namespace troupe
