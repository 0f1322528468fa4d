// FlatMapDataset: the datasets that a function makes of the elements, one behind the other.
#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_flat_map {

using namespace data;
using data::unknown;

namespace {

class FlatMapDataset final : public UnaryDataset {
public:
  FlatMapDataset(const KernelContext& c, DatasetRef input, CapturedFunction function)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    return iterate_over<Flattened>(this, pipeline, std::move(function), pipeline);
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  class Flattened final : public IteratorOver<FlatMapDataset> {
  public:
    Flattened(std::shared_ptr<const FlatMapDataset> dataset, IteratorRef input,
              BoundFunction function, std::shared_ptr<Pipeline> pipeline)
        : IteratorOver(std::move(dataset), std::move(input)), function_(std::move(function)),
          pipeline_(std::move(pipeline)) {}

    Async<Next> next(ElementPull& pull) override {
      for (;;) {
        if (current_) {
          TROUPE_CO_ASSIGN(std::optional<Element> element, co_await current_->next(pull));
          if (element)
            co_return one_more(*std::move(element));
          current_ = nullptr;
        }
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(std::optional<Element> made_of, co_await input()->next(pull));
        if (!made_of)
          co_return end_of_sequence();
        made_of_ = *std::move(made_of);
        TROUPE_CO_ASSIGN(current_,
                         co_await iterator_of_element(function_, made_of_, pipeline_, pull));
      }
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("has_current", current_ != nullptr);
      if (current_) {
        to.put_all("made_of", made_of_);
        TROUPE_CO_TRY(co_await current_->save(pull, to.in("current")));
      }
      co_return co_await IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(const std::int64_t has_current, from.integer("has_current"));
      if (has_current) {
        TROUPE_CO_ASSIGN(made_of_, from.all("made_of"));
        TROUPE_CO_ASSIGN(current_,
                         co_await iterator_of_element(function_, made_of_, pipeline_, pull));
        TROUPE_CO_TRY(co_await current_->restore(pull, from.in("current")));
      }
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    BoundFunction function_;
    std::shared_ptr<Pipeline> pipeline_;
    Element made_of_;
    IteratorRef current_; // over the dataset that was made of it
  };

  const CapturedFunction function_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<FlatMapDataset>(c, std::move(input), std::move(function));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("FlatMapDataset")
      .input("input_dataset: variant; other_arguments: Targuments")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The elements of the datasets that `f` makes of the elements, one behind the other.");
}

} // namespace troupe::data_flat_map
