#include "kernels/data/internal/iterator_resource.hpp"

#include "core/base/clock.hpp"
#include "kernels/framework/wait_note.hpp"

namespace troupe::data {

Result<std::shared_ptr<Iteration>> Iteration::begin(DatasetRef dataset,
                                                    std::shared_ptr<Pipeline> pipeline) {
  pipeline->set_options(dataset->options());
  auto iterator = dataset->iterate(pipeline);
  if (!iterator.ok()) {
    pipeline->end();
    return iterator.status();
  }
  return std::shared_ptr<Iteration>(
      new Iteration(std::move(dataset), std::move(pipeline), *std::move(iterator)));
}

Async<Next> Iteration::next(Cancellation& cancellation) {
  ElementPull pull(pipeline_, cancellation);
  TROUPE_CO_TRY(co_await turn_.enter(pull));
  Next out = co_await iterator_->next(pull);
  turn_.leave(*pipeline_);
  // The end of the sequence is no error of its own, and a caller would take this for it.
  if (!out.ok() && out.status().code() == Code::out_of_range)
    co_return internal(
        str_cat("Iterator \"Iterator::Root\" returned `OutOfRange`. This indicates an "
                "implementation error as `OutOfRange` errors are not expected to be "
                "returned here. Original message: ",
                out.status().message()));
  co_return out;
}

Async<Status> Iteration::save(StateEntries& to, Cancellation& cancellation) {
  ElementPull pull(pipeline_, cancellation);
  TROUPE_CO_TRY(co_await turn_.enter(pull));
  Status status = co_await iterator_->save(pull, StateWriter(to));
  turn_.leave(*pipeline_);
  co_return status;
}

Async<Status> Iteration::restore(const StateEntries& from, Cancellation& cancellation) {
  ElementPull pull(pipeline_, cancellation);
  TROUPE_CO_TRY(co_await turn_.enter(pull));
  Status status = co_await iterator_->restore(pull, StateReader(from));
  turn_.leave(*pipeline_);
  co_return status;
}

void Iteration::run(std::shared_ptr<Iteration> iteration, std::function<void()> start) {
  static constexpr std::int64_t quick_us = 50; // about what waking a thread takes
  Iteration& self = *iteration;
  auto measured = [iteration = std::move(iteration), start = std::move(start)] {
    const std::int64_t begin = steady_micros();
    start();
    const std::int64_t took = steady_micros() - begin;
    const std::int64_t before = iteration->cost_us_.load(std::memory_order_relaxed);
    iteration->cost_us_.store(before > 1000 ? took : (3 * before + took) / 4,
                              std::memory_order_relaxed);
  };
  if (self.cost_us_.load(std::memory_order_relaxed) < quick_us)
    return measured();
  const auto pipeline = self.pipeline_;
  pipeline->submit(std::move(measured));
}

Status IteratorResource::set(std::shared_ptr<Iteration> iteration) {
  TROUPE_TRY(check_types(types_, iteration->dataset()->types()));
  TROUPE_TRY(check_shapes(shapes_, iteration->dataset()->shapes()));
  std::scoped_lock guard(lock_);
  std::swap(current_, iteration); // the old one ends after the lock
  return {};
}

std::shared_ptr<Iteration> IteratorResource::current() const {
  std::scoped_lock guard(lock_);
  return current_;
}

std::string IteratorResource::description() const {
  std::string out = "iterator";
  for (std::size_t i = 0; i < types_.size() && i < 8; ++i)
    str_append(out, i ? ", " : " ", literal_name(types_[i]), text_of(shapes_[i]));
  return out + (current() ? "" : " (not initialized)");
}

namespace {
Result<IteratorSpec> elements_of(PrepareContext& c) {
  IteratorSpec spec;
  TROUPE_ASSIGN(spec.types, c.attr<std::vector<DType>>("output_types"));
  TROUPE_ASSIGN(spec.shapes, c.attr<std::vector<PartialShape>>("output_shapes"));
  if (spec.types.size() != spec.shapes.size())
    return invalid_argument(str_cat("`output_types` has ", spec.types.size(),
                                    " components and `output_shapes` ", spec.shapes.size()));
  return spec;
}
} // namespace

Result<std::shared_ptr<const void>> prepare_elements(PrepareContext& c) {
  TROUPE_ASSIGN(IteratorSpec spec, elements_of(c));
  return prepared(std::move(spec));
}

Result<std::shared_ptr<const void>> prepare_iterator(PrepareContext& c) {
  TROUPE_ASSIGN(IteratorSpec spec, elements_of(c));
  TROUPE_ASSIGN(spec.resource, private_resource(c));
  return prepared(std::move(spec));
}

Result<std::shared_ptr<IteratorResource>> node_iterator(KernelContext& c) {
  const auto& spec = c.prepared<IteratorSpec>();
  TROUPE_ASSIGN(
      auto found,
      node_resource<IteratorResource>(
          c, spec.resource, [&](const std::string&) -> Result<std::shared_ptr<IteratorResource>> {
            return std::make_shared<IteratorResource>(spec.types, spec.shapes);
          }));
  TROUPE_TRY(check_types(spec.types, found->types()));
  TROUPE_TRY(check_shapes(spec.shapes, found->shapes()));
  return found;
}

namespace {
WaitPlace place_of(const KernelContext& c) {
  return {.node = c.node_name(), .frame = c.frame_id, .iteration = c.iteration};
}
} // namespace

PipelineNote::PipelineNote(const KernelContext& c, std::shared_ptr<Pipeline> pipeline) : c_(c) {
  if (c.step().step_resources)
    note_wait(*c.step().step_resources, place_of(c), [pipeline = std::move(pipeline)] {
      const std::string activity = pipeline->activity();
      return str_cat("the next element of a dataset", activity.empty() ? "" : ": ", activity);
    });
}

PipelineNote::~PipelineNote() {
  if (c_.step().step_resources)
    forget_wait(*c_.step().step_resources, place_of(c_));
}

Result<std::shared_ptr<Iteration>> begin_iteration(const KernelContext& c, DatasetRef dataset) {
  TROUPE_ASSIGN(auto pipeline, Pipeline::make(c));
  return Iteration::begin(std::move(dataset), std::move(pipeline));
}

} // namespace troupe::data
