#include "actors/graph_manager/graph_manager.hpp"

#include <algorithm>

#include "actors/executor/direct_run.hpp"
#include "actors/executor/executor.hpp"
#include "actors/graph_manager/explain.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "core/trace/recorder.hpp"
#include "kernels/framework/collectives.hpp"

namespace troupe {

namespace {

// Its kernels end soon, also one that runs within the executor's handler.
void kill(const PartRunner& runner, const Status& why) {
  if (!runner.executor)
    return;
  runner.cancellation->cancel(why);
  stop(runner.executor);
}

/// Executors that are kept for the next steps; more are only needed while more steps run at once.
constexpr std::size_t max_resting = 16;

// Found once: it is asked for twice in every step.
Counter& running_steps() {
  static Counter& steps = counter("steps");
  return steps;
}
} // namespace

void RunningGraph::clear() {
  graph.reset();
  runners.clear();
  result = GraphRun{};
  outcome = PartOutcome{};
  receiver.reset();
  promise = {};
}

GraphManagerState::~GraphManagerState() {
  for (auto& [ticket, promise] : compiling)
    promise.deliver(
        to_error(aborted(str_cat("the session on ", task, " ended while a graph was compiled"))));
  for (auto& [step_id, run] : steps) {
    const Status why =
        aborted(str_cat("the session on ", task, " ended while step ", step_id, " ran"))
            .as_derived();
    run.promise.deliver(to_error(why));
    for (const PartRunner& runner : run.runners) // a kill does not pass the exit handler
      kill(runner, why);
  }
  for (const PartRunner& runner : resting)
    stop(runner.executor);
  if (environment)
    environment->end(aborted(str_cat("the session on ", task, " has ended")));
  counter("graphs").add(-static_cast<std::int64_t>(graphs.size()));
  running_steps().add(-static_cast<std::int64_t>(steps.size()));
  counter("compilations").add(-static_cast<std::int64_t>(compiling.size()));
}

namespace {

using Self = GraphManagerActor::stateful_pointer<GraphManagerState>;

caf::result<GraphRegistered> compile(Self self, const Services& services, RegisterGraph& m) {
  auto& state = self->state;
  std::uint64_t ticket = state.next_handle++;
  auto promise = self->make_response_promise<GraphRegistered>();
  state.compiling.emplace(ticket, promise);
  counter("compilations").add(1);
  auto request = std::make_shared<RegisterGraph>(std::move(m));
  auto environment = state.environment;
  caf::actor_addr address = self->address();
  services->threads->run([=] {
    auto graph = compile_graph(std::move(*request), environment, services);
    // The manager may have ended meanwhile; then nobody waits for this.
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(typed<GraphManagerActor>(actor),
                     GraphCompiled{ticket, graph.ok() ? *graph : nullptr, graph.status()});
  });
  return promise;
}

void compiled(Self self, GraphCompiled& m) {
  auto& state = self->state;
  auto waiting = state.compiling.extract(m.ticket);
  if (waiting.empty())
    return;
  counter("compilations").add(-1);
  if (!m.status.ok()) {
    waiting.mapped().deliver(to_error(m.status));
    return;
  }
  // Short enough for a string without memory of its own.
  GraphRegistered registered{str_cat(m.ticket), m.graph->has_cut_edges, m.graph->has_remote_edges};
  if (m.graph->executables.size() == 1 && !m.graph->has_cut_edges) {
    registered.node_states =
        std::shared_ptr<NodeStates>(state.environment, &state.environment->node_states());
    registered.executable = m.graph->executables[0];
  }
  registered.cost_nodes = m.graph->cost_nodes;
  state.graphs.emplace(registered.graph_handle, std::move(m.graph));
  counter("graphs").add(1);
  waiting.mapped().deliver(std::move(registered));
}

/// What its handlers need besides the state.
struct Parts {
  Services services;
  TransportActor transport;
};

void answer(Self self, std::uint64_t step_id, RunningGraph& run) {
  if (run.asked_us) { // what lies outside of its kernels is the runtime's
    NodeStats span;
    span.node = str_cat("step ", step_id);
    span.op = "ExecuteGraph";
    span.start_us = run.asked_us;
    span.end_us = wall_micros();
    span.thread_id = thread_number();
    run.result.stats.push_back({self->state.task, {std::move(span)}});
  }
  if (run.outcome.status().ok())
    run.promise.deliver(std::move(run.result));
  else
    run.promise.deliver(to_error(run.outcome.status()));
  self->state.steps.remove(step_id);
  running_steps().add(-1);
  if (self->state.steps.empty())
    self->state.idle.answer();
}

// By the message, and for a kernel that runs within the executor's own handler directly.
void cancel(Self self, const RunningGraph& run, const Status& why) {
  for (const PartRunner& runner : run.runners)
    if (runner.executor) {
      self->send(runner.executor, CancelExecutor{{why}});
      runner.cancellation->cancel(why); // later: kernels that it ends say so behind the message
    }
}

void part_executed(Self self, const Parts& parts, PartExecuted& m) {
  auto& state = self->state;
  RunningGraph* run = state.steps.find(m.step_id);
  if (!run)
    return;
  PartRunner runner = std::exchange(run->runners[m.index], PartRunner{});
  state.step_of.erase(runner.executor.id());
  if (m.rests && state.resting.size() < max_resting)
    state.resting.push_back(std::move(runner));
  else if (m.rests)
    self->send_exit(runner.executor, caf::exit_reason::user_shutdown);
  const PartOutcome::Effect effect = run->outcome.device_ended(m.status);
  if (effect.cancels_rest)
    cancel(self, *run, m.status.as_derived());
  const std::vector<int>& indices = run->graph->executables[m.index]->retval_indices();
  for (std::size_t i = 0; i < m.retvals.size() && run->outcome.status().ok(); ++i)
    run->result.retvals[static_cast<std::size_t>(indices[i])] = to_wire(
        std::move(m.retvals[i]), parts.services, self->node(), run->receiver, parts.transport);
  for (DeviceStats& stats : m.stats)
    run->result.stats.push_back(std::move(stats));
  if (effect.is_over)
    answer(self, m.step_id, *run);
}

// It was killed, or has thrown; what ended in order has said so before.
void executor_lost(Self self, const Parts& parts, const caf::down_msg& down) {
  auto& state = self->state;
  auto is_lost = [&](const PartRunner& runner) {
    return runner.executor && runner.executor.id() == down.source.id();
  };
  std::erase_if(state.resting, is_lost);
  auto found = state.step_of.find(down.source.id());
  const RunningGraph* run =
      found == state.step_of.end() ? nullptr : state.steps.find(found->second);
  if (!run)
    return;
  PartExecuted lost;
  lost.step_id = found->second;
  lost.index =
      static_cast<std::size_t>(std::ranges::find_if(run->runners, is_lost) - run->runners.begin());
  std::string who = str_cat("the executor of step ", lost.step_id, " on ",
                            run->graph->executables[lost.index]->device().name());
  lost.status = down.reason.category() == caf::atom("exit")
                    ? aborted(str_cat(who, " was ended before the step was"))
                    : to_status(down.reason, who);
  part_executed(self, parts, lost);
}

// A step of the master session before that comes late finds no graph; handles are never given
// again.
caf::result<caf::ok_atom> resume(Self self, const Status& why) {
  auto& state = self->state;
  counter("graphs").add(-static_cast<std::int64_t>(state.graphs.size()));
  state.graphs.clear();
  counter("compilations").add(-static_cast<std::int64_t>(state.compiling.size()));
  for (auto compiling = std::exchange(state.compiling, {}); auto& [ticket, promise] : compiling)
    promise.deliver(to_error(why));
  if (state.steps.empty())
    return caf::ok_atom::value;
  for (const auto& [step_id, run] : state.steps)
    cancel(self, run, why);
  auto promise = self->make_response_promise<caf::ok_atom>();
  state.idle.add(promise);
  return promise;
}

caf::result<caf::ok_atom> drain(Self self, const Drain& m) {
  auto& state = self->state;
  state.refusal = m.refusal;
  if (state.steps.empty())
    return caf::ok_atom::value;
  if (!m.end.ok())
    for (const auto& [step_id, run] : state.steps)
      cancel(self, run, m.end);
  auto promise = self->make_response_promise<caf::ok_atom>();
  state.idle.add(promise);
  return promise;
}

auto describe_executors(Self self) {
  const auto& state = self->state;
  Children executors;
  for (const auto& [step_id, run] : state.steps)
    for (std::size_t i = 0; i < run.runners.size(); ++i)
      if (run.runners[i].executor)
        executors.add(str_cat("executor-", step_id, ".", i), run.runners[i].executor);
  for (std::size_t i = 0; i < state.resting.size(); ++i)
    executors.add(str_cat("resting-executor.", i), state.resting[i].executor);
  return describe_tree(
      self, str_cat(state.graphs.size(), " graphs, ", state.steps.size(), " steps"), executors);
}

// Those that run a part end with it; a kernel that holds its thread is cancelled.
void end_executors(Self self, const caf::error& reason) {
  const Status why = aborted("the session on " + self->state.task + " has ended").as_derived();
  for (auto& [step_id, run] : self->state.steps)
    for (const PartRunner& runner : run.runners)
      if (runner.executor) {
        self->send_exit(runner.executor, reason);
        runner.cancellation->cancel(why);
      }
  for (const PartRunner& runner : self->state.resting)
    self->send_exit(runner.executor, reason);
}

PartRunner take_runner(Self self, const Services& services) {
  auto& state = self->state;
  PartRunner out;
  if (state.resting.empty()) {
    out.executor = self->spawn<caf::monitored>(
        executor, services,
        std::shared_ptr<NodeStates>(state.environment, &state.environment->node_states()));
  } else {
    out = std::move(state.resting.back());
    state.resting.pop_back();
  }
  if (!out.cancellation || out.cancellation->is_cancelled())
    out.cancellation = std::make_shared<Cancellation>();
  return out;
}

caf::result<GraphRun> execute(Self self, const Parts& parts, ExecuteGraph& m) {
  auto& state = self->state;
  if (!state.refusal.ok())
    return to_error(state.refusal);
  auto it = state.graphs.find(m.run.graph_handle);
  if (it == state.graphs.end())
    return to_error(aborted(str_cat("Graph handle is not found: ", m.run.graph_handle,
                                    ". It was forgotten since the step was begun: run it again")));
  const auto& graph = it->second;
  if (!m.begun && m.run.args.size() != static_cast<std::size_t>(graph->num_args))
    return to_error(internal(
        str_cat("a graph with ", graph->num_args, " fed values was run with ", m.run.args.size())));
  std::uint64_t step_id = m.run.step_id;
  if (state.steps.find(step_id))
    return to_error(already_exists(
        str_cat("step ", step_id, " runs already on ", parts.services->task,
                " in this session; each run of a graph needs a step id of its own")));
  RunningGraph& run = state.steps.add(step_id);
  running_steps().add(1);
  run.graph = graph;
  run.asked_us = m.run.trace ? wall_micros() : 0;
  run.outcome = PartOutcome(graph->executables.size());
  run.result.retvals.resize(static_cast<std::size_t>(graph->num_retvals));
  run.receiver = std::move(m.receiver);
  run.promise = self->make_response_promise<GraphRun>();
  if (run.outcome.is_over()) {
    answer(self, step_id, run);
    return caf::delegated<GraphRun>{}; // the promise answers
  }
  std::vector<Tensor> args;
  args.reserve(m.run.args.size());
  for (WireTensor& arg : m.run.args)
    args.push_back(std::move(arg.tensor));
  const std::size_t num_parts = graph->executables.size();
  for (std::size_t i = 0; i < num_parts; ++i) {
    ExecutePart part;
    part.executable = graph->executables[i];
    part.step_id = step_id;
    part.index = i;
    part.args = i + 1 == num_parts ? std::move(args) : args;
    part.rendezvous = m.rendezvous;
    part.trace = m.run.trace;
    part.report_allocations = m.run.report_allocations;
    PartRunner& runner = run.runners.emplace_back(take_runner(self, parts.services));
    if (m.begun) { // of a graph with one part
      runner.cancellation = m.begun->environment->cancellation;
      part.begun = std::move(m.begun);
    } else {
      runner.cancellation->set_deadline(step_id, steady_micros(), m.run.timeout_us);
      runner.cancellation->clear_deadline(); // the master watches it
      part.cancellation = runner.cancellation;
    }
    state.step_of.emplace(runner.executor.id(), step_id);
    self->send(runner.executor, std::move(part));
  }
  return caf::delegated<GraphRun>{};
}

} // namespace

GraphManagerActor::behavior_type graph_manager(Self self, Services services, bool isolate,
                                               TransportActor transport,
                                               std::shared_ptr<Collectives> collectives) {
  guard_actor(self);
  self->state.task = services->task;
  self->state.environment = std::make_shared<SessionEnvironment>(*services, isolate);
  if (collectives)
    keep_collectives(self->state.environment->node_states(), std::move(collectives));
  Parts parts{services, transport};
  self->set_down_handler([=](caf::down_msg& down) { executor_lost(self, parts, down); });
  self->set_exit_handler([self](caf::exit_msg& exit) {
    end_executors(self, exit.reason);
    self->quit(exit.reason);
  });
  return {
      [=](ExecuteGraph& m) { return execute(self, parts, m); },
      [=](PartExecuted& m) { part_executed(self, parts, m); },
      [=](RegisterGraph& m) { return compile(self, services, m); },
      [=](const DeregisterGraph& m) {
        if (self->state.graphs.erase(m.graph_handle))
          counter("graphs").add(-1);
        return caf::ok_atom::value;
      },
      [=](const ExplainPart& m) { return explain_devices(self, services, m.step_id); },
      [=](const CancelStep& m) {
        if (RunningGraph* run = self->state.steps.find(m.step_id))
          cancel(self, *run, m.status.status);
      },
      [=](const Drain& m) { return drain(self, m); },
      [=](const ResumeSession& m) { return resume(self, reason_of(m.why)); },
      [=](const GetActors&) { return describe_executors(self); },
      [=](GraphCompiled& m) { compiled(self, m); },
  };
}

} // namespace troupe
