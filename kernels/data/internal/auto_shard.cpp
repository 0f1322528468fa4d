#include "kernels/data/internal/auto_shard.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/strings.hpp"

namespace troupe::data {

bool is_version_of(std::string_view op, std::string_view name) {
  if (!op.starts_with(name))
    return false;
  op.remove_prefix(name.size());
  return op.empty() ||
         (op.size() > 1 && op[0] == 'V' && op.find_first_not_of("0123456789", 1) == op.npos);
}

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return is_version_of(op, name); });
}

namespace {

/// Stands for the number of workers in Dataset.shard(SHARD_HINT, SHARD_HINT).
constexpr std::int64_t shard_hint = -1;

bool is_source(const WrittenNode& node) {
  return is_one_of(node.op, {"GeneratorDataset", "RangeDataset", "SparseTensorsSliceDataset",
                             "TensorDataset", "TensorSliceDataset"});
}
bool reads_files(std::string_view op) {
  return is_one_of(op, {"FixedLengthRecordDataset", "TextLineDataset", "TFRecordDataset"});
}
bool has_function(const WrittenNode& node) {
  return is_one_of(node.op,
                   {"ExperimentalParallelInterleaveDataset", "FlatMapDataset", "InterleaveDataset",
                    "LegacyParallelInterleaveDataset", "ParallelInterleaveDataset"});
}
bool passes_elements_on(const WrittenNode& node) {
  return is_one_of(node.op, {"_Retval",
                             "AssertNextDataset",
                             "BatchDataset",
                             "CacheDataset",
                             "ExperimentalMapAndBatchDataset",
                             "ExperimentalParseExampleDataset",
                             "ExperimentalRebatchDataset",
                             "FilterDataset",
                             "FinalizeDataset",
                             "MapAndBatchDataset",
                             "MapDataset",
                             "MaxIntraOpParallelismDataset",
                             "ModelDataset",
                             "OptimizeDataset",
                             "OptionsDataset",
                             "PaddedBatchDataset",
                             "ParallelMapDataset",
                             "ParseExampleDataset",
                             "PrefetchDataset",
                             "PrivateThreadPoolDataset",
                             "RebatchDataset",
                             "RepeatDataset",
                             "ShardDataset",
                             "ShuffleAndRepeatDataset",
                             "ShuffleDataset",
                             "SkipDataset",
                             "TakeDataset",
                             "WindowDataset"});
}
bool is_dataset(const WrittenNode& node) {
  return node.op.find("Dataset") != node.op.npos;
}

std::string shown(const WrittenNode& node) {
  return str_cat("{{node ", node.name, "}} = ", node.op, "(", str_join(node.inputs, ", "), ")");
}

class Sharder {
public:
  Sharder(DatasetGraph& graph, const ShardOptions& options, const TakersOfArguments& takers)
      : graph_(graph), options_(options), takers_(takers) {}

  // Walks from the sink to what reads files.
  Status by_file(std::string name) {
    for (;;) {
      const WrittenNode& node = *graph_.find(name);
      if (is_source(node))
        return not_found(str_cat("Found an unshardable source dataset: ", shown(node)));
      if (is_one_of(node.op, {"ConcatenateDataset", "ZipDataset"})) {
        for (const std::string& input : std::vector<std::string>(node.inputs))
          TROUPE_TRY(by_file(input));
        return {};
      }
      if (has_function(node)) {
        TROUPE_ASSIGN(const bool reads, reads_its_elements(node));
        if (reads)
          return share_out_files(name);
      }
      if (reads_files(node.op))
        return share_out_files(name);
      if (node.op == "AssertCardinalityDataset")
        dropped_.insert(name);
      else if (!passes_elements_on(node))
        return not_found(str_cat(
            "Did not find a shardable source, walked to a node which is not a dataset: ",
            shown(node),
            ". Consider either turning off auto-sharding or switching the auto_shard_policy to "
            "DATA to shard this dataset. You can do this by creating a new `tf.data.Options()` "
            "object then setting `options.experimental_distribute.auto_shard_policy = "
            "AutoShardPolicy.DATA` before applying the options object to the dataset via "
            "`dataset.with_options(options)`."));
      name = node.inputs[0];
    }
  }

  Status by_data() {
    std::string before = graph_.sink().name;
    // What is fetched ahead is then a worker's own.
    for (;;) {
      const std::string& input = graph_.find(before)->inputs[0];
      if (!is_one_of(graph_.find(input)->op,
                     {"PrefetchDataset", "OptionsDataset", "FinalizeDataset"}))
        break;
      before = input;
    }
    TROUPE_TRY(use_first_rebatch(graph_.find(before)->inputs[0]));
    return add_shard(before);
  }

  void by_hint() {
    for (const std::string& name : graph_.names()) {
      if (!is_version_of(graph_.find(name)->op, "ShardDataset"))
        continue;
      const WrittenNode& count = *graph_.find(graph_.find(name)->inputs[1]);
      auto value = count.attrs.get<Tensor>("value");
      if (!value.ok() || value->data<std::int64_t>()[0] != shard_hint)
        continue;
      const std::string workers = graph_.add_scalar(options_.workers);
      const std::string index = graph_.add_scalar(options_.index);
      WrittenNode& shard = *graph_.find(name);
      shard.inputs[1] = workers;
      shard.inputs[2] = index;
    }
  }

  // An asserted number of elements is that of all workers together.
  void drop_assertions() {
    for (const std::string& name : graph_.names())
      for (std::string& input : graph_.find(name)->inputs)
        while (dropped_.contains(input))
          input = graph_.find(input)->inputs[0];
  }

private:
  Result<bool> reads_its_elements(const WrittenNode& node) const {
    TROUPE_ASSIGN(const auto function, node.attrs.get<FunctionRef>("f"));
    TROUPE_ASSIGN(const auto takers, takers_(function));
    return std::ranges::any_of(takers, reads_files);
  }

  Status add_shard(const std::string& before) {
    const WrittenNode& input = *graph_.find(graph_.find(before)->inputs[0]);
    if (!is_dataset(input))
      return not_found(
          str_cat("Unable to shard this input. You may need to wrap the inputs to your "
                  "reader dataset in a TensorSliceDataset. Input node is ",
                  shown(input)));
    auto types = input.attrs.get<std::vector<DType>>("output_types");
    if (!types.ok())
      types = input.attrs.get_or<std::vector<DType>>("Toutput_types", {DType::string});
    const auto shapes = input.attrs.get_or<std::vector<PartialShape>>(
        "output_shapes", std::vector<PartialShape>(types->size()));
    const std::string name = input.name;
    const std::string workers = graph_.add_scalar(options_.workers);
    const std::string index = graph_.add_scalar(options_.index);
    std::string shard = graph_.add(
        "ShardDataset",
        {{"require_non_empty", true}, {"output_types", *types}, {"output_shapes", shapes}},
        {name, workers, index});
    graph_.find(before)->inputs[0] = std::move(shard);
    return {};
  }

  // Before the node; what shuffled the files goes behind that, so that no two workers share one.
  Status share_out_files(const std::string& reader) {
    TROUPE_TRY(add_shard(reader));
    std::optional<WrittenNode> shuffle;
    for (std::string at = reader; !graph_.find(at)->inputs.empty();) {
      std::string& input = graph_.find(at)->inputs[0];
      while (is_version_of(graph_.find(input)->op, "ShuffleDataset")) {
        shuffle = *graph_.find(input);
        input = shuffle->inputs[0];
      }
      at = input;
    }
    if (shuffle) {
      std::vector<std::string> inputs = shuffle->inputs;
      inputs[0] = graph_.find(reader)->inputs[0];
      std::string again = graph_.add(shuffle->op, shuffle->attrs, std::move(inputs));
      graph_.find(reader)->inputs[0] = std::move(again);
    }
    return {};
  }

  // Shares of elements fit pieces of batches, and not batches of other sizes.
  Status use_first_rebatch(const std::string& name) {
    if (graph_.find(name)->op != "RebatchDatasetV2")
      return {};
    if (options_.replicas < 1)
      return invalid_argument(
          str_cat("Cannot rewrite RebatchDatasetV2 to legacy RebatchDataset with invalid "
                  "num_replicas argument. `num_replicas` is ",
                  options_.replicas, ", but expected to be >= 1."));
    const std::string replicas = graph_.add_scalar(options_.replicas);
    WrittenNode& rebatch = *graph_.find(name);
    auto shapes = rebatch.attrs.get_or<std::vector<PartialShape>>("output_shapes", {});
    for (PartialShape& shape : shapes) {
      if (!shape.has_rank() || shape.rank() == 0)
        continue;
      std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
      dims[0] = -1;
      shape = PartialShape(dims);
    }
    rebatch.attrs = {{"output_types", rebatch.attrs.get_or<std::vector<DType>>("output_types", {})},
                     {"output_shapes", std::move(shapes)},
                     {"use_fallback", true}};
    rebatch.op = "RebatchDataset";
    rebatch.inputs = {rebatch.inputs[0], replicas};
    return {};
  }

  DatasetGraph& graph_;
  const ShardOptions& options_;
  const TakersOfArguments& takers_;
  std::set<std::string> dropped_; ///< assertions on the way to what was shared out
};

} // namespace

Status auto_shard(DatasetGraph& graph, const ShardOptions& options,
                  const TakersOfArguments& takers) {
  DatasetGraph changed = graph; // by file may fail half-way
  Sharder sharder(changed, options, takers);
  switch (options.policy) {
  case ShardPolicy::off:
    return {};
  case ShardPolicy::hint:
    sharder.by_hint();
    break;
  case ShardPolicy::data:
    TROUPE_TRY(sharder.by_data());
    break;
  case ShardPolicy::file:
    TROUPE_TRY(sharder.by_file(changed.sink().name));
    sharder.drop_assertions();
    break;
  case ShardPolicy::automatic:
    if (Status status = sharder.by_file(changed.sink().name); status.ok()) {
      sharder.drop_assertions();
    } else if (status.code() == Code::not_found) {
      changed = graph;
      TROUPE_TRY(sharder.by_data());
    } else {
      return status;
    }
    break;
  }
  graph = std::move(changed);
  return {};
}

} // namespace troupe::data
