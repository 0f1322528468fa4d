// SamplingDataset: each element with a given probability.
#include <algorithm>
#include <bit>

#include "kernels/data/internal/register.hpp"
#include "kernels/data/internal/seed_generator.hpp"

namespace troupe::data_sampling {

using namespace data;
using data::unknown;

namespace {

class SamplingDataset final : public UnaryDataset {
public:
  SamplingDataset(const KernelContext& c, DatasetRef input, float rate, Seeds seeds)
      : UnaryDataset(c, std::move(input)), rate_(rate), seeds_(seeds) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Sampled>(this, pipeline, chosen(seeds_));
  }

private:
  class Sampled final : public IteratorOver<SamplingDataset> {
  public:
    Sampled(std::shared_ptr<const SamplingDataset> dataset, IteratorRef input, Seeds seeds)
        : IteratorOver(std::move(dataset), std::move(input)), seeds_(seeds), words_(seeds) {}
    Async<Next> next(ElementPull& pull) override {
      for (;;) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
        if (!element)
          co_return end_of_sequence();
        const float number = std::bit_cast<float>(0x3f800000U | (words_.next() & 0x7fffffU)) - 1.0F;
        if (number < dataset().rate_)
          co_return one_more(*std::move(element));
      }
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("seed", seeds_.first);
      to.put("seed2", seeds_.second);
      to.put("drawn", words_.drawn());
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(seeds_.first, from.integer("seed"));
      TROUPE_CO_ASSIGN(seeds_.second, from.integer("seed2"));
      TROUPE_CO_ASSIGN(const std::int64_t drawn, from.integer("drawn"));
      words_ = CountedWords(seeds_, std::max<std::int64_t>(drawn, 0));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Seeds seeds_;
    CountedWords words_;
  };

  const float rate_;
  const Seeds seeds_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const float rate, scalar_input<float>(c, 1));
  TROUPE_ASSIGN(const auto first, scalar_input<std::int64_t>(c, 2));
  TROUPE_ASSIGN(const auto second, scalar_input<std::int64_t>(c, 3));
  return new_dataset<SamplingDataset>(c, std::move(input), rate, Seeds{first, second});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SamplingDataset")
      .input("input_dataset: variant; rate: float; seed: int64; seed2: int64")
      .output("handle: variant")
      .attr(typed)
      .roles(Role::random)
      .shape_fn(shapes_of_scalars<1, 2, 3>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("Each element with probability `rate`.");
}

} // namespace troupe::data_sampling
