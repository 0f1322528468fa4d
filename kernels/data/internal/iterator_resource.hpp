// IteratorResource: the iterator behind a handle; Iteration: one way through a dataset, shared by
// the kernels that ask it for elements.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "devices/resource/resource_manager.hpp"
#include "kernels/data/internal/pipeline.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::data {

/// Ends with its last holder; whoever awaits a call holds it.
class Iteration {
public:
  /// From the beginning. What the dataset's iterators return.
  static Result<std::shared_ptr<Iteration>> begin(DatasetRef dataset,
                                                  std::shared_ptr<Pipeline> pipeline);
  ~Iteration() { pipeline_->end(); }
  Iteration(const Iteration&) = delete;

  const DatasetRef& dataset() const { return dataset_; }
  const std::shared_ptr<Pipeline>& pipeline() const { return pipeline_; }
  /// Callers have their turns one after the other.
  Async<Next> next(Cancellation& cancellation);
  Async<Status> save(StateEntries& to, Cancellation& cancellation);
  Async<Status> restore(const StateEntries& from, Cancellation& cancellation);

  /// Runs `start`, which asks for an element: here if the last ones took no more than a small
  /// kernel does, else on another thread.
  static void run(std::shared_ptr<Iteration> iteration, std::function<void()> start);

private:
  Iteration(DatasetRef dataset, std::shared_ptr<Pipeline> pipeline, IteratorRef iterator)
      : pipeline_(std::move(pipeline)), dataset_(std::move(dataset)),
        iterator_(std::move(iterator)) {}

  const std::shared_ptr<Pipeline> pipeline_;
  const DatasetRef dataset_;
  const IteratorRef iterator_;
  Turnstile turn_;
  std::atomic<std::int64_t> cost_us_{1'000'000}; // of the caller's thread, about
};

class IteratorResource final : public Resource {
public:
  IteratorResource(std::vector<DType> types, std::vector<PartialShape> shapes)
      : types_(std::move(types)), shapes_(std::move(shapes)) {}
  const std::vector<DType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }

  /// INVALID_ARGUMENT for a dataset of other elements.
  Status set(std::shared_ptr<Iteration> iteration);
  /// Null before the first one is set.
  std::shared_ptr<Iteration> current() const;
  std::string description() const override;

  Turnstile making; ///< of who makes the first iteration while others want it

private:
  const std::vector<DType> types_;
  const std::vector<PartialShape> shapes_;
  mutable std::mutex lock_;
  std::shared_ptr<Iteration> current_;
};

/// Types and shapes that an op's attributes give its iterator.
struct IteratorSpec {
  NodeResource resource;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};
/// A PrepareFn: types and shapes alone.
Result<std::shared_ptr<const void>> prepare_elements(PrepareContext& c);
/// A PrepareFn: private to the node unless it has a shared_name.
Result<std::shared_ptr<const void>> prepare_iterator(PrepareContext& c);
/// The node's iterator, whose handle becomes output 0. INVALID_ARGUMENT if one of that name has
/// other elements.
Result<std::shared_ptr<IteratorResource>> node_iterator(KernelContext& c);
/// While it lives, who asks why the kernel's step does not go on hears what the pipeline does.
class PipelineNote {
public:
  PipelineNote(const KernelContext& c, std::shared_ptr<Pipeline> pipeline);
  ~PipelineNote();
  PipelineNote(const PipelineNote&) = delete;

private:
  const KernelContext& c_;
};
/// A new dataset's iteration for the kernel.
Result<std::shared_ptr<Iteration>> begin_iteration(const KernelContext& c, DatasetRef dataset);

/// For a kernel that goes through all of a dataset, input `dataset`: `begin(c, iteration)` gives
/// the coroutine, whose status is the kernel's. Compiling functions takes some time, so the
/// iteration begins where the elements are computed.
template <class Begin>
void with_iteration(KernelContext& c, KernelDone done, Begin begin, int dataset = 0) {
  auto pipeline = Pipeline::make(c);
  if (!pipeline.ok())
    return done(pipeline.status());
  (*pipeline)->submit([&c, done = std::move(done), pipeline = *pipeline, begin, dataset] {
    const auto run = [&]() -> Result<Async<Status>> {
      TROUPE_ASSIGN(DatasetRef input, input_dataset(c, dataset));
      TROUPE_ASSIGN(auto iteration, Iteration::begin(std::move(input), pipeline));
      return begin(c, std::move(iteration));
    };
    auto running = run();
    if (!running.ok())
      return done(running.status());
    when_done<Status>(*std::move(running), done);
  });
}

} // namespace troupe::data
