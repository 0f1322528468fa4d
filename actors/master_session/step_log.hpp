// StepLog: a session's running and recently finished steps; so that a step sent again joins the
// first, and people can look.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <caf/error.hpp>

#include "actors/family/step_table.hpp"
#include "actors/master_session/kept_answers.hpp"
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
  void started(std::uint64_t step_id, std::uint64_t request_id,
               std::shared_ptr<const std::string> signature, std::int64_t now_us);
  void finished(std::uint64_t step_id, Code code, std::int64_t now_us);
  /// Remembers what a request was answered; see KeptAnswers.
  void answered(std::uint64_t request_id, const StepOutcome& outcome, bool keeps_large);
  void drop_large() { answers_.drop_large(); }

  /// The step that a request set off, while it runs; 0 if there is none.
  std::uint64_t running(std::uint64_t request_id) const;
  /// Null if the request is not known, or its answer is not kept.
  const StepOutcome* outcome(std::uint64_t request_id) const { return answers_.find(request_id); }
  /// Whether the request was answered before.
  bool was_answered(std::uint64_t request_id) const { return answers_.was_given(request_id); }
  /// Whether answers are kept that drop_large would drop.
  bool has_large() const { return answers_.has_large(); }

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
  KeptAnswers<StepOutcome> answers_;
  std::int64_t num_finished_ = 0;
};

} // namespace troupe
