#include "actors/graph_manager/graph_manager.hpp"

#include "actors/executor/executor.hpp"
#include "actors/graph_manager/explain.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "core/trace/recorder.hpp"

namespace troupe {

GraphManagerState::~GraphManagerState() {
  for (auto& [ticket, promise] : compiling)
    promise.deliver(
        to_error(aborted(str_cat("the session on ", task, " ended while a graph was compiled"))));
  for (auto& [step_id, promise] : unanswered)
    promise.deliver(
        to_error(aborted(str_cat("the session on ", task, " ended while step ", step_id, " ran"))
                     .as_derived()));
  for (auto& [step_id, executors] : steps) // a kill does not pass the exit handler
    for (const ExecutorActor& executor : executors)
      stop(untyped(executor));
  counter("graphs").add(-static_cast<std::int64_t>(graphs.size()));
  counter("steps").add(-static_cast<std::int64_t>(unanswered.size()));
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
  services->offload([=] {
    auto graph = compile_graph(std::move(*request), *environment, *services);
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
  GraphRegistered registered{hex16(m.ticket), m.graph->has_cut_edges, m.graph->has_remote_edges};
  state.graphs.emplace(registered.graph_handle, std::move(m.graph));
  counter("graphs").add(1);
  waiting.mapped().deliver(std::move(registered));
}

// One step's executors on their way to one answer.
struct Run {
  GraphRun result;
  Status status;
  std::size_t missing = 0;
  std::uint64_t step_id = 0;
  std::int64_t asked_us = 0; ///< of a traced step
  caf::strong_actor_ptr receiver;
  caf::typed_response_promise<GraphRun> promise;
};

// Found once: it is asked for twice in every step.
Counter& running_steps() {
  static Counter& steps = counter("steps");
  return steps;
}

void executor_done(Self self, const std::shared_ptr<Run>& run) {
  if (--run->missing > 0)
    return;
  self->state.steps.erase(run->step_id);
  self->state.unanswered.erase(run->step_id);
  running_steps().add(-1);
  if (run->asked_us) { // what lies outside of its kernels is the runtime's
    NodeStats span;
    span.node = str_cat("step ", run->step_id);
    span.op = "ExecuteGraph";
    span.start_us = run->asked_us;
    span.end_us = wall_micros();
    span.thread_id = thread_number();
    run->result.stats.push_back({self->state.task, {std::move(span)}});
  }
  if (run->status.ok())
    run->promise.deliver(std::move(run->result));
  else
    run->promise.deliver(to_error(run->status));
  if (self->state.steps.empty())
    self->state.idle.answer();
}

void record(const std::shared_ptr<Run>& run, const Status& status, Self self) {
  if (status.ok())
    return;
  bool first = run->status.ok();
  if (first || (run->status.derived() && !status.derived()))
    run->status = status;
  if (first) // the other devices' parts have nothing left to wait for
    for (const ExecutorActor& executor : self->state.steps[run->step_id])
      self->send(executor, CancelExecutor{{status.as_derived()}});
}

caf::result<GraphRun> execute(Self self, const Services& services, const TransportActor& transport,
                              ExecuteGraph& m) {
  auto& state = self->state;
  auto it = state.graphs.find(m.run.graph_handle);
  if (it == state.graphs.end())
    return to_error(aborted(str_cat("Graph handle is not found: ", m.run.graph_handle)));
  const auto& graph = it->second;
  if (m.run.args.size() != static_cast<std::size_t>(graph->num_args))
    return to_error(internal(
        str_cat("a graph with ", graph->num_args, " fed values was run with ", m.run.args.size())));
  if (state.steps.count(m.run.step_id))
    return to_error(already_exists(
        str_cat("step ", m.run.step_id, " runs already on ", services->task,
                " in this session; each run of a graph needs a step id of its own")));
  auto run = std::make_shared<Run>();
  run->step_id = m.run.step_id;
  run->asked_us = m.run.trace ? wall_micros() : 0;
  run->missing = graph->executables.size();
  run->result.retvals.resize(static_cast<std::size_t>(graph->num_retvals));
  run->receiver = self->current_sender(); // the promise takes it away
  run->promise = self->make_response_promise<GraphRun>();
  auto args = std::make_shared<std::vector<Tensor>>();
  for (WireTensor& arg : m.run.args)
    args->push_back(std::move(arg.tensor));
  running_steps().add(1);
  if (graph->executables.empty()) {
    run->missing = 1;
    executor_done(self, run);
    return run->promise;
  }
  state.unanswered.emplace(run->step_id, run->promise);
  auto& executors = state.steps[run->step_id];
  for (const auto& executable : graph->executables) {
    ExecutorSetup setup;
    setup.services = services;
    setup.environment = state.environment;
    setup.node_states = &state.environment->node_states();
    setup.executable = executable;
    setup.step_id = run->step_id;
    setup.args = args;
    setup.rendezvous = typed<RendezvousActor>(m.rendezvous);
    setup.trace = m.run.trace;
    executors.push_back(self->spawn(executor, std::move(setup)));
  }
  auto started = executors; // an executor that ends at once changes the table
  for (const ExecutorActor& actor : started)
    ask(self, actor, services->timeouts.step, Start{})
        .then(
            [=](ExecutorResult& result) {
              record(run, result.status.status, self);
              for (auto& [index, tensor] : result.retvals)
                run->result.retvals[static_cast<std::size_t>(index)] =
                    to_wire(std::move(tensor), self->node(), run->receiver, untyped(transport));
              for (DeviceStats& stats : result.stats)
                run->result.stats.push_back(std::move(stats));
              executor_done(self, run);
            },
            [=](caf::error& error) {
              record(run,
                     to_status(error, str_cat("the executor of step ", run->step_id, " on ",
                                              services->task)),
                     self);
              executor_done(self, run);
            });
  return run->promise;
}

} // namespace

GraphManagerActor::behavior_type graph_manager(Self self, Services services,
                                               std::string session_handle, bool isolate,
                                               TransportActor transport) {
  keep_exception_text(self);
  self->state.task = services->task;
  self->state.environment =
      std::make_shared<SessionEnvironment>(*services, std::move(session_handle), isolate);
  self->set_exit_handler([self](caf::exit_msg& exit) {
    for (auto& [step_id, executors] : self->state.steps)
      for (const ExecutorActor& actor : executors)
        self->send_exit(actor, exit.reason);
    self->quit(exit.reason);
  });
  return {
      [=](RegisterGraph& m) { return compile(self, services, m); },
      [=](const DeregisterGraph& m) {
        if (self->state.graphs.erase(m.graph_handle))
          counter("graphs").add(-1);
        return caf::ok_atom::value;
      },
      [=](ExecuteGraph& m) { return execute(self, services, transport, m); },
      [=](const ExplainPart& m) { return explain_devices(self, services, m.step_id); },
      [=](const CancelStep& m) {
        auto it = self->state.steps.find(m.step_id);
        if (it == self->state.steps.end())
          return;
        for (const ExecutorActor& actor : it->second)
          self->send(actor, CancelExecutor{m.status});
      },
      [=](const Drain& m) -> caf::result<caf::ok_atom> {
        auto& state = self->state;
        if (state.steps.empty())
          return caf::ok_atom::value;
        if (!m.end.ok())
          for (const auto& [step_id, executors] : state.steps)
            for (const ExecutorActor& actor : executors)
              self->send(actor, CancelExecutor{{m.end}});
        auto promise = self->make_response_promise<caf::ok_atom>();
        state.idle.add(promise);
        return promise;
      },
      [=](const GetActors&) {
        Children executors;
        for (const auto& [step_id, actors] : self->state.steps)
          for (std::size_t i = 0; i < actors.size(); ++i)
            executors.add(str_cat("executor-", step_id, ".", i), untyped(actors[i]));
        return describe_tree(
            self,
            str_cat(self->state.graphs.size(), " graphs, ", self->state.steps.size(), " steps"),
            executors);
      },
      [=](GraphCompiled& m) { compiled(self, m); },
  };
}

} // namespace troupe
