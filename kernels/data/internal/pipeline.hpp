// Pipeline: what the iterators of one iteration have in common. ElementPull: one asking for an
// element. Everything here waits without a thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "kernels/data/internal/dataset.hpp"
#include "kernels/framework/files.hpp"

namespace troupe::data {

/// A function of a graph with the values that it has captured; they follow its arguments.
struct CapturedFunction {
  /// How an error of a call is told, which TensorFlow's datasets do in three ways: as it is; with
  /// the op that called; as INTERNAL with the text in it.
  enum class Errors { plain, of_op, internal };

  std::string op; ///< of the node that has it, for messages
  Errors errors = Errors::plain;
  std::shared_ptr<Functions> from;
  FunctionRef function;
  Tensors captured;
  /// FAILED_PRECONDITION naming an op of the function that has a state of its own.
  Status check_external_state() const;
};
/// The function in attribute `attr`, with the inputs of list `captured`.
Result<CapturedFunction> captured_function(const KernelContext& c, std::string_view attr,
                                           std::string_view captured = "other_arguments");

/// A captured function within an iteration: its nodes keep their state from one call to the next.
class BoundFunction {
public:
  /// Calls it with arguments, and awaits the results.
  Async<Result<Tensors>> operator()(Tensors args, ElementPull& pull) const;
  /// The same on another thread at once: the caller goes on.
  Async<Result<Tensors>> elsewhere(Tensors args, ElementPull& pull) const;
  /// Its only result, a bool. INVALID_ARGUMENT with the sentence `wrong` if it is none.
  Async<Result<bool>> test(Tensors args, ElementPull& pull, const char* wrong) const;
  const Function& function() const { return *function_; }

private:
  friend class Pipeline;
  Result<Tensors> told(Status status) const;

  std::string op_;
  CapturedFunction::Errors errors_ = CapturedFunction::Errors::plain;
  std::shared_ptr<const Function> function_;
  std::shared_ptr<NodeStates> states_;
  Tensors captured_;
};

/// What a mapped element's call gave, as TensorFlow has it: an OUT_OF_RANGE ends the sequence,
/// unless there has to be an element for each of the input's.
Next after_map(Result<Tensors> mapped, bool keeps_cardinality);

/// Of the datasets that functions make while it goes on, too.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
public:
  /// For an iteration that the kernel begins.
  static Result<std::shared_ptr<Pipeline>> make(const KernelContext& c);
  Pipeline(std::shared_ptr<Functions> functions, Device& device, int depth)
      : functions_(std::move(functions)), device_(device), depth_(depth) {}

  /// For the iterators of a dataset that a function has made meanwhile. RESOURCE_EXHAUSTED beyond
  /// max_nesting datasets within each other, since their iterators call each other.
  Result<std::shared_ptr<Pipeline>> within(const Dataset& dataset);

  Device& device() const { return device_; }
  /// PERMISSION_DENIED where the node allows none.
  Result<std::shared_ptr<AllowedFiles>> files() const;
  Allocator& memory() const { return device_.allocator(); }
  int threads() const { return functions_->threads(); }
  /// Of calls of functions.
  int depth() const { return depth_; }
  const PipelineOptions& options() const { return options_; }
  void set_options(const PipelineOptions& options) { options_ = options; }

  /// Of all that goes on in the background.
  Cancellation& ended() { return root().ended_; }
  /// From now on nothing is done in the background.
  void end() { ended().cancel(cancelled("the iterator has ended")); }
  void submit(std::function<void()> work) const { functions_->submit(std::move(work)); }

  Result<BoundFunction> bind(const CapturedFunction& function);
  /// What is computed or waited for now, for people; empty: nothing for long. Any thread.
  std::string activity() const;

private:
  struct Instance {
    std::shared_ptr<const Function> compiled;
    std::shared_ptr<NodeStates> states;
  };

  static constexpr int max_nesting = 1000;
  Pipeline& root() { return root_ ? *root_ : *this; }
  const Pipeline& root() const { return root_ ? *root_ : *this; }

  std::shared_ptr<Functions> functions_;
  Device& device_;
  const int depth_;
  PipelineOptions options_;
  std::shared_ptr<Pipeline> root_; // null: itself. What follows is the root's
  int nesting_ = 0;
  Cancellation ended_;
  mutable std::mutex lock_;
  std::deque<Instance> instances_;
};

/// One chain of calls at a time uses it, from whichever thread.
class ElementPull {
public:
  /// `cancellation` outlives it.
  ElementPull(std::shared_ptr<Pipeline> pipeline, Cancellation& cancellation)
      : pipeline_(std::move(pipeline)), cancellation_(cancellation) {}
  ElementPull(const ElementPull&) = delete;

  Pipeline& pipeline() const { return *pipeline_; }
  Cancellation& cancellation() const { return cancellation_; }
  /// For loops that may be long: now and then looks at the cancellation, and after some
  /// milliseconds lets other work of the threads go first.
  Async<Status> breathe() {
    if (++breaths_ % breaths_between_looks != 0)
      return Status();
    return look();
  }

private:
  static constexpr std::uint32_t breaths_between_looks = 16;
  Async<Status> look();

  std::shared_ptr<Pipeline> pipeline_;
  Cancellation& cancellation_;
  std::uint32_t breaths_ = 0;
  std::int64_t since_us_ = steady_micros();
};

/// An iterator over the dataset that the function makes of an element. INVALID_ARGUMENT if it makes
/// none.
Async<Result<IteratorRef>> iterator_of_element(const BoundFunction& function, Element element,
                                               std::shared_ptr<Pipeline> pipeline,
                                               ElementPull& pull);

/// A condition variable for coroutines: who waits goes on, on another thread, when it is notified
/// or its pull is cancelled. It has the mutex of what it waits for; whoever destroys it has seen to
/// it that nobody waits.
class Gate {
public:
  /// Called with the lock held; returns with it held, though on another thread. What was waited for
  /// has to be looked at again. Not ok: the pull is cancelled.
  Async<Status> wait(std::unique_lock<std::mutex>& lock, ElementPull& pull);
  /// With the lock held, which it releases.
  void notify(std::unique_lock<std::mutex>& lock, const Pipeline& pipeline);

private:
  struct Waiter {
    std::atomic<bool> is_taken{false};
    std::function<void(Status)> go_on;
    void finish(Status status) {
      if (!is_taken.exchange(true))
        std::exchange(go_on, nullptr)(std::move(status));
    }
  };
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

/// Lets one chain of calls in at a time, in the order of their coming, about.
class Turnstile {
public:
  /// Not ok: the pull is cancelled, and has not got in.
  Async<Status> enter(ElementPull& pull);
  void leave(const Pipeline& pipeline);

private:
  std::mutex lock_;
  Gate free_;
  bool is_taken_ = false;
};

/// The end of what one iterator does in the background: its own, or that of the whole pipeline.
class Background {
public:
  explicit Background(std::shared_ptr<Pipeline> pipeline);
  ~Background() { end(); }
  Background(const Background&) = delete;
  const std::shared_ptr<Pipeline>& pipeline() const { return pipeline_; }
  Cancellation& ended() const { return *ended_; }
  void end();
  /// Begins a coroutine on another thread. It must end soon after `ended` is cancelled, and keeps
  /// what it uses.
  void run(std::function<Async<Status>()> work) const;

private:
  std::shared_ptr<Pipeline> pipeline_;
  std::shared_ptr<Cancellation> ended_ = std::make_shared<Cancellation>();
  Cancellation::Token token_ = 0;
};

} // namespace troupe::data
