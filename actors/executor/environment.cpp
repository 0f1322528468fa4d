#include "actors/executor/environment.hpp"

#include <utility>

#include "actors/family/ask.hpp"
#include "actors/protocol/local/worker.hpp"
#include "core/base/denormals.hpp"

namespace troupe {

Counter& executors_alive() {
  static Counter& alive = counter("executors");
  return alive;
}

ExecutorEnvironment::ExecutorEnvironment(Services services, std::shared_ptr<NodeStates> node_states,
                                         caf::actor_addr owner)
    : services(std::move(services)), node_states(std::move(node_states)),
      owner_(owner ? Owner::executor : Owner::caller), executor_(std::move(owner)) {}

void ExecutorEnvironment::begin(std::shared_ptr<const Executable> runs, std::uint64_t step_id,
                                KernelRendezvous* exchange) {
  executable = std::move(runs);
  step.step_id = step_id;
  step.device = &executable->device();
  step.rendezvous = exchange;
  step.cancellation = cancellation.get();
  step.node_states = node_states.get();
  step.step_resources = &step_resources;
  step.functions = executable->functions();
}

void ExecutorEnvironment::completed(void* keep_alive, Completion completion) {
  auto& environment = *static_cast<ExecutorEnvironment*>(keep_alive);
  if (environment.thread.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    environment.own.push_back(std::move(completion));
    return;
  }
  if (environment.owner_.load(std::memory_order_acquire) != Owner::executor) {
    std::scoped_lock guard(environment.lock_);
    if (environment.owner_ == Owner::nobody)
      return;
    if (environment.owner_ == Owner::caller) {
      environment.early_.push_back(std::move(completion));
      return;
    }
  }
  // Gone: its step has ended.
  if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(environment.executor_))
    caf::anon_send(typed<ExecutorActor>(actor),
                   KernelCompleted{std::make_shared<const Completion>(std::move(completion))});
}

void ExecutorEnvironment::hand_to(caf::actor_addr executor) {
  std::scoped_lock guard(lock_);
  executor_ = std::move(executor);
  owner_.store(Owner::executor, std::memory_order_release);
  for (Completion& completion : std::exchange(early_, {}))
    own.push_back(std::move(completion));
}

// A completion holds the step's memory, which holds us.
void ExecutorEnvironment::abandon() {
  std::vector<Completion> unused;
  std::scoped_lock guard(lock_);
  owner_ = Owner::nobody;
  unused.swap(early_);
  own.clear();
}

bool ExecutorEnvironment::rests(const std::shared_ptr<ExecutorEnvironment>& self) {
  counted.reset();
  if (self.use_count() > 1 || cancellation->is_cancelled())
    return false;
  executable.reset();
  rendezvous.reset();
  step_resources.clear();
  return true;
}

OwnThread::OwnThread(ExecutorEnvironment& environment) : environment_(environment) {
  environment_.thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (environment_.rendezvous)
    environment_.rendezvous->enter();
}

OwnThread::~OwnThread() {
  environment_.thread.store(std::thread::id{}, std::memory_order_relaxed);
  if (environment_.rendezvous)
    environment_.rendezvous->leave();
}

StepRun::Progress run_slice(ExecutorEnvironment& environment, StepRun& run, bool may_compute) {
  StepRun::Progress progress{};
  FlushDenormals flush;
  do {
    if (!environment.own.empty())
      for (Completion& completion : std::exchange(environment.own, {}))
        run.complete(completion);
    progress = run.run(environment.services->threads->slice(), may_compute);
  } while (progress != StepRun::Progress::yielded && !environment.own.empty());
  return progress;
}

} // namespace troupe
