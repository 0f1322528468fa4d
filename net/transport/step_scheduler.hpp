// StepScheduler: CAF's scheduler for a node, built so that a step changes threads as seldom as
// possible.
//
// One queue for all workers, and for each worker a slot: the actor that the running actor just made
// ready runs next on the same thread. What the network makes ready runs at once on the network's
// own thread, within a budget of jobs and time; the rest goes to the workers.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include <caf/logger.hpp>
#include <caf/policy/unprofiled.hpp>
#include <caf/scheduler/coordinator.hpp>

#include "net/transport/step_clock.hpp"

namespace troupe {

class SlotPolicy : public caf::policy::unprofiled {
public:
  /// Runs from the slot in a row before a worker looks at the shared queue, so that two actors that
  /// wake each other starve nobody.
  static constexpr int max_slot_runs = 64;

  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    std::mutex lock;
    std::condition_variable ready;
    std::deque<caf::resumable*> queue; // guarded by lock, like the rest
    int parked = 0;
  };
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    caf::resumable* next = nullptr;
    int slot_runs = 0;
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    auto& shared = d(self);
    bool wake = false;
    {
      std::scoped_lock guard(shared.lock);
      shared.queue.push_back(job);
      wake = shared.parked > 0;
    }
    if (wake)
      shared.ready.notify_one();
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    std::swap(d(self).next, job);
    if (job)
      central_enqueue(self->parent(), job);
  }
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& own = d(self);
    auto& shared = d(self->parent());
    if (own.next && ++own.slot_runs <= max_slot_runs)
      return std::exchange(own.next, nullptr);
    own.slot_runs = 0;
    std::unique_lock guard(shared.lock);
    if (own.next) { // its turn comes after whatever waits longest
      shared.queue.push_back(std::exchange(own.next, nullptr));
    }
    ++shared.parked;
    shared.ready.wait(guard, [&] { return !shared.queue.empty(); });
    --shared.parked;
    caf::resumable* job = shared.queue.front();
    shared.queue.pop_front();
    return job;
  }
  // CAF's logger records the running actor in a table behind a lock, even if nothing is logged. So
  // the thread's logger is unset before each job; each spawn sets it again.
  template <class Worker>
  void before_resume(Worker*, caf::resumable*) {
    caf::logger::set_current_actor_system(nullptr);
  }
  template <class Worker, class F>
  void foreach_resumable(Worker* self, F f) {
    if (d(self).next)
      f(std::exchange(d(self).next, nullptr));
  }
  template <class Coordinator, class F>
  void foreach_central_resumable(Coordinator* self, F f) {
    for (caf::resumable* job : d(self).queue)
      f(job);
    d(self).queue.clear();
  }
};

/// Loaded as a module: `config.load<StepScheduler>()` replaces CAF's own.
class StepScheduler : public caf::scheduler::coordinator<SlotPolicy> {
public:
  using super = caf::scheduler::coordinator<SlotPolicy>;
  explicit StepScheduler(caf::actor_system& system)
      : super(system), clock_(super::clock()), unit_(*this) {}
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  /// Puts a job at the end of the shared queue. If `here` is one of our workers, it looks into the
  /// queue when it returns; then another one is woken only if that `helps` because `here` has
  /// something else to do first.
  void enqueue_last(caf::resumable* job, caf::execution_unit* here, bool helps);

  StepClock& clock() noexcept override { return clock_; }

protected:
  void start() override;
  void stop() override;
  void enqueue(caf::resumable* job) override;

private:
  // What the network's thread runs before it looks at its sockets: so many jobs, for so long (µs).
  static constexpr int max_jobs = 32;
  static constexpr std::int64_t max_micros = 500;

  struct Unit : caf::execution_unit {
    explicit Unit(StepScheduler& scheduler) : caf::execution_unit(&scheduler.system()) {}
    void exec_later(caf::resumable* job) override { ready.push_back(job); }
    std::deque<caf::resumable*> ready;
  };
  void drain(); // on the network's thread

  StepClock clock_;
  Unit unit_;
  bool posted_ = false; // touched on the network's thread only
};

} // namespace troupe
