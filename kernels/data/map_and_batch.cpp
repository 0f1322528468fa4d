// MapAndBatchDataset: a function of each element, of several at once, and the results in batches.
#include "kernels/data/internal/batch.hpp"
#include "kernels/data/internal/parallel_calls.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_map_and_batch {

using namespace data;
using data::unknown;

namespace {

class MapAndBatchDataset final : public UnaryDataset {
public:
  MapAndBatchDataset(const KernelContext& c, DatasetRef input, CapturedFunction function,
                     std::int64_t size, std::int64_t calls, bool drop_remainder)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)), size_(size),
        calls_(calls), drop_remainder_(drop_remainder),
        keeps_cardinality_(c.attrs().get_or("preserve_cardinality", false)) {}
  std::int64_t cardinality() const override {
    return keeps_cardinality_ ? batches_of(input().cardinality(), size_, drop_remainder_) : unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    TROUPE_ASSIGN(IteratorRef iterator, input().iterate(pipeline));
    IteratorRef mapped = iterate_with_calls(
        shared_from_this(), std::move(iterator), std::move(function), pipeline,
        {.calls = calls_, .in_order = true, .keeps_cardinality = keeps_cardinality_});
    return IteratorRef(std::make_unique<Batches>(self<MapAndBatchDataset>(), std::move(mapped)));
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  class Batches final : public IteratorOver<MapAndBatchDataset> {
  public:
    using IteratorOver::IteratorOver;
    // A batch with an element that fails is not given, and the next one begins behind it.
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      Allocator& memory = pull.pipeline().memory();
      Elements elements(memory);
      Status failed;
      for (std::int64_t i = 0; i < dataset().size_ && !has_ended_; ++i) {
        TROUPE_CO_TRY(co_await pull.breathe());
        Next element = co_await input()->next(pull);
        if (element.ok() && !*element)
          has_ended_ = true;
        else if (element.ok() && failed.ok())
          failed = elements.push(**std::move(element));
        else if (pull.cancellation().is_cancelled())
          co_return element.status();
        else if (failed.ok())
          failed = element.status();
      }
      TROUPE_CO_TRY(failed);
      const auto count = static_cast<std::int64_t>(elements.size());
      if (count == 0 || (dataset().drop_remainder_ && count < dataset().size_))
        co_return end_of_sequence();
      TROUPE_CO_ASSIGN(Element batch, make_batch(elements, memory));
      co_return one_more(std::move(batch));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("has_ended", has_ended_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(has_ended_, from.integer("has_ended"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    bool has_ended_ = false;
  };

  const CapturedFunction function_;
  const std::int64_t size_, calls_;
  const bool drop_remainder_, keeps_cardinality_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  const int last = c.num_inputs() - 1;
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, last - 2));
  if (size <= 0)
    return invalid_argument("batch_size must be greater than zero.");
  TROUPE_ASSIGN(const auto wanted, scalar_input<std::int64_t>(c, last - 1));
  TROUPE_ASSIGN(const std::int64_t calls, parallel_calls(c, wanted));
  TROUPE_ASSIGN(const bool drop_remainder, scalar_input<bool>(c, last));
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<MapAndBatchDataset>(c, std::move(input), std::move(function), size, calls,
                                         drop_remainder);
}

Status infer_shapes(ShapeContext& c) {
  for (int i = c.num_inputs() - 3; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return shape_scalar(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MapAndBatchDataset")
      .input("input_dataset: variant; other_arguments: Targuments; batch_size: int64")
      .input("num_parallel_calls: int64; drop_remainder: bool")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("preserve_cardinality: bool = false; metadata: string = ''")
      .roles(Role::runs_functions)
      .shape_fn(infer_shapes)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("`f` of each element, for up to `num_parallel_calls` at once, in batches.");
}

} // namespace troupe::data_map_and_batch
