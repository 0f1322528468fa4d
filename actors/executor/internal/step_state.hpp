// StepState: all the memory of one running step. Taken from its Executable's cache and given back
// clean, so that a step in its steady state allocates nothing here.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "actors/executor/internal/crew.hpp"
#include "actors/executor/internal/program.hpp"
#include "actors/executor/internal/ring.hpp"
#include "actors/executor/step_run.hpp"
#include "core/base/coarse_clock.hpp"
#include "core/base/strings.hpp"

namespace troupe::program {

struct FrameInstance;

/// The state of the nodes of one frame in one iteration; what comes next to it in memory are its
/// counts and its input slots. All slots but pre-filled ones are empty before and after its life.
struct Iteration {
  Counts* counts = nullptr;
  Entry* slots = nullptr;
  std::int32_t first_node = 0, first_slot = 0;
  std::int32_t outstanding = 0;  ///< nodes ready or running
  std::int32_t done = 0;         ///< nodes that have run, or were dead
  std::int32_t num_children = 0; ///< frames that live in it
  std::int64_t number = 0;
  FrameInstance* frame = nullptr;
  FrameInstance* children = nullptr;
  Iteration* next_free = nullptr;

  Counts& count(std::int32_t node) { return counts[node - first_node]; }
  Entry* slot(std::int32_t index) { return slots + (index - first_slot); }
};

/// A value that more than one iteration gets, or that waits for its iteration.
struct HeldValue {
  std::int32_t node = -1; ///< whose output 0 it is
  Entry value;
};

/// One loop at work: a frame of some iteration of its parent. Its live iterations are numbered
/// without gaps, oldest to newest.
struct FrameInstance {
  std::int32_t layout = 0;
  Iteration* parent = nullptr;
  FrameInstance* next_sibling = nullptr;
  std::uint64_t id = 0;
  std::int64_t oldest = 0, newest = 0;
  std::int32_t missing_enters = 0;
  std::vector<Iteration*> iterations; ///< by number, modulo a power of two
  std::vector<HeldValue> invariants;
  std::vector<HeldValue> deferred;      ///< values of NextIterations that wait for room
  std::vector<std::int32_t> dead_exits; ///< of the newest iteration
  std::vector<bool> given_exits; ///< by number: a value has left the loop; a second one is an error
  FrameInstance* next_free = nullptr;

  std::int64_t num_iterations() const { return newest - oldest + 1; }
  Iteration*& at(std::int64_t number) {
    return iterations[static_cast<std::size_t>(number) & (iterations.size() - 1)];
  }
};

struct Item {
  std::int32_t node = 0; ///< node id; bitwise complement (~id) for a dead node
  Iteration* iteration = nullptr;
};

/// A node that is ready, and what its kernel takes, in ticks.
struct SmallItem {
  std::int32_t node = 0;
  std::uint32_t cost = 0;
};

/// A kernel that did not finish at once. Its phase is the one word that its thread and the owner
/// may write at the same time. The second to write it (exchange, acquire and release) sees all that
/// the first one wrote, and completes the kernel.
struct PendingKernel {
  enum Phase : int { starting, waiting, done };
  std::int32_t node = 0;
  Iteration* iteration = nullptr;
  std::vector<Entry> outputs;
  std::optional<KernelContext> context;
  Status status;
  std::int64_t start_us = 0, end_us = 0; ///< of a traced step
  std::int64_t since_us = 0;             ///< coarse_micros() when it started
  std::uint32_t thread = 0;              ///< that finished it
  std::uint64_t ticket = 0; ///< of the compute pool, while a helper may not have begun it; owner
  std::atomic<int> phase{starting};
  std::shared_ptr<StepState> self; ///< while a kernel may still call finish
  PendingKernel* previous = nullptr;
  PendingKernel* next = nullptr;

  /// By the kernel's thread, once.
  void finish(Status result);
  /// Writes down how it ended.
  void note_end(Status result);
};

/// A kernel that runs, for other threads to see.
struct KernelAtWork {
  std::atomic<std::int32_t> node{-1}; ///< -1: none
  std::atomic<std::int64_t> since_us{0};
  void begin(std::int32_t n) {
    since_us.store(coarse_micros(), std::memory_order_relaxed);
    node.store(n, std::memory_order_release);
  }
  void end() { node.store(-1, std::memory_order_release); }
  /// Unless another has begun since.
  void end(std::int32_t n) {
    node.compare_exchange_strong(n, -1, std::memory_order_release, std::memory_order_relaxed);
  }
};

/// A fetched variable, and the retval that fetches it.
struct LateValue {
  std::int32_t node = -1;
  std::shared_ptr<Variable> variable;
};

/// What may run next, by how it is run.
struct ReadyNodes {
  Ring<std::int32_t> flat;
  Ring<Item> framed; ///< instead, where there are loops
  Ring<Item> expensive;
  Ring<SmallItem> small; ///< kernels that may go to other threads by the batch
  std::uint64_t small_cost = 0;

  std::size_t size() const { return flat.size() + framed.size() + small.size() + expensive.size(); }
  void clear();
};

/// The memory of a step's iterations and loops, kept from one step to the next.
class FrameMemory {
public:
  explicit FrameMemory(const Program& program);
  ~FrameMemory();
  FrameMemory(const FrameMemory&) = delete;

  Iteration* root = nullptr;
  FrameInstance root_frame;
  std::size_t root_nodes = 0; ///< that ran outside of loops

  Iteration* take_iteration(std::int32_t layout);
  /// `is_clean`: whoever has run there has emptied its inputs.
  void free_iteration(Iteration* iteration, bool is_clean);
  FrameInstance* take_frame();
  void free_frame(FrameInstance* frame);
  /// Ends all loops, and empties the root unless it is clean.
  void reset(bool is_clean);

private:
  void drop_frames(Iteration& iteration);
  void empty_slots(Iteration& iteration);

  const Program& program_;
  std::size_t num_frames_ = 0;              ///< without the root
  std::vector<Iteration*> free_iterations_; ///< by frame layout
  FrameInstance* free_frames_ = nullptr;
};

/// Kernels of a step that did not finish at once.
class PendingKernels {
public:
  PendingKernels() = default;
  ~PendingKernels();
  PendingKernels(const PendingKernels&) = delete;

  std::size_t num_running = 0;           ///< those in the list, and batches that are out
  std::vector<PendingKernel*> submitted; ///< those that compute threads run, few

  PendingKernel* first() const { return first_; }
  PendingKernel* take();
  void free(PendingKernel* kernel);
  void link(PendingKernel* kernel);
  void unlink(PendingKernel* kernel);

private:
  PendingKernel* first_ = nullptr;
  PendingKernel* free_ = nullptr;
};

/// Of a traced step.
struct StepTrace {
  std::vector<TraceRecord> spans;
  std::int64_t begun_us = 0;
  std::unique_ptr<StreamTrace>
      of_stream; ///< null on a device whose kernels are done when they return
  /// How values came from other nodes, by edge, in the order they came.
  std::map<std::string, std::deque<std::string>, std::less<>> transfers;
};

/// The end of a step on a device that computes later than its kernels return: the device's stream
/// has to come to an end, or its error is the step's.
struct DeviceWait {
  enum class Phase : std::uint8_t { not_begun, waiting, over };
  Phase phase = Phase::not_begun;    ///< of the owner
  std::atomic<bool> is_over = false; ///< (release) once the status is written
  Status status;
};

/// What a step computes at this moment, for threads that ask while its owner does not answer.
struct WorkInSight {
  /// The expensive kernel that the owner's thread is in. The step is written before its node
  /// (release).
  std::atomic<std::uint64_t> step{0};
  KernelAtWork of_owner;
  KernelAtWork handed_out; ///< the one that a compute thread has begun last
};

/// Which kernels of a step are timed: in one step of sixteen those too that are known to be cheap.
struct Sampling {
  std::uint32_t steps = 0; ///< that this memory has served
  bool all = false;
  void begin() { all = steps++ % 16 == 1; }
};

struct StepState : std::enable_shared_from_this<StepState> {
  explicit StepState(const Program& program);
  ~StepState();
  StepState(const StepState&) = delete;

  /// The step's executable. First member: it may own the program, which `frames` uses in its
  /// destructor.
  std::shared_ptr<const Executable> executable;

  // For the life of the state.
  const Program& program;
  FrameMemory frames;
  std::vector<Entry> scratch; ///< outputs of the kernel that runs
  ReadyNodes ready;
  Crew* crew = nullptr; ///< once a batch was worth it
  PendingKernels kernels;
  const bool may_spread; ///< there are compute threads besides the owner's
  Sampling sampling;

  // Of the step.
  const StepEnvironment* environment = nullptr;
  StepHooks hooks;
  bool owner_wants_turn() const {
    return hooks.wants_turn && hooks.wants_turn(hooks.keep_alive.get());
  }
  /// Threads that are in `hooks.completed`. A thread that reads 0 (acquire) sees all that they did
  /// there (release), and may destroy it.
  std::atomic<int> in_hook{0};
  std::vector<Tensor> args, retvals;
  std::vector<LateValue> late_values; ///< read when nothing is left to run
  Status status;
  StepCounters counters;
  bool started = false, failed = false, finished = false;
  StepTrace trace;
  WorkInSight at_work;
  DeviceWait device_wait;

  /// Makes everything as before the first step.
  void reset(bool clean_slots);
  /// Which nodes' values it holds, for the error of a step that ran out of memory.
  std::string held_values() const;
  /// The first error is the step's; the step then ends. `node` -1: of none in particular.
  void fail(std::int32_t node, const Status& error);
  /// Once nothing is left to run.
  void read_late_values();
  /// Called when nothing is left to run. False while the device still computes; its end is then
  /// reported to the owner.
  bool device_is_done();
};

/// From the thread that has finished something: hands the news to the owner of the step.
void tell_owner(std::shared_ptr<StepState> state, PendingKernel* kernel);

/// Of the op that gives the reference.
inline Status uninitialized_value(std::string_view op) {
  return failed_precondition(str_cat("Attempting to use uninitialized value ", op));
}

/// Empties a slot: any value in it is dropped.
inline void empty(Entry& entry) {
  std::destroy_at(&entry);
  ::new (static_cast<void*>(&entry)) Entry; // construct_at would write all its bytes
}

/// Fills an empty slot without checking that it is empty. Within an iteration each node runs once
/// and each slot has one edge. Only an Exit could fill a slot of another iteration twice; run_exit
/// prevents that.
inline void fill(Entry& slot, Entry&& value) {
  std::construct_at(&slot, std::move(value));
}
inline void fill(Entry& slot, const Entry& value) {
  std::construct_at(&slot, value);
}

} // namespace troupe::program
