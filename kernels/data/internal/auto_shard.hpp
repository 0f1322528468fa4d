// auto_shard: a dataset's graph, changed so that each of several workers reads a share of it.
// Plain: a graph in, a graph out.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/data/internal/dataset_graph.hpp"

namespace troupe::data {

/// As tf.data.experimental.AutoShardPolicy.
enum class ShardPolicy : std::int64_t { off = -1, automatic = 0, file = 1, data = 2, hint = 3 };

struct ShardOptions {
  std::int64_t workers = 1, index = 0, replicas = 0;
  ShardPolicy policy = ShardPolicy::automatic;
};

/// The ops that take an argument of a function as it is (Functions::takers_of_arguments).
using TakersOfArguments = std::function<Result<std::vector<std::string>>(const FunctionRef&)>;

/// By file: the files' names are shared out, before what reads them; what shuffles them shuffles a
/// worker's own. By data: each worker takes every so many elements of all. By hint: where the
/// placeholder of Dataset.shard(SHARD_HINT, …) stands. `automatic` is by file where that can be,
/// else by data. NOT_FOUND for `file` where nothing reads files; what `takers` fails with.
Status auto_shard(DatasetGraph& graph, const ShardOptions& options,
                  const TakersOfArguments& takers);

/// `op` is `name`, or a later version of it: "MapDatasetV2".
bool is_version_of(std::string_view op, std::string_view name);
bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names);

} // namespace troupe::data
