#include "actors/master_session/step_log.hpp"

#include "core/base/clock.hpp"

namespace troupe {

void StepLog::started(std::uint64_t step_id, std::uint64_t request_id, std::string signature,
                      std::int64_t now_us) {
  Running& entry = running_[step_id];
  entry.info.step_id = step_id;
  entry.info.signature = std::move(signature);
  entry.info.state = "running";
  entry.info.start_us = wall_micros();
  entry.request_id = request_id;
  entry.start_us = now_us;
}

void StepLog::finished(std::uint64_t step_id, std::string state, std::int64_t now_us) {
  auto node = running_.extract(step_id);
  if (node.empty())
    return;
  StepInfo info = std::move(node.mapped().info);
  info.state = std::move(state);
  info.duration_us = now_us - node.mapped().start_us;
  finished_.push_front(std::move(info));
  if (finished_.size() > max_finished)
    finished_.pop_back();
  ++num_finished_;
}

void StepLog::answered(std::uint64_t request_id, const StepOutcome& outcome) {
  if (request_id == 0)
    return;
  std::size_t bytes = 0;
  if (outcome.result)
    for (const WireTensor& tensor : outcome.result->tensors)
      bytes += tensor.is_ticket() ? tensor.ticket->bytes : tensor.tensor.byte_size();
  if (bytes > max_outcome_bytes)
    return;
  outcomes_.emplace_front(request_id, outcome);
  if (outcomes_.size() > max_outcomes)
    outcomes_.pop_back();
}

std::uint64_t StepLog::running(std::uint64_t request_id) const {
  if (request_id != 0)
    for (const auto& [step_id, entry] : running_)
      if (entry.request_id == request_id)
        return step_id;
  return 0;
}

const StepOutcome* StepLog::outcome(std::uint64_t request_id) const {
  if (request_id != 0)
    for (const auto& [id, outcome] : outcomes_)
      if (id == request_id)
        return &outcome;
  return nullptr;
}

std::vector<StepInfo> StepLog::list(std::int64_t now_us) const {
  std::vector<StepInfo> out;
  for (const auto& [step_id, entry] : running_) {
    out.push_back(entry.info);
    out.back().duration_us = now_us - entry.start_us;
  }
  out.insert(out.end(), finished_.begin(), finished_.end());
  return out;
}

} // namespace troupe
