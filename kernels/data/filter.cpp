// FilterDataset: the elements for which a function holds. TakeWhileDataset: those before the first
// for which it does not.
#include "kernels/data/internal/register.hpp"

namespace troupe::data_filter {

using namespace data;
using data::unknown;

namespace {

class PredicateDataset : public UnaryDataset {
public:
  PredicateDataset(const KernelContext& c, DatasetRef input, CapturedFunction predicate)
      : UnaryDataset(c, std::move(input)), predicate_(std::move(predicate)) {}
  std::int64_t cardinality() const override { return unknown; }
  Status check_external_state() const override {
    TROUPE_TRY(predicate_.check_external_state());
    return Dataset::check_external_state();
  }

protected:
  const CapturedFunction predicate_;
};

class FilterDataset final : public PredicateDataset {
public:
  using PredicateDataset::PredicateDataset;
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction predicate, pipeline->bind(predicate_));
    return iterate_over<Filtered>(this, pipeline, std::move(predicate));
  }

private:
  class Filtered final : public IteratorOver<FilterDataset> {
  public:
    Filtered(std::shared_ptr<const FilterDataset> dataset, IteratorRef input,
             BoundFunction predicate)
        : IteratorOver(std::move(dataset), std::move(input)), predicate_(std::move(predicate)) {}
    Async<Next> next(ElementPull& pull) override {
      for (;;) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
        if (!element)
          co_return end_of_sequence();
        TROUPE_CO_ASSIGN(const bool holds, co_await predicate_.test(*element, pull, not_bool));
        if (holds)
          co_return one_more(*std::move(element));
      }
    }

  private:
    static constexpr auto not_bool = "Filter predicate `f` must return a scalar bool.";
    BoundFunction predicate_;
  };
};

class TakeWhileDataset final : public PredicateDataset {
public:
  using PredicateDataset::PredicateDataset;
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction predicate, pipeline->bind(predicate_));
    return iterate_over<Leading>(this, pipeline, std::move(predicate));
  }

private:
  class Leading final : public IteratorOver<TakeWhileDataset> {
  public:
    Leading(std::shared_ptr<const TakeWhileDataset> dataset, IteratorRef input,
            BoundFunction predicate)
        : IteratorOver(std::move(dataset), std::move(input)), predicate_(std::move(predicate)) {}
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      if (!element) {
        has_ended_ = true;
        co_return end_of_sequence();
      }
      Result<bool> holds = co_await predicate_.test(*element, pull, not_bool);
      if (!holds.ok())
        co_return holds.status();
      has_ended_ = !*holds;
      if (has_ended_)
        co_return end_of_sequence();
      co_return one_more(*std::move(element));
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
    static constexpr auto not_bool = "`predicate` must returns a scalar bool tensor.";
    BoundFunction predicate_;
    bool has_ended_ = false;
  };
};

template <class D>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(CapturedFunction predicate, captured_function(c, "predicate"));
  return new_dataset<D>(c, std::move(input), std::move(predicate));
}

template <class D>
void add(OpLibrary& library, std::string_view name, std::string_view doc) {
  library.op(name)
      .input("input_dataset: variant; other_arguments: Targuments")
      .output("handle: variant")
      .attr("predicate: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<D>>)
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add<FilterDataset>(library, "FilterDataset", "The elements for which `predicate` is true.");
  add<TakeWhileDataset>(library, "TakeWhileDataset",
                        "The elements before the first for which `predicate` is false.");
}

} // namespace troupe::data_filter
