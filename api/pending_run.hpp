// PendingRun: a step that runs while its caller goes on.
#pragma once

#include <memory>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

/// A step under way, from Session::run_async. Copies are handles of the same step; any thread. It
/// goes on when the last handle is gone, and ends as in Session::run, so no wait is for ever.
class PendingRun {
public:
  struct State; ///< of the implementation

  PendingRun() = default; ///< of no step: done, with FAILED_PRECONDITION
  explicit PendingRun(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// The step has ended.
  bool is_done() const;
  /// Waits until the step has ended, but no longer than `limit`; is_done().
  bool wait_for(Duration limit) const;
  /// Waits until the step has ended. May be asked again; the tensors are shared. `metadata` gets
  /// what the step's options asked for.
  Result<std::vector<Tensor>> get(RunMetadata* metadata = nullptr) const;
  /// Asks for the step's end, wherever it is: waiting for its graph, or running. It then ends with
  /// CANCELLED, unless it ended otherwise before. Does not wait.
  void cancel() const;

private:
  std::shared_ptr<State> state_;
};

} // namespace troupe
