// StepRun: one run of one Executable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/executor/executable.hpp"
#include "actors/protocol/step_records.hpp"
#include "core/base/clock.hpp"
#include "core/trace/step_stats.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

namespace program {
struct StepState;
struct PendingKernel;
} // namespace program

/// Says that an asynchronous or handed-over kernel has finished, or a batch of small kernels (then
/// `kernel` is null). The thread that finished it passes it to the step's owner, unread. It keeps
/// the step's memory alive, so it may arrive after the step has ended.
struct Completion {
  mutable std::shared_ptr<program::StepState> state;
  program::PendingKernel* kernel = nullptr;
};

struct StepHooks {
  /// Hands a completion to the owner, which calls StepRun::complete. Called from any thread, also
  /// from within StepRun's functions; it gets the pointer in `keep_alive`. Must not call the
  /// StepRun itself.
  void (*completed)(void* keep_alive, Completion) = nullptr;
  /// Owns whatever the StepEnvironment points to. Kept until no kernel of the step is running any
  /// more, even if the StepRun is destroyed before.
  std::shared_ptr<void> keep_alive;
  /// Record when each kernel began and ended.
  bool trace = false;
  /// Asked before an expensive kernel: whether the owner wants its thread back first, for work that
  /// should not wait so long. If so, `run` yields. May be null.
  bool (*wants_turn)(const void* keep_alive) = nullptr;
  /// When memory runs out, the error tells which nodes' values the step holds.
  bool report_allocations = false;
};

struct StepCounters {
  std::uint64_t nodes = 0;      ///< that became ready
  std::uint64_t dead = 0;       ///< ready nodes that were skipped because an input was dead
  std::uint64_t submitted = 0;  ///< kernels handed to compute threads
  std::uint64_t async = 0;      ///< asynchronous kernels started …
  std::uint64_t async_done = 0; ///< … and of them finished before their start returned
  std::uint64_t iterations = 0; ///< loop iterations begun
  std::uint64_t derived = 0;    ///< errors that came after the first
};

/// Keeps the memory of an ended step for the next step of the same executable, which then needs
/// neither the executable's lock nor its shared list. One step at a time. Ends before its
/// executable.
class StepMemory {
private:
  friend class StepRun;
  std::shared_ptr<program::StepState> state_;
};

/// It has one owner at a time and is not safe for two threads at once. Other threads only make
/// `Completion`s.
///
///   created ──run──▶ running ──nothing ready──▶ waiting ──complete──▶ running …
///      running, waiting ──error or cancel──▶ draining (waits for kernels only) ──▶ finished
///
/// The first error is the status: it ends scheduling and cancels the step's Cancellation. Later
/// errors are counted as derived.
class StepRun {
public:
  /// `args` by _Arg index; those that the executable does not ask for are ignored. `environment`
  /// must outlive the run and its kernels (see StepHooks::keep_alive); `memory`, if not null, the
  /// run.
  StepRun(std::shared_ptr<const Executable> executable, const StepEnvironment& environment,
          StepHooks hooks, std::vector<Tensor> args, StepMemory* memory = nullptr);
  /// The step goes on in the new object, detached from any StepMemory. The old object may only be
  /// destroyed.
  StepRun(StepRun&& other) noexcept : state_(std::move(other.state_)) {}
  /// Cancels kernels that are still running; they end on their own.
  ~StepRun();
  StepRun(const StepRun&) = delete;
  StepRun& operator=(const StepRun&) = delete;

  enum class Progress : std::uint8_t {
    finished, ///< status and retvals are final, no kernel is running
    waiting,  ///< for a completion
    yielded,  ///< something is ready, but the slice is used up or the owner wants its turn
  };
  /// Runs ready nodes on this thread. If the thread must not compute for long (`may_compute` is
  /// false), it yields as soon as only expensive kernels are ready: another thread should go on.
  Progress run(Duration slice = Duration::max(), bool may_compute = true);
  /// Takes a finished kernel's outputs; `run` then goes on. Completions of other steps are ignored.
  void complete(const Completion& completion);
  /// Ends the step with `why` unless it has ended or failed already. `run` says when it is over.
  void cancel(Status why);

  bool finished() const;
  /// The first error, with the node, op, device and step where it began.
  const Status& status() const;
  /// One for each of Executable::retval_indices, in that order; to be moved from. Complete when
  /// finished with an ok status.
  std::vector<Tensor>& retvals();
  const StepCounters& counters() const;
  /// For a traced run: how the value under a rendezvous key came from another node.
  void note_transfer(std::string_view key, std::string text);
  /// The spans of a traced run; leaves the record empty.
  DeviceStats take_stats();
  /// Of a traced run that has finished: its kernels on the device's stream, as "DEVICE/stream:all";
  /// without nodes on a device whose kernels are done when they return.
  DeviceStats take_stream_stats();

  /// Kernels that were started and have not been completed.
  std::size_t num_running() const;
  std::size_t num_queued() const;
  /// Nodes that run, nodes that are queued, and for each unfinished end of the graph (a send, a
  /// fetch) the way back to the node that holds it up. At most `limit` nodes, and a bounded scan.
  DeviceRecord record(std::size_t limit = 400) const;

private:
  std::shared_ptr<program::StepState> state_;
  StepMemory* memory_ = nullptr;
};

} // namespace troupe
