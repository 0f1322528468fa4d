// ParallelInterleaveDatasetV2, V3, V4, LegacyParallelInterleaveDatasetV2,
// ParallelInterleaveDataset: the datasets that a function makes of the elements, several read at
// once, some elements of each in turn.
#include <algorithm>

#include "kernels/data/internal/lanes.hpp"
#include "kernels/data/internal/parallel_calls.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_parallel_interleave {

using namespace data;
using data::unknown;

namespace {

class ParallelInterleaveDataset final : public UnaryDataset {
public:
  ParallelInterleaveDataset(const KernelContext& c, DatasetRef input, CapturedFunction function,
                            const LaneOptions& options, std::optional<bool> in_order,
                            bool is_legacy)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)), options_(options),
        in_order_(in_order), is_legacy_(is_legacy) {}
  // As TensorFlow tells it.
  std::int64_t cardinality() const override {
    return !is_legacy_ && input().cardinality() == infinite ? infinite : unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    TROUPE_ASSIGN(IteratorRef iterator, input().iterate(pipeline));
    LaneOptions options = options_;
    options.in_order = is_in_order(in_order_, *pipeline);
    return iterate_in_lanes(shared_from_this(), std::move(iterator), std::move(function), pipeline,
                            options);
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  const CapturedFunction function_;
  const LaneOptions options_;
  const std::optional<bool> in_order_;
  const bool is_legacy_;
};

/// What is left to us: so many elements of a lane for each of its block, so many lanes for each of
/// the cycle.
constexpr std::int64_t ahead_factor = 2, coming_factor = 2;
/// Beyond these nothing goes faster.
constexpr std::int64_t most_coming = 1024, most_ahead = 1 << 20;

std::int64_t times(std::int64_t a, std::int64_t factor, std::int64_t most) {
  return a > most / factor ? most : a * factor;
}

/// An input of version `version` and how many inputs stand behind it.
template <int version>
Result<DatasetRef> make(KernelContext& c) {
  const int count = version >= 4 ? 5 : 3;
  const int first = c.num_inputs() - count;
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  LaneOptions options;
  TROUPE_ASSIGN(options.cycle, scalar_input<std::int64_t>(c, first));
  TROUPE_ASSIGN(options.block, scalar_input<std::int64_t>(c, first + 1));
  if (options.block <= 0)
    return invalid_argument("`block_length` must be > 0");
  options.ahead = options.coming = autotune;
  if constexpr (version >= 4) {
    TROUPE_ASSIGN(options.ahead, scalar_input<std::int64_t>(c, first + 2));
    if (options.ahead != autotune && options.ahead <= 0)
      return invalid_argument(
          str_cat("`buffer_output_elements` must be ", autotune, " or > 0 but is ", options.ahead));
    TROUPE_ASSIGN(options.coming, scalar_input<std::int64_t>(c, first + 3));
    if (options.coming != autotune && options.coming < 0)
      return invalid_argument(str_cat("`prefetch_input_elements` must be ", autotune,
                                      " or >= 0 but is ", options.coming));
  }
  TROUPE_ASSIGN(const auto calls, scalar_input<std::int64_t>(c, c.num_inputs() - 1));
  const std::int64_t threads = c.device().compute().threads();
  if (options.cycle ==
      autotune) // as TensorFlow chooses: lanes of the cycle and to come, a thread each
    options.cycle = calls == autotune ? (threads + coming_factor) / (coming_factor + 1)
                                      : std::min(calls, threads);
  if (options.cycle <= 0)
    return invalid_argument("`cycle_length` must be > 0");
  TROUPE_ASSIGN(options.calls, parallel_calls(c, calls));
  if (calls == autotune)
    options.calls = std::min<std::int64_t>(options.cycle, most_coming);
  if (options.ahead == autotune)
    options.ahead = times(options.block, ahead_factor, most_ahead) + 1;
  if (options.coming == autotune)
    options.coming = times(options.cycle, coming_factor, most_coming);
  TROUPE_ASSIGN(const auto in_order, asks_for_order(c));
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<ParallelInterleaveDataset>(c, std::move(input), std::move(function), options,
                                                in_order, false);
}

template <int version>
Result<DatasetRef> make_legacy(KernelContext& c) {
  const int count = version == 1 ? 5 : 4;
  const int first = c.num_inputs() - count;
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  LaneOptions options;
  TROUPE_ASSIGN(options.cycle, scalar_input<std::int64_t>(c, first));
  if (options.cycle <= 0)
    return invalid_argument("`cycle_length` must be > 0");
  TROUPE_ASSIGN(options.block, scalar_input<std::int64_t>(c, first + 1));
  if (options.block <= 0)
    return invalid_argument("`block_length` must be > 0");
  std::optional<bool> in_order;
  if constexpr (version == 1) {
    TROUPE_ASSIGN(const bool sloppy, scalar_input<bool>(c, first + 2));
    in_order = !sloppy;
  } else {
    TROUPE_ASSIGN(in_order, asks_for_order(c));
  }
  TROUPE_ASSIGN(options.ahead, scalar_input<std::int64_t>(c, c.num_inputs() - 2));
  if (options.ahead == autotune)
    options.ahead = times(options.block, ahead_factor, most_ahead);
  if (options.ahead <= 0)
    return invalid_argument("`buffer_output_elements` must be > 0");
  TROUPE_ASSIGN(options.coming, scalar_input<std::int64_t>(c, c.num_inputs() - 1));
  if (options.coming == autotune)
    options.coming = times(options.cycle, coming_factor, most_coming);
  if (options.coming < 0)
    return invalid_argument("`prefetch_input_elements` must be >= 0");
  options.calls = std::min<std::int64_t>(options.cycle, most_coming);
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<ParallelInterleaveDataset>(c, std::move(input), std::move(function), options,
                                                in_order, true);
}

constexpr auto doc =
    "The elements of the datasets that `f` makes of the elements, several of which "
    "are read at once: of `cycle_length` of them in turn, `block_length` each time.";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ParallelInterleaveDatasetV2")
      .input("input_dataset: variant; other_arguments: Targuments; cycle_length: int64")
      .input("block_length: int64; num_parallel_calls: int64")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("sloppy: bool = false; metadata: string = ''")
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<2>>)
      .doc(doc);
  library.op("ParallelInterleaveDatasetV3")
      .input("input_dataset: variant; other_arguments: Targuments; cycle_length: int64")
      .input("block_length: int64; num_parallel_calls: int64")
      .output("handle: variant")
      .attr("f: func; deterministic: string = 'default'; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<3>>)
      .doc(doc);
  library.op("ParallelInterleaveDatasetV4")
      .input("input_dataset: variant; other_arguments: Targuments; cycle_length: int64")
      .input("block_length: int64; buffer_output_elements: int64; prefetch_input_elements: int64")
      .input("num_parallel_calls: int64")
      .output("handle: variant")
      .attr("f: func; deterministic: string = 'default'; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<4>>)
      .doc(doc);
  library.op("LegacyParallelInterleaveDatasetV2")
      .input("input_dataset: variant; other_arguments: Targuments; cycle_length: int64")
      .input("block_length: int64; buffer_output_elements: int64; prefetch_input_elements: int64")
      .output("handle: variant")
      .attr("f: func; deterministic: string = 'default'; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_legacy<2>>)
      .doc(doc);
  library.op("ParallelInterleaveDataset")
      .input("input_dataset: variant; other_arguments: Targuments; cycle_length: int64")
      .input("block_length: int64; sloppy: bool; buffer_output_elements: int64")
      .input("prefetch_input_elements: int64")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_legacy<1>>)
      .doc(doc);
}

} // namespace troupe::data_parallel_interleave
