// StepCollector: decides how a step over several tasks ends. Events in, decisions out; knows no
// actors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

/// One part for each task that runs some of the step.
///
///   running ─┬─ every part done ────────────────────────────────────────────────────────────────▶ finished (ok)
///            └─ first error: a part's, a loss, ─▶ ending ── every part has answered or is given up ─▶ finished (error)
///               a deadline, a cancellation
///
/// The step's error is the first one that is not derived from another; later ones are counted. An
/// error that is derived only stands in until a root cause arrives, and a deadline until it is
/// explained.
class StepCollector {
public:
  StepCollector(std::size_t parts, std::size_t fetches)
      : open_(parts, true), outstanding_(parts), fetched_(fetches) {}

  /// The value of a fetch, of a part that is about to end well.
  void take(std::size_t part, int fetch, Tensor value) {
    if (open_[part])
      fetched_[static_cast<std::size_t>(fetch)] = std::move(value);
  }
  /// The part has ended well, and all its values were taken.
  void part_done(std::size_t part);
  /// A part ended well; `retvals[i]` is the value of fetch `fetch_of[i]`.
  void part_done(std::size_t part, std::vector<Tensor> retvals, const std::vector<int>& fetch_of);
  /// A part ended badly. It counts as answered.
  void part_failed(std::size_t part, const Status& why);
  /// Something that is no part's answer ends the step: a deadline, a cancellation.
  void fail(const Status& why);
  /// A task that runs a part is lost while the step's error, a deadline that has passed, is being
  /// explained: its silence is what the step has waited for, and is told instead.
  void part_lost_at_deadline(std::size_t part, const Status& why);
  /// Adds to what the step's error says; nothing if there is none, or if it is another one by now.
  void explain(const Status& error, std::string_view clause);
  /// Stops waiting for parts that do not answer.
  void give_up() {
    open_.assign(open_.size(), false);
    outstanding_ = 0;
  }

  bool is_open(std::size_t part) const { return open_[part]; }
  bool is_finished() const { return outstanding_ == 0; }
  /// True once, when the parts that still run should be cancelled.
  bool take_cancel_request();

  const Status& status() const { return status_; }
  std::size_t further_errors() const { return further_errors_; }
  /// Requires is_finished() and status().ok().
  std::vector<Tensor> take_fetched() { return std::move(fetched_); }

private:
  void record(const Status& why);

  std::vector<bool> open_;
  std::size_t outstanding_;
  std::vector<Tensor> fetched_;
  Status status_;
  std::size_t further_errors_ = 0;
  bool cancel_requested_ = false;
  bool cancel_taken_ = false;
};

} // namespace troupe
