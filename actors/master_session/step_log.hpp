// StepLog: a session's running and recently finished steps; so that a step sent again joins the
// first, and people can look.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <caf/error.hpp>

#include "actors/family/step_table.hpp"
#include "actors/protocol/local/master.hpp"

namespace troupe {

/// How a step ended: a result, or an error.
struct StepOutcome {
  std::optional<RunStepResult> result;
  caf::error error;
};

class StepLog {
public:
  static constexpr std::size_t max_finished = 64; ///< kept for people
  /// Of requests that may be sent again: answers that are kept, and the ids of more.
  static constexpr std::size_t max_outcomes = 256, max_requests = 10'000;
  /// Bytes of all answers that are kept; of those up to 64 KiB as long as there is room.
  static constexpr std::size_t max_outcome_bytes = 256 << 20, small_outcome_bytes = 64 << 10;

  void started(std::uint64_t step_id, std::uint64_t request_id,
               std::shared_ptr<const std::string> signature, std::int64_t now_us);
  void finished(std::uint64_t step_id, Code code, std::int64_t now_us);
  /// Remembers what a request was answered; of a large answer nothing but that it was given, unless it
  /// `keeps_large` ones.
  void answered(std::uint64_t request_id, const StepOutcome& outcome, bool keeps_large);
  /// A new request has come, or none for long: whoever was given a large answer has it by now, or will
  /// not ask again.
  void drop_large();

  /// The step that a request set off, while it runs; 0 if there is none.
  std::uint64_t running(std::uint64_t request_id) const;
  /// Null if the request is not known, or its answer is not kept.
  const StepOutcome* outcome(std::uint64_t request_id) const;
  /// Whether the request was answered before.
  bool was_answered(std::uint64_t request_id) const { return answered_.contains(request_id); }
  /// Whether answers are kept that drop_large would drop.
  bool has_large() const { return large_bytes_ > 0; }

  std::size_t num_running() const { return running_.size(); }
  std::int64_t num_finished() const { return num_finished_; }
  std::vector<StepInfo> list(std::int64_t now_us) const; ///< running ones first, then the latest

private:
  struct Running {
    std::shared_ptr<const std::string> signature;
    std::uint64_t request_id = 0;
    std::int64_t start_us = 0;
    void clear() { signature.reset(); }
  };
  struct Finished {
    std::uint64_t step_id = 0;
    std::shared_ptr<const std::string> signature;
    Code code = Code::ok;
    std::int64_t start_us = 0, duration_us = 0;
  };
  StepTable<Running> running_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_request_; ///< request → step, of those
  std::array<Finished, max_finished> finished_;                 ///< a ring
  struct Kept {
    std::uint64_t request_id = 0;
    StepOutcome outcome;
    std::size_t bytes = 0;
  };
  void drop_oldest();

  std::deque<Kept> outcomes_; ///< the latest first
  std::size_t kept_bytes_ = 0, large_bytes_ = 0;
  std::unordered_set<std::uint64_t> answered_;
  std::deque<std::uint64_t> answered_order_; ///< the oldest first
  std::int64_t num_finished_ = 0;
};

} // namespace troupe
