// OptionsDataset: a dataset with tf.data.Options. OptimizeDataset, OptimizeDatasetV2, ModelDataset,
// RewriteDataset, FinalizeDataset, MaxIntraOpParallelismDataset, PrivateThreadPoolDataset: their
// inputs as they are, since they ask for rewriting and tuning that change no element.
#include "kernels/data/internal/register.hpp"
#include "storage/message/message.hpp"

namespace troupe::data_options {

using namespace data;

namespace {

class SameDataset final : public UnaryDataset {
public:
  SameDataset(const KernelContext& c, DatasetRef input, const PipelineOptions& options)
      : UnaryDataset(c, std::move(input)) {
    set_options(options);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return input().iterate(pipeline);
  }
};

// Of message tensorflow.data.Options.
Result<PipelineOptions> read_options(std::string_view text) {
  PipelineOptions out;
  MessageReader in(text);
  while (in.next())
    if (in.field() == 1)
      out.deterministic = in.integer() != 0;
  if (!in.ok())
    return invalid_argument("Could not parse serialized_options as a valid Options message.");
  return out;
}

Result<DatasetRef> make_with_options(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto text, c.attr<std::string>("serialized_options"));
  TROUPE_ASSIGN(const PipelineOptions options, read_options(text));
  return new_dataset<SameDataset>(c, std::move(input), options);
}

Result<DatasetRef> make_same(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  return new_dataset<SameDataset>(c, std::move(input), PipelineOptions());
}

template <class T>
Result<DatasetRef> make_same_with_number(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto number, scalar_input<std::int64_t>(c, 1));
  if (number < T::least)
    return invalid_argument(T::wrong);
  return new_dataset<SameDataset>(c, std::move(input), PipelineOptions());
}

struct Parallelism {
  static constexpr std::int64_t least = 0;
  static constexpr auto wrong = "`max_intra_op_parallelism` must be greater than or equal to zero.";
};
struct ThreadPool {
  static constexpr std::int64_t least = 0;
  static constexpr auto wrong = "`num_threads` must be greater than or equal to zero.";
};

template <std::size_t count>
Result<DatasetRef> make_optimized(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  for (std::size_t i = 1; i <= count; ++i)
    TROUPE_TRY(vector_input<std::string>(c, static_cast<int>(i)).status());
  return new_dataset<SameDataset>(c, std::move(input), PipelineOptions());
}

Result<DatasetRef> make_rewritten(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_TRY(scalar_input<std::string>(c, 1).status());
  return new_dataset<SameDataset>(c, std::move(input), PipelineOptions());
}

constexpr auto same = "The input as it is.";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("OptionsDataset")
      .input("input_dataset: variant")
      .output("handle: variant")
      .attr("serialized_options: string")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_with_options>)
      .doc("The input with these options, a serialised tensorflow.data.Options; `deterministic` is "
           "the one that is heeded.");
  library.op("OptimizeDataset")
      .input("input_dataset: variant; optimizations: string")
      .output("handle: variant")
      .attr(typed)
      .attr("optimization_configs: list(string) = []")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_optimized<1>>)
      .doc(same);
  library.op("OptimizeDatasetV2")
      .input("input_dataset: variant; optimizations_enabled: string")
      .input("optimizations_disabled: string; optimizations_default: string")
      .output("handle: variant")
      .attr(typed)
      .attr("optimization_configs: list(string) = []")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_optimized<3>>)
      .doc(same);
  library.op("ModelDataset")
      .input("input_dataset: variant")
      .output("handle: variant")
      .attr("algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0")
      .attr(typed)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_same>)
      .doc(same);
  library.op("RewriteDataset")
      .input("input_dataset: variant; rewrite_name: string")
      .output("handle: variant")
      .attr(typed)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_rewritten>)
      .doc(same);
  library.op("FinalizeDataset")
      .input("input_dataset: variant")
      .output("handle: variant")
      .attr("has_captured_ref: bool = false")
      .attr(typed)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_same>)
      .doc(same);
  library.op("MaxIntraOpParallelismDataset")
      .input("input_dataset: variant; max_intra_op_parallelism: int64")
      .output("handle: variant")
      .attr(typed)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_same_with_number<Parallelism>>)
      .doc(same);
  library.op("PrivateThreadPoolDataset")
      .input("input_dataset: variant; num_threads: int64")
      .output("handle: variant")
      .attr(typed)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_same_with_number<ThreadPool>>)
      .doc(same);
}

} // namespace troupe::data_options
