// DatasetToGraph, DatasetToGraphV2: a dataset as the GraphDef that makes it. DatasetFromGraph: the
// dataset that one makes. ComputeBatchSize: how many rows the elements of a dataset have.
#include <algorithm>

#include "kernels/data/internal/auto_shard.hpp"
#include "kernels/data/internal/dataset_graph.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_to_graph {

using namespace data;

namespace {

/// What becomes of a state that the graph cannot hold.
constexpr std::int64_t fail_for_state = 2;

Status to_graph(KernelContext& c) {
  TROUPE_ASSIGN(const DatasetRef dataset, input_dataset(c, 0));
  const bool first = c.attrs().contains("allow_stateful");
  const bool fails =
      first ? !c.attrs().get_or("allow_stateful", false)
            : c.attrs().get_or<std::int64_t>("external_state_policy", 0) == fail_for_state;
  if (fails)
    TROUPE_TRY(dataset->check_external_state());
  TROUPE_ASSIGN(const auto all, functions(c));
  TROUPE_ASSIGN(const DatasetGraph graph, DatasetGraph::of(*dataset));
  TROUPE_ASSIGN(std::string bytes, all->write_graph(graph.in_order()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  out.mutable_data<std::string>()[0] = std::move(bytes);
  return {};
}

Async<Status> give_read(KernelContext& c, std::shared_ptr<Functions> all, std::string bytes) {
  TROUPE_CO_ASSIGN(DatasetRef dataset, co_await dataset_of_graph(c, all, std::move(bytes)));
  co_return give_dataset(c, std::move(dataset));
}

void from_graph(KernelContext& c, KernelDone done) {
  auto bytes = scalar_input<std::string>(c, 0);
  auto all = functions(c);
  if (!bytes.ok() || !all.ok())
    return done(bytes.ok() ? all.status() : bytes.status());
  // Compiling takes some time.
  (*all)->submit([&c, done = std::move(done), all = *all, bytes = *std::move(bytes)] {
    when_done<Status>(give_read(c, all, bytes), done);
  });
}

std::int64_t batch_size_of(const Dataset& dataset) {
  const Recipe& recipe = dataset.recipe();
  const bool maps = is_one_of(recipe.op, {"MapAndBatchDataset", "ExperimentalMapAndBatchDataset"});
  if (maps || is_one_of(recipe.op, {"BatchDataset", "PaddedBatchDataset"}))
    return recipe.inputs[maps ? recipe.inputs.size() - 3 : 1].data<std::int64_t>()[0];
  if (is_one_of(recipe.op, {"ConcatenateDataset", "ZipDataset"})) {
    const std::int64_t first = batch_size_of(*dataset.sources()[0]);
    const bool agree = std::ranges::all_of(dataset.sources(), [&](const DatasetRef& source) {
      return batch_size_of(*source) == first;
    });
    return agree ? first : -1;
  }
  if (is_one_of(recipe.op,
                {"AssertCardinalityDataset", "CacheDataset", "FilterDataset", "FinalizeDataset",
                 "ModelDataset", "OptimizeDataset", "OptionsDataset", "ParseExampleDataset",
                 "PrefetchDataset", "RepeatDataset", "ShardDataset", "ShuffleAndRepeatDataset",
                 "ShuffleDataset", "SkipDataset", "TakeDataset"}))
    return batch_size_of(*dataset.sources()[0]);
  return -1;
}

Status compute_batch_size(KernelContext& c) {
  TROUPE_ASSIGN(const DatasetRef dataset, input_dataset(c, 0));
  return c.set_output(0, Tensor::scalar(batch_size_of(*dataset)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DatasetToGraph")
      .input("input_dataset: variant")
      .output("graph: string")
      .attr("stateful_whitelist: list(string) >= 0 = []; allow_stateful: bool = false")
      .attr("strip_device_assignment: bool = false")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(to_graph, {.expensive = true})
      .doc("A serialised GraphDef that makes the dataset.");
  library.op("DatasetToGraphV2")
      .input("input_dataset: variant")
      .output("graph: string")
      .attr("external_state_policy: int = 0; strip_device_assignment: bool = false")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(to_graph, {.expensive = true})
      .doc("A serialised GraphDef that makes the dataset.");
  library.op("DatasetFromGraph")
      .input("graph_def: string")
      .output("handle: variant")
      .roles(Role::runs_functions)
      .shape_fn(shapes_of_scalars<0>)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(from_graph)
      .doc("The dataset that a GraphDef of DatasetToGraphV2 makes.");
  library.op("ComputeBatchSize")
      .input("input_dataset: variant")
      .output("batch_size: int64")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_batch_size)
      .doc("The batch size that a dataset's nodes tell; -1 if they do not.");
}

} // namespace troupe::data_to_graph
