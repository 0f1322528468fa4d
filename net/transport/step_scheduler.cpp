#include "net/transport/step_scheduler.hpp"

#include <thread>

#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>

#include "core/base/clock.hpp"
#include "net/transport/job.hpp"

namespace troupe {

caf::actor_system::module* StepScheduler::make(caf::actor_system& system,
                                               caf::detail::type_list<>) {
  return new StepScheduler(system);
}

void StepScheduler::start() {
  super::start();
  clock_.start();
}

void StepScheduler::stop() {
  clock_.stop();
  super::stop();
}

void StepScheduler::enqueue(caf::resumable* job) {
  if (system().has_middleman()) {
    auto& network = system().middleman().backend();
    if (network.thread_id() == std::this_thread::get_id()) {
      unit_.ready.push_back(job);
      if (!posted_) {
        posted_ = true;
        network.post([this] { drain(); });
      }
      return;
    }
  }
  super::enqueue(job);
}

void StepScheduler::enqueue_last(caf::resumable* job, caf::execution_unit* here, bool helps) {
  auto* worker = dynamic_cast<caf::scheduler::worker<SlotPolicy>*>(here);
  bool wake = !worker || (helps && worker->data().next);
  {
    std::scoped_lock guard(data().lock);
    wake = (wake || !data().queue.empty()) && data().parked > 0;
    data().queue.push_back(job);
  }
  if (wake)
    data().ready.notify_one();
}

void StepScheduler::drain() {
  posted_ = false;
  std::int64_t end = steady_micros() + max_micros;
  for (int budget = max_jobs; !unit_.ready.empty(); --budget) {
    caf::resumable* job = unit_.ready.front();
    unit_.ready.pop_front();
    if (budget <= 0 || steady_micros() > end) {
      super::enqueue(job);
      continue;
    }
    run_job(job, &unit_, max_throughput(), [this](caf::resumable* job) { super::enqueue(job); });
  }
}

} // namespace troupe
