#include "actors/master_session/step_log.hpp"

#include <algorithm>

#include "core/base/clock.hpp"

namespace troupe {

void StepLog::started(std::uint64_t step_id, std::uint64_t request_id,
                      std::shared_ptr<const std::string> signature, std::int64_t now_us) {
  running_.add(step_id) = {std::move(signature), request_id, now_us};
  if (request_id != 0)
    by_request_.emplace(request_id, step_id);
}

void StepLog::finished(std::uint64_t step_id, Code code, std::int64_t now_us) {
  Running* step = running_.find(step_id);
  if (!step)
    return;
  auto at = static_cast<std::size_t>(num_finished_++) % max_finished;
  finished_[at] = {step_id, std::move(step->signature), code, step->start_us,
                   now_us - step->start_us};
  if (step->request_id != 0)
    by_request_.erase(step->request_id);
  running_.remove(step_id);
}

void StepLog::answered(std::uint64_t request_id, const StepOutcome& outcome, bool keeps_large) {
  if (request_id == 0)
    return;
  if (answered_.insert(request_id).second)
    answered_order_.push_back(request_id);
  if (answered_order_.size() > max_requests) {
    answered_.erase(answered_order_.front());
    answered_order_.pop_front();
  }
  Kept kept{request_id, outcome, 0};
  if (outcome.result)
    for (const WireTensor& tensor : outcome.result->tensors)
      kept.bytes += tensor.is_ticket() ? tensor.ticket->bytes : tensor.tensor.byte_size();
  if (kept.bytes > (keeps_large ? max_outcome_bytes : small_outcome_bytes))
    return;
  kept_bytes_ += kept.bytes;
  if (kept.bytes > small_outcome_bytes)
    large_bytes_ += kept.bytes;
  outcomes_.push_front(std::move(kept));
  while (outcomes_.size() > max_outcomes || kept_bytes_ > max_outcome_bytes)
    drop_oldest();
}

void StepLog::drop_oldest() {
  const std::size_t bytes = outcomes_.back().bytes;
  kept_bytes_ -= bytes;
  if (bytes > small_outcome_bytes)
    large_bytes_ -= bytes;
  outcomes_.pop_back();
}

void StepLog::drop_large() {
  if (large_bytes_ == 0)
    return;
  std::erase_if(outcomes_, [](const Kept& kept) { return kept.bytes > small_outcome_bytes; });
  kept_bytes_ -= large_bytes_;
  large_bytes_ = 0;
}

std::uint64_t StepLog::running(std::uint64_t request_id) const {
  auto found = by_request_.find(request_id);
  return found == by_request_.end() ? 0 : found->second;
}

const StepOutcome* StepLog::outcome(std::uint64_t request_id) const {
  if (request_id != 0)
    for (const Kept& kept : outcomes_)
      if (kept.request_id == request_id)
        return &kept.outcome;
  return nullptr;
}

std::vector<StepInfo> StepLog::list(std::int64_t now_us) const {
  std::int64_t to_wall = wall_micros() - now_us;
  std::vector<StepInfo> out;
  for (const auto& [step_id, entry] : running_)
    out.push_back({step_id,
                   *entry.signature,
                   "running",
                   entry.start_us + to_wall,
                   now_us - entry.start_us,
                   {}});
  auto known = std::min(num_finished_, static_cast<std::int64_t>(max_finished));
  for (std::int64_t i = 1; i <= known; ++i) {
    const Finished& entry = finished_[static_cast<std::size_t>(num_finished_ - i) % max_finished];
    std::string state(entry.code == Code::ok ? "done" : to_string(entry.code));
    out.push_back({entry.step_id,
                   *entry.signature,
                   std::move(state),
                   entry.start_us + to_wall,
                   entry.duration_us,
                   {}});
  }
  return out;
}

} // namespace troupe
