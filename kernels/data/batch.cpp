// BatchDataset, BatchDatasetV2, ParallelBatchDataset: several elements below each other as one.
#include "kernels/data/internal/batch.hpp"
#include "kernels/data/internal/parallel_calls.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_batch {

using namespace data;

namespace {

class BatchDataset final : public UnaryDataset {
public:
  BatchDataset(const KernelContext& c, DatasetRef input, std::int64_t size, bool drop_remainder)
      : UnaryDataset(c, std::move(input)), size_(size), drop_remainder_(drop_remainder) {}
  std::int64_t cardinality() const override {
    return batches_of(input().cardinality(), size_, drop_remainder_);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Batches>(this, pipeline);
  }

private:
  class Batches final : public IteratorOver<BatchDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      Allocator& memory = pull.pipeline().memory();
      Elements elements(memory);
      TROUPE_CO_TRY(co_await collect(*input(), dataset().size_, elements, has_ended_, pull));
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
      TROUPE_CO_ASSIGN(const std::int64_t ended, from.integer("has_ended"));
      has_ended_ = ended != 0;
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    bool has_ended_ = false;
  };

  const std::int64_t size_;
  const bool drop_remainder_;
};

enum class Version { first, second, parallel };

template <Version version>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, 1));
  if (size <= 0)
    return invalid_argument("Batch size must be greater than zero.");
  bool drop_remainder = false;
  if constexpr (version == Version::parallel) {
    TROUPE_ASSIGN(const auto wanted, scalar_input<std::int64_t>(c, 2));
    TROUPE_TRY(parallel_calls(c, wanted).status());
    TROUPE_TRY(asks_for_order(c).status());
    TROUPE_ASSIGN(drop_remainder, scalar_input<bool>(c, 3));
  } else if constexpr (version == Version::second) {
    TROUPE_ASSIGN(drop_remainder, scalar_input<bool>(c, 2));
  }
  return new_dataset<BatchDataset>(c, std::move(input), size, drop_remainder);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("BatchDataset")
      .input("input_dataset: variant; batch_size: int64")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<Version::first>>)
      .doc("Each `batch_size` elements below each other as one; the last may have fewer.");
  library.op("BatchDatasetV2")
      .input("input_dataset: variant; batch_size: int64; drop_remainder: bool")
      .output("handle: variant")
      .attr("parallel_copy: bool = false")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<Version::second>>)
      .doc("Each `batch_size` elements below each other as one; the last may have fewer, unless "
           "`drop_remainder`.");
  // Elements of one input come one after the other, so there is one batch at a time to fill; a
  // PrefetchDataset behind it fills the next one meanwhile.
  library.op("ParallelBatchDataset")
      .input("input_dataset: variant; batch_size: int64; num_parallel_calls: int64")
      .input("drop_remainder: bool")
      .output("handle: variant")
      .attr("parallel_copy: bool = false")
      .attr(typed)
      .attr("deterministic: string = 'default'")
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1, 2, 3>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<Version::parallel>>)
      .doc("As BatchDatasetV2.");
}

} // namespace troupe::data_batch
