// Iterator, IteratorV2: an iterator under a name; MakeIterator begins it with a dataset.
// OneShotIterator: one that begins by itself with the dataset that its function makes.
#include "core/base/strings.hpp"
#include "kernels/data/internal/dataset_graph.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/framework/glue.hpp"

namespace troupe::data_iterator {

using namespace data;

namespace {

Status give_iterator(KernelContext& c) {
  return node_iterator(c).status();
}

Status begin_with(KernelContext& c, DatasetRef dataset) {
  TROUPE_ASSIGN(auto resource, input_resource<IteratorResource>(c, 1));
  TROUPE_ASSIGN(auto iteration, begin_iteration(c, std::move(dataset)));
  return resource->set(std::move(iteration));
}

// Rows that come from two places of one shuffle, as in zip((d.map(f), d)), belong together only if
// each place has the seeds from their beginning.
Async<Status> begin_with_own_orders(KernelContext& c, std::shared_ptr<Functions> all,
                                    DatasetGraph graph) {
  TROUPE_CO_ASSIGN(DatasetRef again, co_await made_again(c, all, std::move(graph)));
  co_return begin_with(c, std::move(again));
}

void make_iterator(KernelContext& c, KernelDone done) {
  auto dataset = input_dataset(c, 0);
  if (!dataset.ok())
    return done(dataset.status());
  if (!takes_order_twice(**dataset))
    return done(begin_with(c, *std::move(dataset)));
  auto graph = DatasetGraph::with_orders_apart(**dataset);
  if (graph.status().code() == Code::unimplemented) // it has parts that no node has made
    return done(begin_with(c, *std::move(dataset)));
  auto all = functions(c);
  if (!graph.ok() || !all.ok())
    return done(graph.ok() ? all.status() : graph.status());
  // Compiling takes some time.
  (*all)->submit([&c, done = std::move(done), all = *all, graph = *std::move(graph)] {
    when_done<Status>(begin_with_own_orders(c, all, graph), done);
  });
}

Async<Result<DatasetRef>> dataset_of_factory(KernelContext& c) {
  TROUPE_CO_ASSIGN(const auto factory, c.attr<FunctionRef>("dataset_factory"));
  TROUPE_CO_ASSIGN(const auto all, functions(c));
  TROUPE_CO_ASSIGN(const auto function, all->find(factory));
  Callback<Result<Tensors>> called(
      [&](FunctionDone done) { function->call(call_from(c, {}), std::move(done)); });
  TROUPE_CO_ASSIGN(const Tensors results, co_await called);
  if (results.size() != 1 || results[0].dtype() != DType::variant ||
      !results[0].shape().is_scalar())
    co_return invalid_argument(
        "The `dataset_factory` function must return a single scalar of dtype DT_VARIANT.");
  co_return dataset_in(results[0]);
}

// Only who has the turn begins it; the others find it begun.
Async<Status> begin_one_shot(KernelContext& c, std::shared_ptr<IteratorResource> resource,
                             std::shared_ptr<Pipeline> pipeline) {
  ElementPull pull(pipeline, c.cancellation());
  TROUPE_CO_TRY(co_await resource->making.enter(pull));
  Status status;
  if (!resource->current()) {
    Result<DatasetRef> dataset = co_await dataset_of_factory(c);
    status = dataset.status();
    if (status.ok()) {
      auto iteration = Iteration::begin(*std::move(dataset), pipeline);
      status = iteration.ok() ? resource->set(*std::move(iteration)) : iteration.status();
    }
  }
  resource->making.leave(*pipeline);
  co_return status;
}

void one_shot(KernelContext& c, KernelDone done) {
  auto resource = node_iterator(c);
  if (!resource.ok())
    return done(resource.status());
  if ((*resource)->current())
    return done({});
  auto pipeline = Pipeline::make(c);
  if (!pipeline.ok())
    return done(pipeline.status());
  // Compiling its functions takes some time.
  (*pipeline)->submit([&c, done, resource = *std::move(resource), pipeline = *pipeline] {
    when_done<Status>(begin_one_shot(c, resource, pipeline), done);
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"Iterator", "IteratorV2"})
    library.op(name)
        .output("handle: resource")
        .attr("shared_name: string; container: string")
        .attr(typed)
        .stateful()
        .roles(Role::side_effect)
        .shape_fn(shape_scalar)
        .not_differentiable(no_gradient)
        .cpu_kernel(give_iterator, {.prepare = prepare_iterator})
        .doc("The handle of an iterator; MakeIterator begins it.");
  library.op("MakeIterator")
      .input("dataset: variant; iterator: resource")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(make_iterator, {.expensive = true})
      .doc("Begins the iterator anew, with this dataset.");
  library.op("OneShotIterator")
      .output("handle: resource")
      .attr("dataset_factory: func")
      .attr(typed)
      .attr("container: string = ''; shared_name: string = ''")
      .stateful()
      .roles({Role::side_effect, Role::runs_functions})
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(one_shot, {.prepare = prepare_iterator})
      .doc("The handle of an iterator of the dataset that `dataset_factory` makes, once.");
}

} // namespace troupe::data_iterator
