// RandomDataset, RandomDatasetV2: random numbers without end.
#include <algorithm>

#include "kernels/data/internal/register.hpp"
#include "kernels/data/internal/seed_generator.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::data_random {

using namespace data;

namespace {

class RandomDataset final : public Dataset {
public:
  /// Null: each iteration has the same seeds, or any if they are 0.
  RandomDataset(const KernelContext& c, Seeds seeds, std::shared_ptr<SeedGenerator> generator)
      : Dataset(c), seeds_(seeds), generator_(std::move(generator)) {}
  std::int64_t cardinality() const override { return infinite; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<Numbers>(self<RandomDataset>(),
                                                 generator_ ? generator_->next() : chosen(seeds_)));
  }

private:
  class Numbers final : public Iterator {
  public:
    Numbers(std::shared_ptr<const RandomDataset> dataset, Seeds seeds)
        : dataset_(std::move(dataset)), seeds_(seeds), words_(seeds) {}
    Async<Next> next(ElementPull&) override {
      return one_more({Tensor::scalar(std::int64_t{words_.next()})});
    }
    Async<Status> save(ElementPull&, StateWriter to) override {
      to.put("seed", seeds_.first);
      to.put("seed2", seeds_.second);
      to.put("drawn", words_.drawn());
      return Status();
    }
    Async<Status> restore(ElementPull&, StateReader from) override {
      TROUPE_CO_ASSIGN(seeds_.first, from.integer("seed"));
      TROUPE_CO_ASSIGN(seeds_.second, from.integer("seed2"));
      TROUPE_CO_ASSIGN(const std::int64_t drawn, from.integer("drawn"));
      words_ = CountedWords(seeds_, std::max<std::int64_t>(drawn, 0));
      co_return Status();
    }

  private:
    std::shared_ptr<const RandomDataset> dataset_;
    Seeds seeds_;
    CountedWords words_;
  };

  const Seeds seeds_;
  const std::shared_ptr<SeedGenerator> generator_;
};

Result<Seeds> seeds_of(const KernelContext& c) {
  TROUPE_ASSIGN(const auto first, scalar_input<std::int64_t>(c, 0));
  TROUPE_ASSIGN(const auto second, scalar_input<std::int64_t>(c, 1));
  return Seeds{first, second};
}

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(const Seeds seeds, seeds_of(c));
  return new_dataset<RandomDataset>(c, seeds, nullptr);
}

Result<DatasetRef> make_with_generator(KernelContext& c) {
  TROUPE_ASSIGN(const Seeds seeds, seeds_of(c));
  auto named = input_resource<SeedGenerator>(c, 2);
  if (named.ok())
    return new_dataset<RandomDataset>(c, seeds, *std::move(named));
  if (named.status().code() != Code::not_found)
    return named.status();
  return new_dataset<RandomDataset>(
      c, seeds,
      std::make_shared<SeedGenerator>(seeds,
                                      c.attrs().get_or("rerandomize_each_iteration", false)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RandomDataset")
      .input("seed: int64; seed2: int64")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shapes_of_scalars<0, 1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("Random numbers below 2^32, without end.");
  library.op("RandomDatasetV2")
      .input("seed: int64; seed2: int64; seed_generator: resource")
      .output("handle: variant")
      .attr("rerandomize_each_iteration: bool = false")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shapes_of_scalars<0, 1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_with_generator>)
      .doc("Random numbers below 2^32, without end, by the seeds of a generator, or these.");
}

} // namespace troupe::data_random
