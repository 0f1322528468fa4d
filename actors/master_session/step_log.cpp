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
  std::size_t bytes = 0;
  if (outcome.result)
    for (const WireTensor& tensor : outcome.result->tensors)
      bytes += tensor.is_ticket() ? tensor.ticket->bytes : tensor.tensor.byte_size();
  answers_.add(request_id, outcome, bytes, keeps_large);
}

std::uint64_t StepLog::running(std::uint64_t request_id) const {
  auto found = by_request_.find(request_id);
  return found == by_request_.end() ? 0 : found->second;
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
