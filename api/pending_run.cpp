#include "api/pending_run.hpp"

#include "api/internal/pending_run_state.hpp"

namespace troupe {

bool PendingRun::is_done() const {
  return wait_for(Duration::zero());
}

bool PendingRun::wait_for(Duration limit) const {
  if (!state_)
    return true;
  std::unique_lock guard(state_->lock);
  return state_->ended.wait_for(guard, limit, [this] { return state_->outcome.has_value(); });
}

Result<std::vector<Tensor>> PendingRun::get(RunMetadata* metadata) const {
  if (!state_)
    return failed_precondition("this PendingRun is of no step; Session::run_async makes one");
  std::unique_lock guard(state_->lock);
  state_->ended.wait(guard, [this] { return state_->outcome.has_value(); });
  if (metadata)
    *metadata = state_->metadata;
  return *state_->outcome;
}

void PendingRun::cancel() const {
  if (!state_)
    return;
  std::function<void()> ask;
  {
    std::scoped_lock guard(state_->lock);
    ask.swap(state_->ask_to_cancel);
  }
  if (ask)
    ask();
}

} // namespace troupe
