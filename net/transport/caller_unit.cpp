#include "net/transport/caller_unit.hpp"

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>
#include <caf/logger.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

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
  // A thread with a log notes there which actor it runs, in a table behind a lock: a tenth of a
  // local step, though nothing is ever logged. Each spawn gives the thread its system's log again.
  caf::logger::set_current_actor_system(nullptr);
  switch (job->resume(this, max_throughput)) {
  case caf::resumable::resume_later:
    ready_.push_back(job);
    break;
  case caf::resumable::done:
  case caf::resumable::awaiting_message:
    caf::intrusive_ptr_release(job);
    break;
  case caf::resumable::shutdown_execution_unit:
    break;
  }
  return true;
}

void CallerUnit::hand_over() {
  caf::scheduler::abstract_coordinator& scheduler = system().scheduler();
  for (; !ready_.empty(); ready_.pop_front())
    scheduler.enqueue(ready_.front());
}

} // namespace troupe
