// Executable: a device's partition of a graph, compiled once, run many times (see StepRun).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "graph/ir/graph.hpp"
#include "kernels/framework/functions.hpp"
#include "kernels/framework/kernel.hpp"

namespace troupe {

namespace program {
struct Program;
struct StepState;
} // namespace program

struct CompileOptions {
  /// States of finished steps kept for the next ones.
  std::size_t cached_states = 8;
  /// Bytes that they may take together, about; one is always kept.
  std::size_t cached_bytes = std::size_t{64} << 20;
  /// Expensive kernels may go to compute threads; false keeps every kernel on the owner's thread.
  bool use_compute_threads = true;
  /// Those that nodes of the graph may run; null: none.
  std::shared_ptr<Functions> functions = nullptr;
};

/// Immutable but for its cache of step states; any number of steps may run it at the same time, on
/// any threads. The device and the kernel registry must outlive it; the graph need not.
class Executable {
public:
  /// Lays the graph out, finds and prepares the kernels, materialises the constants. `_Arg` and
  /// `_Retval` (attr "index") are the step's feeds and fetches. Errors: NOT_FOUND for an op without
  /// a kernel on the device's type, INVALID_ARGUMENT for an unconnected input, a cycle, loops
  /// without proper frames, an index used twice; with the node as origin.
  static Result<std::shared_ptr<const Executable>> compile(const Graph& graph, Device& device,
                                                           const KernelRegistry& kernels,
                                                           const CompileOptions& options = {});
  ~Executable();

  Device& device() const;
  Functions* functions() const { return options_.functions.get(); }
  /// Constants that became inputs are not counted.
  std::size_t num_nodes() const;
  /// Whether it has v1 loops, and so pays for frames.
  bool has_frames() const;
  /// Indices of its _Arg nodes, ascending: a step must be given these. A partition may have only
  /// some of its graph's.
  const std::vector<int>& arg_indices() const;
  /// Indices of its _Retval nodes, ascending: a step gives these, in this order.
  const std::vector<int>& retval_indices() const;

  /// An expensive kernel that holds the thread of its step's owner.
  struct Computing {
    std::string node, op;
    std::int64_t running_us = 0;
  };
  /// Those of the steps that run with this id. Any thread.
  std::vector<Computing> computing(std::uint64_t step_id) const;
  /// Expensive kernels that run now, of all executables of the process: "MatMul 'y' for 12000 ms".
  /// A step that has handed several to other threads names the newest. Any thread.
  static std::vector<std::string> running_kernels();

  const program::Program& layout() const { return *program_; }

private:
  friend class StepRun;
  explicit Executable(std::unique_ptr<program::Program> program, const CompileOptions& options);
  std::shared_ptr<program::StepState> take_state() const;
  void keep_state(std::shared_ptr<program::StepState> state) const;
  void append_states(std::vector<std::shared_ptr<const program::StepState>>& to) const;

  std::unique_ptr<program::Program> program_;
  CompileOptions options_;
  mutable std::mutex lock_;
  mutable std::vector<std::shared_ptr<program::StepState>> free_states_;
  mutable std::vector<std::weak_ptr<program::StepState>> all_states_; ///< dead ones among them
};

} // namespace troupe
