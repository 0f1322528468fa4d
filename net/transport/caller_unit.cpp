#include "net/transport/caller_unit.hpp"

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include "net/transport/job.hpp"

namespace troupe {

namespace {
constexpr std::size_t max_throughput = 100;
}

void CallerUnit::exec_later(caf::resumable* job) {
  if (job->subtype() == caf::resumable::io_actor)
    system().middleman().backend().exec_later(job);
  else
    ready_.push_back(job);
}

void CallerUnit::drain() {
  while (run_one()) {
  }
}

bool CallerUnit::run_one() {
  if (ready_.empty())
    return false;
  caf::resumable* job = ready_.front();
  ready_.pop_front();
  run_job(job, this, max_throughput, [this](caf::resumable* job) { ready_.push_back(job); });
  return true;
}

void CallerUnit::hand_over() {
  caf::scheduler::abstract_coordinator& scheduler = system().scheduler();
  for (; !ready_.empty(); ready_.pop_front())
    scheduler.enqueue(ready_.front());
}

} // namespace troupe
