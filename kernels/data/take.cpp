// TakeDataset: the first elements. SkipDataset: all but these.
#include <algorithm>

#include "kernels/data/internal/register.hpp"

namespace troupe::data_take {

using namespace data;
using data::unknown;

namespace {

class TakeDataset final : public UnaryDataset {
public:
  TakeDataset(const KernelContext& c, DatasetRef input, std::int64_t count)
      : UnaryDataset(c, std::move(input)), count_(count) {}
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (n == unknown)
      return unknown;
    if (n == infinite)
      return std::max(count_, infinite);
    return count_ < 0 ? n : std::min(n, count_);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<First>(this, pipeline);
  }

private:
  class First final : public IteratorOver<TakeDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (dataset().count_ >= 0 && taken_ >= dataset().count_)
        co_return end_of_sequence();
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      if (!element)
        co_return end_of_sequence();
      ++taken_;
      co_return one_more(*std::move(element));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("taken", taken_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(taken_, from.integer("taken"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    std::int64_t taken_ = 0;
  };

  const std::int64_t count_;
};

class SkipDataset final : public UnaryDataset {
public:
  SkipDataset(const KernelContext& c, DatasetRef input, std::int64_t count)
      : UnaryDataset(c, std::move(input)), count_(count) {}
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (n < 0)
      return n;
    return count_ < 0 ? 0 : std::max<std::int64_t>(0, n - count_);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Rest>(this, pipeline);
  }

private:
  class Rest final : public IteratorOver<SkipDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (dataset().count_ < 0)
        co_return end_of_sequence();
      while (skipped_ < dataset().count_) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(const std::optional<Element> element, co_await input()->next(pull));
        if (!element)
          co_return end_of_sequence();
        ++skipped_;
      }
      co_return co_await input()->next(pull);
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("skipped", skipped_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(skipped_, from.integer("skipped"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    std::int64_t skipped_ = 0;
  };

  const std::int64_t count_;
};

template <class D>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto count, scalar_input<std::int64_t>(c, 1));
  return new_dataset<D>(c, std::move(input), count);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TakeDataset")
      .input("input_dataset: variant; count: int64")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<TakeDataset>>)
      .doc("The first `count` elements; all if it is negative.");
  library.op("SkipDataset")
      .input("input_dataset: variant; count: int64")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<SkipDataset>>)
      .doc("The elements behind the first `count`; none if it is negative.");
}

} // namespace troupe::data_take
