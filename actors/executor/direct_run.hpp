// DirectRunner: steps on their caller's thread, without an actor as long as they are short.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/executor/environment.hpp"

namespace troupe {

/// A part of a step that its caller has begun and an executor continues. Dropping it gives the step
/// up: its kernels end on their own.
struct BegunPart {
  std::shared_ptr<ExecutorEnvironment> environment; ///< null once an executor has it
  std::optional<StepRun> run;
  BegunPart() = default;
  BegunPart(const BegunPart&) = delete;
  BegunPart& operator=(const BegunPart&) = delete;
  ~BegunPart();
};

/// Runs steps of one executable without cut edges, one at a time, on one thread at a time. It keeps
/// their memory for itself, so runners on different threads share nothing that is written.
class DirectRunner {
public:
  /// The device of `executable` lives as long as `node_states`.
  DirectRunner(Services services, std::shared_ptr<NodeStates> node_states,
               std::shared_ptr<const Executable> executable);
  DirectRunner(const DirectRunner&) = delete;
  DirectRunner& operator=(const DirectRunner&) = delete;
  ~DirectRunner();

  /// One slice of a step, begun at `start_us` (steady_micros()) and to end within `timeout_us`; 0:
  /// without a deadline. Expensive kernels run here only if it `may_compute`. Null if it has ended
  /// well: then `retvals` are its values, in the order of Executable::retval_indices. Else the
  /// step, which wants another slice, waits for kernels on other threads, or has failed.
  std::shared_ptr<BegunPart> run(std::uint64_t step_id, std::int64_t start_us,
                                 std::int64_t timeout_us, bool may_compute,
                                 std::vector<Tensor> args, std::vector<Tensor>& retvals);

private:
  Services services_;
  std::shared_ptr<NodeStates> node_states_;
  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<ExecutorEnvironment> environment_; ///< of the next step; null: to be made
  StepMemory memory_;
  bool keeps_memory_;
};

} // namespace troupe
