// Crew: compute threads that run small kernels of one step, in batches, while its owner goes on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "core/trace/step_stats.hpp"

namespace troupe {
class ComputePool;
}

namespace troupe::program {

struct StepState;

/// A kernel that has run in a traced step.
struct TraceRecord {
  std::int32_t node = 0;
  std::uint32_t thread = 0;
  std::int64_t start_us = 0, end_us = 0;
  std::vector<OutputStats> outputs = {};
};
/// Of output `slot`.
OutputStats describe(std::int32_t slot, const Tensor& value);

/// Ready nodes that are together worth a hand-over. The thread that takes the batch runs them,
/// empties their inputs and puts their outputs where they are read. The owner does the rest: it
/// counts down the nodes that read them.
struct Batch {
  static constexpr std::int32_t most = 16;
  StepState* state = nullptr;
  std::int32_t count = 0;
  std::int32_t num_run = 0; ///< kernels that ran; if fewer than `count`, nodes[num_run] has failed
  std::array<std::int32_t, most> nodes{};
  std::array<TraceRecord, most> spans{}; ///< of a traced step
  Status status;
  Batch* next = nullptr;
};

/// Batches go out through a ring that the owner alone fills; owner and helpers take from it. They
/// come back through a stack, whose head also says whether the owner looks at it:
///
///   awake ──sleep──▶ asleep ──a batch comes back: its helper tells the owner; or take_done──▶ awake
///   awake, asleep ──leave──▶ gone: batches are of no use any more
///
/// A helper is a piece of work of the compute pool. It leaves when it has found no batch for a
/// while, and after a number of batches in any case, so that other work of the pool has its turn.
///
/// Memory order: a batch goes out through its place in the ring and comes back through the head of
/// the stack, both with release and acquire. So its helper sees all that the owner did before, and
/// the owner sees all that the helper did.
class Crew {
public:
  explicit Crew(ComputePool& pool);
  Crew(const Crew&) = delete;
  /// References: one of its maker, one of each helper. The last one deletes it.
  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref();

  // For the owner.
  bool has_helpers() const { return helpers_.load(std::memory_order_relaxed) > 0; }
  /// For as many batches as are worth having out: two for each helper.
  bool has_room() const { return num_out_ < batches_.size(); }
  std::size_t num_out() const { return num_out_; } ///< not yet returned by take_done or take_back
  std::size_t most_helpers() const { return most_helpers_; }
  /// One to be filled. Requires has_room().
  Batch& blank() { return *free_.back(); }
  /// Hands out what blank() gave, and brings one more helper if there are fewer than batches, and
  /// fewer than `helpers`.
  void publish(std::size_t helpers);
  /// A batch that no helper has taken, or null.
  Batch* take_back();
  bool is_some_done() const { return done_.load(std::memory_order_relaxed) != nullptr; }
  /// A list of batches that are done, or null.
  Batch* take_done();
  /// Waits a little for a batch that is done; false if none came.
  bool wait_a_little();
  /// From now on the first batch that is done wakes the owner. False, and nothing changed, if one
  /// is done already.
  bool sleep();
  /// To be filled again.
  void recycle(Batch& batch);
  /// Helpers that have nothing to do leave.
  void dismiss() { is_wanted_.store(false, std::memory_order_relaxed); }
  /// Batches that are out are of no use any more; `state` is kept until they have ended. Takes the
  /// owner's reference.
  void leave(std::shared_ptr<StepState> state);

  /// Nodes of batches that are out, for the owner.
  template <class F>
  void for_each_out(F visit) const {
    for (const auto& batch : batches_)
      if (batch->state)
        for (std::int32_t i = 0; i < batch->count; ++i)
          visit(batch->nodes[static_cast<std::size_t>(i)]);
  }

private:
  static constexpr std::size_t ring_size = 64;
  ~Crew();
  Batch* take();
  void help();
  void give_back(Batch& batch);
  static Batch* asleep();
  static Batch* gone();

  ComputePool& pool_;
  const std::size_t most_helpers_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<Batch*> free_; // of the owner
  std::size_t num_out_ = 0;
  std::shared_ptr<StepState> left_; // the state of a step whose owner has left

  alignas(64) std::atomic<std::uint64_t> begin_{0}, end_{0}; // of what is in the ring
  std::array<std::atomic<Batch*>, ring_size> ring_{};
  alignas(64) std::atomic<Batch*> done_{nullptr};
  alignas(64) std::atomic<std::size_t> helpers_{0};
  std::atomic<bool> is_wanted_{true};
  std::atomic<int> refs_{1};
};

} // namespace troupe::program
