// RepeatDataset: the input's elements several times, or for ever.
#include <limits>

#include "kernels/data/internal/register.hpp"

namespace troupe::data_repeat {

using namespace data;

namespace {

class RepeatDataset final : public UnaryDataset {
public:
  RepeatDataset(const KernelContext& c, DatasetRef input, std::int64_t count)
      : UnaryDataset(c, std::move(input)), count_(count) {}
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (count_ < 0)
      return n == 0 ? 0 : infinite;
    if (count_ == 0)
      return 0;
    if (n < 0)
      return n;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(n, count_, &product))
      return std::numeric_limits<std::int64_t>::max();
    return product;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Repeated>(this, pipeline, pipeline);
  }

private:
  class Repeated final : public IteratorOver<RepeatDataset> {
  public:
    Repeated(std::shared_ptr<const RepeatDataset> dataset, IteratorRef input,
             std::shared_ptr<Pipeline> pipeline)
        : IteratorOver(std::move(dataset), std::move(input)), pipeline_(std::move(pipeline)) {}

    Async<Next> next(ElementPull& pull) override {
      while (!has_ended_ && dataset().count_ != 0) {
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
        if (element) {
          is_fresh_ = false;
          co_return one_more(*std::move(element));
        }
        // An input without elements would be begun for ever.
        ++rounds_;
        if (dataset().count_ < 0 ? is_fresh_ : rounds_ >= dataset().count_) {
          has_ended_ = true;
          break;
        }
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(input(), dataset().input().iterate(pipeline_));
        is_fresh_ = true;
      }
      co_return end_of_sequence();
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("rounds", rounds_);
      to.put("is_fresh", is_fresh_);
      to.put("has_ended", has_ended_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(rounds_, from.integer("rounds"));
      TROUPE_CO_ASSIGN(is_fresh_, from.integer("is_fresh"));
      TROUPE_CO_ASSIGN(has_ended_, from.integer("has_ended"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    std::shared_ptr<Pipeline> pipeline_;
    std::int64_t rounds_ = 0; // that have ended
    bool is_fresh_ = true;    // nothing has come in this round
    bool has_ended_ = false;
  };

  const std::int64_t count_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto count, scalar_input<std::int64_t>(c, 1));
  return new_dataset<RepeatDataset>(c, std::move(input), count);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RepeatDataset")
      .input("input_dataset: variant; count: int64")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The input `count` times, one after the other; for ever if it is negative.");
}

} // namespace troupe::data_repeat
