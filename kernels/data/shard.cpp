// ShardDataset: every so many elements one, beginning with one of the first.
#include "kernels/data/internal/register.hpp"

namespace troupe::data_shard {

using namespace data;

namespace {

/// Stands for the number of shards that a distribution strategy would put here.
constexpr std::int64_t shard_hint = -1;

class ShardDataset final : public UnaryDataset {
public:
  ShardDataset(const KernelContext& c, DatasetRef input, std::int64_t shards, std::int64_t index)
      : UnaryDataset(c, std::move(input)), shards_(shards), index_(index),
        must_have_all_(c.attrs().get_or("require_non_empty", false)) {}
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (n < 0 || shards_ == shard_hint)
      return n;
    return n / shards_ + (index_ < n % shards_ ? 1 : 0);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    if (shards_ == shard_hint)
      return failed_precondition(
          "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in combination with "
          "`tf.distribute.Strategy.experimental_distribute_dataset()`.");
    return iterate_over<Shard>(this, pipeline);
  }

private:
  class Shard final : public IteratorOver<ShardDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      std::int64_t left = (dataset().index_ - at_) % dataset().shards_;
      if (left < 0)
        left += dataset().shards_;
      TROUPE_CO_ASSIGN(const bool is_there, co_await skip(left, pull));
      if (!is_there)
        co_return end_of_sequence();
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      if (!element)
        co_return end_of_sequence();
      ++at_;
      if (dataset().must_have_all_ && at_ < dataset().shards_) {
        TROUPE_CO_ASSIGN(const bool are_all, co_await skip(dataset().shards_ - at_, pull));
        if (!are_all)
          co_return too_few();
      }
      co_return one_more(*std::move(element));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("at", at_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(at_, from.integer("at"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    // False at the end of the input.
    Async<Result<bool>> skip(std::int64_t count, ElementPull& pull) {
      for (; count > 0; --count) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(const std::optional<Element> element, co_await input()->next(pull));
        if (!element)
          co_return false;
        ++at_;
      }
      co_return true;
    }
    Status too_few() const {
      return invalid_argument(str_cat(
          "Could not apply FILE based sharding: the dataset only has ", at_,
          " file(s), which is not enough for the required ", dataset().shards_,
          " shards/workers. If you are using datasets with distribution strategy, consider setting "
          "the auto sharding policy to either DATA or OFF using the "
          "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`. Or, split "
          "your input files into a larger number of small files such that number of files is "
          "greater than number of shards/workers."));
    }

    std::int64_t at_ = 0; // of the input
  };

  const std::int64_t shards_, index_;
  const bool must_have_all_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto shards, scalar_input<std::int64_t>(c, 1));
  if (shards <= 0 && shards != shard_hint)
    return invalid_argument(str_cat(
        "Number of shards must be greater than zero (currently num_shards = ", shards, ")."));
  TROUPE_ASSIGN(const auto index, scalar_input<std::int64_t>(c, 2));
  if (shards != shard_hint && (index < 0 || index >= shards))
    return invalid_argument(
        str_cat("Index must be between 0 and ", shards - 1, " (currently index = ", index, ")."));
  return new_dataset<ShardDataset>(c, std::move(input), shards, index);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ShardDataset")
      .input("input_dataset: variant; num_shards: int64; index: int64")
      .output("handle: variant")
      .attr("require_non_empty: bool = false")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("Of each `num_shards` elements the one with number `index`.");
}

} // namespace troupe::data_shard
