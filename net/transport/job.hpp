// A turn of what a scheduler runs.
#pragma once

#include <cstddef>

#include <caf/intrusive_ptr.hpp>
#include <caf/logger.hpp>
#include <caf/resumable.hpp>

namespace troupe {

/// Gives `job`, an actor as a rule, one turn on this thread. If it wants another one, `again` takes
/// the reference to it that we have; else that is dropped.
template <class Again>
void run_job(caf::resumable* job, caf::execution_unit* unit, std::size_t max_throughput,
             Again again) {
  // A thread with a log notes there which actor it runs, in a table behind a lock: a tenth of a
  // local step, though nothing is ever logged. Each spawn gives the thread its system's log again.
  caf::logger::set_current_actor_system(nullptr);
  switch (job->resume(unit, max_throughput)) {
  case caf::resumable::resume_later:
    again(job);
    break;
  case caf::resumable::done:
  case caf::resumable::awaiting_message:
    caf::intrusive_ptr_release(job);
    break;
  case caf::resumable::shutdown_execution_unit:
    break;
  }
}

} // namespace troupe
