// DirectSteps: steps of a session in this process that run on their callers' threads. Plain: knows
// no
// actors. A call's way: DirectCalls (of a gRPC client; Session::run has none) → DirectSteps →
// DirectRun, over the DirectGraph of the signature.
//
// The first step of a signature goes through the actors, which build its graph; its answer brings
// the DirectGraph. Later ones are begun by the caller. A step that has ended well within one slice
// is over; any other (it waits for kernels on other threads, takes long, or has failed) is handed
// to the actors as it stands, and goes on there like one that they began.
//
// Threads share nothing that is written: each has a lane of its own, found by the thread's number,
// with what it has run lately and the memory of those steps. A lane is held for the length of a
// step. What is learnt for all stands in a book with a lock, where a thread looks for what its lane
// does not know.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/executor/direct_run.hpp"
#include "actors/master_session/signature_cache.hpp"

namespace troupe {

/// A client graph that one thread runs alone: one executable on a device of this process.
struct DirectGraph {
  std::shared_ptr<NodeStates> node_states; ///< keep the device
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const BoundSignature> bound;
  std::vector<std::size_t> args;    ///< by _Arg index: which of the caller's feeds
  std::vector<std::size_t> fetched; ///< by the caller's fetch: which of the executable's values
  bool each_once = false;           ///< no value is fetched twice
  std::uint64_t life = 0;           ///< of the DirectSteps that it was made for
};

/// Null where a step needs more than one thread of this process: several parts, cut edges.
std::shared_ptr<const DirectGraph> make_direct_graph(std::shared_ptr<const BoundSignature> bound,
                                                     std::uint64_t life);

/// A step that its caller has begun, for the actors to go on with.
struct BegunStep {
  std::shared_ptr<const BoundSignature> bound;
  std::uint64_t step_id = 0;
  std::int64_t started_us = 0; ///< steady_micros()
  std::shared_ptr<BegunPart> part;
};

/// A step as its caller names it: names of feeds, fetches and targets, or the handle of a callable.
struct DirectRequest {
  std::span<const std::pair<std::string, Tensor>> named_feeds;
  std::span<const std::string> fetches, targets;
  std::uint64_t callable = 0;
  std::span<Tensor> feeds;     ///< of a callable, in its order; moved from when the step is begun
  std::int64_t timeout_us = 0; ///< 0: without a deadline
  /// The caller's thread has other work: a signature that has held it for a slice is the actors'
  /// for a while, for longer each time.
  bool only_short = false;
  /// Expensive kernels are the actors' too, however long the slice has yet.
  bool may_compute = true;
  std::size_t num_feeds() const { return callable ? feeds.size() : named_feeds.size(); }
};

/// What requests of one kind have in common.
struct StepSignature {
  std::vector<std::string> feeds, fetches, targets;
  std::uint64_t callable = 0;
  static StepSignature of(const DirectRequest& request);
  bool is_of(const DirectRequest& request) const;
  friend bool operator==(const StepSignature&, const StepSignature&) = default;
};

/// What became of it.
struct DirectOutcome {
  std::optional<std::vector<Tensor>> values; ///< it has ended well
  std::shared_ptr<BegunStep> begun;          ///< the actors must go on with it
  /// Neither: it was not begun. `is_new`: since this thread does not know the signature.
  bool is_new = false;
};

/// A step that runs, or has ended well, on its caller's thread.
struct DirectStepInfo {
  std::uint64_t step_id = 0;
  const StepPlan* plan = nullptr;
  std::int64_t start_us = 0;    ///< steady_micros()
  std::int64_t duration_us = 0; ///< of one that has ended
  bool is_running = false;
};

/// Safe for any thread. Plans in its results belong to the master session's signatures.
class DirectSteps {
public:
  explicit DirectSteps(Services services);
  ~DirectSteps();
  DirectSteps(const DirectSteps&) = delete;
  DirectSteps& operator=(const DirectSteps&) = delete;

  DirectOutcome run(const DirectRequest& request);
  /// The calling thread runs such steps from now on.
  void learn(const DirectRequest& request, std::shared_ptr<const DirectGraph> graph);
  /// The same for all threads: of an answer that comes to another thread than the one that asked.
  void learn_for_all(StepSignature signature, std::shared_ptr<const DirectGraph> graph);

  /// No step is begun any more, and what lanes have kept goes, of those that are held with their
  /// step.
  void close();
  /// Begins anew for another master session of the same session; graphs that were learnt are
  /// dropped. A lane whose thread is still in a step of the old one is not listed until that step
  /// ends.
  void reopen();
  /// A number for each master session: graphs of an earlier one are not learnt.
  std::uint64_t life() const { return life_.load(); }
  /// In no order; of those that have ended the latest of each lane.
  std::vector<DirectStepInfo> list() const;
  std::int64_t num_finished() const;

private:
  static constexpr std::size_t num_lanes = 64;
  static constexpr std::size_t lanes_to_try = 4;
  struct Known;
  struct Lane;
  struct Place;
  class Held;

  DirectOutcome run(Lane& lane, const DirectRequest& request);
  Known* known_by_all(Lane& lane, const DirectRequest& request);

  Services services_;
  std::atomic<bool> open_{true};
  std::atomic<std::uint64_t> life_{0};
  std::unique_ptr<Place[]> places_;
  // The book, the latest first. Whoever adds to it has its lock when it looks whether it is open.
  std::mutex book_lock_;
  std::vector<std::pair<StepSignature, std::shared_ptr<const DirectGraph>>> book_;
};

} // namespace troupe
