#include "actors/executor/executor.hpp"

#include "core/base/strings.hpp"
#include "net/transport/network_thread.hpp"
#include "net/transport/turn.hpp"

namespace troupe {

Counter& executors_alive() {
  static Counter& alive = counter("executors");
  return alive;
}

namespace {

using Self = ExecutorActor::stateful_pointer<ExecutorState>;

/// While it lives, this thread is the executor's own.
class OwnThread {
public:
  explicit OwnThread(ExecutorEnvironment& environment) : environment_(environment) {
    environment_.thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
    if (environment_.rendezvous)
      environment_.rendezvous->enter();
  }
  ~OwnThread() {
    environment_.thread.store(std::thread::id{}, std::memory_order_relaxed);
    if (environment_.rendezvous)
      environment_.rendezvous->leave();
  }
  OwnThread(const OwnThread&) = delete;

private:
  ExecutorEnvironment& environment_;
};

StepHooks hooks(Self self, const std::shared_ptr<ExecutorEnvironment>& environment) {
  StepHooks out;
  out.completed = [address = self->address(), raw = environment.get()](Completion completion) {
    if (raw->thread.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      raw->own.push_back(std::move(completion));
      return;
    }
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address)) // gone: its step has ended
      caf::anon_send(typed<ExecutorActor>(actor),
                     KernelCompleted{std::make_shared<const Completion>(std::move(completion))});
  };
  out.keep_alive = environment;
  out.trace = environment->setup.trace;
  return out;
}

void finish(Self self) {
  auto& state = self->state;
  ExecutorResult result;
  result.status.status = state.run->status();
  if (state.run->status().ok()) {
    const auto& indices = state.environment->setup.executable->retval_indices();
    auto& values = state.run->retvals();
    for (std::size_t i = 0; i < indices.size(); ++i)
      result.retvals.emplace_back(indices[i], std::move(values[i]));
  }
  if (state.environment->setup.trace)
    result.stats.push_back(state.run->take_stats());
  state.run.reset();
  state.promise.deliver(std::move(result));
  self->quit();
}

void advance(Self self) {
  auto& state = self->state;
  if (!state.run)
    return;
  const Services& services = state.environment->setup.services;
  bool may_compute = !on_network_thread(self->system());
  StepRun::Progress progress;
  {
    OwnThread own(*state.environment);
    do {
      for (Completion& completion : std::exchange(state.environment->own, {}))
        state.run->complete(completion);
      progress = state.run->run(services->slice, may_compute);
    } while (progress != StepRun::Progress::yielded && !state.environment->own.empty());
  }
  if (progress == StepRun::Progress::finished)
    finish(self);
  else if (progress == StepRun::Progress::yielded && may_compute)
    send_after_others(caf::actor_cast<caf::strong_actor_ptr>(self), caf::make_message(Continue{}),
                      self->context());
  else if (progress == StepRun::Progress::yielded)
    // A message from a compute thread goes to the scheduler's own threads, which may compute.
    services->offload([address = self->address()] {
      if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
        caf::anon_send(typed<ExecutorActor>(actor), Continue{});
    });
}

} // namespace

ExecutorState::~ExecutorState() {
  run.reset();
  if (promise.pending())
    promise.deliver(to_error(aborted(str_cat("the executor of step ", environment->setup.step_id,
                                             " on ", environment->setup.executable->device().name(),
                                             " was ended before the step was"))));
}

ExecutorActor::behavior_type executor(Self self, ExecutorSetup setup) {
  keep_exception_text(self);
  self->state.environment = std::make_shared<ExecutorEnvironment>(std::move(setup));
  return {
      [=](Start) -> caf::result<ExecutorResult> {
        auto& state = self->state;
        auto& environment = *state.environment;
        state.promise = self->make_response_promise<ExecutorResult>();
        auto promise = state.promise;
        if (environment.setup.rendezvous)
          environment.rendezvous.emplace(self, environment.setup.rendezvous);
        environment.step.step_id = environment.setup.step_id;
        environment.step.device = &environment.setup.executable->device();
        environment.step.rendezvous = environment.rendezvous ? &*environment.rendezvous : nullptr;
        environment.step.cancellation = &environment.cancellation;
        environment.step.node_states = environment.setup.node_states;
        environment.step.step_resources = &environment.step_resources;
        state.run =
            std::make_unique<StepRun>(environment.setup.executable, environment.step,
                                      hooks(self, state.environment), *environment.setup.args);
        advance(self);
        return promise;
      },
      [=](Continue) { advance(self); },
      [=](const KernelCompleted& m) {
        if (self->state.run)
          self->state.run->complete(*m.completion);
        advance(self);
      },
      [=](EdgeTaken& m) {
        if (self->state.run && !m.transfer.empty() && self->state.environment->setup.trace)
          self->state.run->note_transfer(m.key, std::move(m.transfer));
        {
          OwnThread own(*self->state.environment);
          (*m.done)(m.status, std::move(m.tensor), m.is_dead);
        }
        advance(self);
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
                : "ended",
            Children{});
      },
  };
}

} // namespace troupe
