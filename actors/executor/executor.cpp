#include "actors/executor/executor.hpp"

#include "actors/executor/direct_run.hpp"
#include "core/base/strings.hpp"
#include "net/transport/network_thread.hpp"
#include "net/transport/turn.hpp"

namespace troupe {

// Completions that wait for the next turn hold the run's memory, which holds the environment.
ExecutorState::~ExecutorState() {
  run.reset();
  if (environment)
    environment->own.clear();
}

namespace {

using Self = ExecutorActor::stateful_pointer<ExecutorState>;

// What kernels have sent leaves before the next expensive one: a peer waits for it.
bool wants_turn(const void* keep_alive) {
  const auto& environment = *static_cast<const ExecutorEnvironment*>(keep_alive);
  return environment.rendezvous && environment.rendezvous->has_posted();
}

void finish(Self self) {
  auto& state = self->state;
  PartExecuted out;
  out.step_id = state.environment->step.step_id;
  out.index = state.index;
  out.status = state.run->status();
  out.rests = out.status.ok();
  if (out.rests)
    out.retvals = std::move(state.run->retvals());
  if (state.trace) {
    out.stats.push_back(state.run->take_stats());
    if (DeviceStats on_stream = state.run->take_stream_stats(); !on_stream.nodes.empty())
      out.stats.push_back(std::move(on_stream));
  }
  state.run.reset();
  if (!state.environment->rests(state.environment))
    state.environment.reset();
  if (!out.rests)
    self->quit();
  self->send(state.manager, std::move(out));
  state.manager = GraphManagerActor{};
}

void advance(Self self) {
  auto& state = self->state;
  if (!state.run)
    return;
  const Services& services = state.environment->services;
  bool may_compute = !on_network_thread(self->system());
  StepRun::Progress progress;
  bool has_posted = false;
  {
    OwnThread own(*state.environment);
    progress = run_slice(*state.environment, *state.run, may_compute);
    has_posted = wants_turn(state.environment.get());
  }
  state.awaits_turn = progress == StepRun::Progress::yielded;
  if (progress == StepRun::Progress::finished)
    finish(self);
  else if (state.awaits_turn && may_compute)
    send_behind(has_posted ? Behind::own : Behind::all,
                caf::actor_cast<caf::strong_actor_ptr>(self), caf::make_message(NextSlice{}),
                self->context());
  else if (state.awaits_turn)
    // A message from a compute thread goes to the scheduler's own threads, which may compute; their
    // first kernel finds it awake.
    services->threads->run([address = self->address()] {
      if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
        caf::anon_send(typed<ExecutorActor>(actor), NextSlice{});
    });
}

// Something has arrived. With a NextSlice on its way that is all: if each arrival went on, and
// asked for a turn of its own, none of the turns would let others go first.
void go_on(Self self) {
  if (!self->state.awaits_turn)
    advance(self);
}

void begin(Self self, const Services& services, const std::shared_ptr<NodeStates>& node_states,
           ExecutePart& m) {
  auto& state = self->state;
  state.manager = typed<GraphManagerActor>(self->current_sender());
  state.index = m.index;
  state.trace = m.trace;
  state.awaits_turn = false;
  if (m.begun) {
    state.environment = std::move(m.begun->environment);
    state.environment->hand_to(self->address());
    state.environment->counted.emplace(executors_alive());
    state.run.emplace(std::move(*m.begun->run));
    return advance(self);
  }
  if (!state.environment)
    state.environment =
        std::make_shared<ExecutorEnvironment>(services, node_states, self->address());
  auto& environment = *state.environment;
  environment.counted.emplace(executors_alive());
  if (m.rendezvous)
    environment.rendezvous.emplace(self, m.rendezvous, m.step_id, *services->lent_memory);
  environment.cancellation =
      m.cancellation ? std::move(m.cancellation) : std::make_shared<Cancellation>();
  environment.begin(m.executable, m.step_id,
                    environment.rendezvous ? &*environment.rendezvous : nullptr);
  state.run.emplace(std::move(m.executable), environment.step,
                    StepHooks{ExecutorEnvironment::completed, state.environment, m.trace,
                              wants_turn, m.report_allocations},
                    std::move(m.args));
  advance(self);
}

} // namespace

ExecutorActor::behavior_type executor(Self self, Services services,
                                      std::shared_ptr<NodeStates> node_states) {
  guard_actor(self);
  return {
      [=](ExecutePart& m) { begin(self, services, node_states, m); },
      [=](NextSlice) {
        self->state.awaits_turn = false;
        advance(self);
      },
      [=](const KernelCompleted& m) {
        if (self->state.run)
          self->state.run->complete(*m.completion);
        go_on(self);
      },
      [=](EdgeTaken& m) {
        if (!self->state.run)
          return; // a step that has ended waits for nothing
        if (!m.transfer.empty() && self->state.trace)
          self->state.run->note_transfer(m.key, std::move(m.transfer));
        {
          OwnThread own(*self->state.environment);
          m.receive->answer(m.status, {std::move(m.tensor), m.is_dead});
        }
        go_on(self);
      },
      [=](const ExplainPart&) {
        DeviceRecords out;
        out.has_begun = !!self->state.run;
        if (self->state.run)
          out.devices.push_back(self->state.run->record());
        return out;
      },
      [=](const CancelExecutor& m) {
        if (!self->state.run)
          return;
        {
          OwnThread own(*self->state.environment);
          self->state.run->cancel(m.status.status);
        }
        advance(self);
      },
      [=](const GetActors&) {
        const auto& run = self->state.run;
        return describe_tree(
            self,
            run ? str_cat(run->num_running(), " kernels running, ", run->num_queued(), " queued")
                : "rests",
            Children{});
      },
  };
}

} // namespace troupe
