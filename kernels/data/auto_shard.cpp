// AutoShardDataset: a worker's share of a dataset, as tf.distribute asks for it.
#include "kernels/data/internal/auto_shard.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_auto_shard {

using namespace data;

namespace {

Result<ShardOptions> options_of(const KernelContext& c) {
  ShardOptions out;
  TROUPE_ASSIGN(out.workers, scalar_input<std::int64_t>(c, 1));
  if (out.workers <= 0)
    return invalid_argument("num_workers must be greater than zero.");
  TROUPE_ASSIGN(out.index, scalar_input<std::int64_t>(c, 2));
  if (out.index < 0 || out.index >= out.workers)
    return invalid_argument(str_cat("index must be between 0 and ", out.workers - 1));
  out.replicas = c.attrs().get_or<std::int64_t>("num_replicas", 0);
  const auto policy = c.attrs().get_or<std::int64_t>("auto_shard_policy", 0);
  if (policy < static_cast<std::int64_t>(ShardPolicy::off) ||
      policy > static_cast<std::int64_t>(ShardPolicy::hint))
    return invalid_argument(str_cat("auto_shard_policy is ", policy, "; it is -1 to 3"));
  out.policy = static_cast<ShardPolicy>(policy);
  return out;
}

Async<Status> shard(KernelContext& c, std::shared_ptr<Functions> all, DatasetRef dataset,
                    ShardOptions options) {
  TROUPE_CO_ASSIGN(DatasetGraph graph, DatasetGraph::of(*dataset));
  TROUPE_CO_TRY(auto_shard(graph, options, [&](const FunctionRef& function) {
    return all->takers_of_arguments(function);
  }));
  TROUPE_CO_ASSIGN(DatasetRef share, co_await made_again(c, all, std::move(graph)));
  co_return give_dataset(c, std::move(share));
}

void begin(KernelContext& c, KernelDone done) {
  auto dataset = input_dataset(c, 0);
  if (!dataset.ok())
    return done(dataset.status());
  auto options = options_of(c);
  if (!options.ok())
    return done(options.status());
  if (options->policy == ShardPolicy::off ||
      (options->policy == ShardPolicy::file && options->workers == 1))
    return done(give_dataset(c, *std::move(dataset)));
  auto all = functions(c);
  if (!all.ok())
    return done(all.status());
  // Compiling takes some time.
  (*all)->submit([&c, done = std::move(done), all = *all, dataset = *dataset, options = *options] {
    when_done<Status>(shard(c, all, dataset, options), done);
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"AutoShardDataset", "ExperimentalAutoShardDataset"}) {
    auto op = library.op(name);
    op.input("input_dataset: variant; num_workers: int64; index: int64")
        .output("handle: variant")
        .attr("auto_shard_policy: int = 0")
        .attr(typed);
    if (name[0] == 'A')
      op.attr("num_replicas: int = 0");
    op.roles(Role::runs_functions)
        .shape_fn(shapes_of_scalars<1, 2>)
        .not_differentiable(no_gradient)
        .cpu_kernel_async(begin)
        .doc("The share of worker `index` of a dataset: of its files, or of its elements.");
  }
}

} // namespace troupe::data_auto_shard
