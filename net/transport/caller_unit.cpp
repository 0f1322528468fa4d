#include "net/transport/caller_unit.hpp"

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>

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
  while (!ready_.empty()) {
    caf::resumable* job = ready_.front();
    ready_.pop_front();
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
  }
}

} // namespace troupe
