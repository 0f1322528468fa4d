// ParallelMapDataset, ParallelMapDatasetV2: a function of each element, of several at once.
#include "kernels/data/internal/parallel_calls.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_parallel_map {

using namespace data;
using data::unknown;

namespace {

class ParallelMapDataset final : public UnaryDataset {
public:
  ParallelMapDataset(const KernelContext& c, DatasetRef input, CapturedFunction function,
                     std::int64_t calls, std::optional<bool> in_order)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)), calls_(calls),
        in_order_(in_order), keeps_cardinality_(c.attrs().get_or("preserve_cardinality", false)) {}
  std::int64_t cardinality() const override {
    return keeps_cardinality_ ? input().cardinality() : unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    TROUPE_ASSIGN(IteratorRef iterator, input().iterate(pipeline));
    return iterate_with_calls(shared_from_this(), std::move(iterator), std::move(function),
                              pipeline,
                              {.calls = calls_,
                               .in_order = is_in_order(in_order_, *pipeline),
                               .keeps_cardinality = keeps_cardinality_});
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  const CapturedFunction function_;
  const std::int64_t calls_;
  const std::optional<bool> in_order_;
  const bool keeps_cardinality_;
};

template <class T>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const T wanted, scalar_input<T>(c, c.num_inputs() - 1));
  TROUPE_ASSIGN(const std::int64_t calls, parallel_calls(c, wanted));
  TROUPE_ASSIGN(const auto in_order, asks_for_order(c));
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<ParallelMapDataset>(c, std::move(input), std::move(function), calls, in_order);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ParallelMapDataset")
      .input("input_dataset: variant; other_arguments: Targuments; num_parallel_calls: int32")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("use_inter_op_parallelism: bool = true; sloppy: bool = false")
      .attr("preserve_cardinality: bool = false; metadata: string = ''")
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<std::int32_t>>)
      .doc("`f` of each element, for up to `num_parallel_calls` at once; -1: as many as pays.");
  library.op("ParallelMapDatasetV2")
      .input("input_dataset: variant; other_arguments: Targuments; num_parallel_calls: int64")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("use_inter_op_parallelism: bool = true; deterministic: string = 'default'")
      .attr("preserve_cardinality: bool = false; use_unbounded_threadpool: bool = false")
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<std::int64_t>>)
      .doc("`f` of each element, for up to `num_parallel_calls` at once; -1: as many as pays.");
}

} // namespace troupe::data_parallel_map
