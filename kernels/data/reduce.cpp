// ReduceDataset: a function of a state and each element, and its last state.
// DatasetToSingleElement: the only element. DatasetCardinality: how many elements there are.
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/framework/shape_by_attr.hpp"

namespace troupe::data_reduce {

using namespace data;

namespace {

Status give_element(KernelContext& c, Element element) {
  TROUPE_TRY(check_element(c.attrs().get_or<std::vector<DType>>("output_types", {}),
                           c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {}),
                           element));
  for (std::size_t i = 0; i < element.size(); ++i)
    TROUPE_TRY(c.set_output(static_cast<int>(i), std::move(element[i])));
  return {};
}

Async<Status> single_element(KernelContext& c, std::shared_ptr<Iteration> iteration) {
  const PipelineNote note(c, iteration->pipeline());
  TROUPE_CO_ASSIGN(std::optional<Element> element, co_await iteration->next(c.cancellation()));
  if (!element)
    co_return invalid_argument("Dataset was empty.");
  TROUPE_CO_ASSIGN(const std::optional<Element> other, co_await iteration->next(c.cancellation()));
  if (other)
    co_return invalid_argument("Dataset had more than one element.");
  co_return give_element(c, *std::move(element));
}

Async<Status> reduce(KernelContext& c, std::shared_ptr<Iteration> iteration,
                     BoundFunction function) {
  Tensors state;
  const auto states = c.attrs().get_or<std::vector<DType>>("Tstate", {}).size();
  for (std::size_t i = 0; i < states; ++i)
    state.push_back(c.input(static_cast<int>(1 + i)));
  ElementPull pull(iteration->pipeline(), c.cancellation());
  const PipelineNote note(c, iteration->pipeline());
  for (;;) {
    TROUPE_CO_TRY(co_await pull.breathe());
    TROUPE_CO_ASSIGN(std::optional<Element> element, co_await iteration->next(c.cancellation()));
    if (!element)
      break;
    Tensors args = std::move(state);
    args.insert(args.end(), element->begin(), element->end());
    TROUPE_CO_ASSIGN(state, co_await function(std::move(args), pull));
    if (state.size() != states)
      co_return invalid_argument(str_cat("The number of components of the initial state and the "
                                         "reduce function output does not match. (initial_state=",
                                         states, ", output=", state.size(), ")."));
  }
  co_return give_element(c, std::move(state));
}

void compute_single_element(KernelContext& c, KernelDone done) {
  with_iteration(
      c, std::move(done),
      [](KernelContext& in, std::shared_ptr<Iteration> iteration) -> Result<Async<Status>> {
        return single_element(in, std::move(iteration));
      });
}

void compute_reduce(KernelContext& c, KernelDone done) {
  with_iteration(
      c, std::move(done),
      [](KernelContext& in, std::shared_ptr<Iteration> iteration) -> Result<Async<Status>> {
        TROUPE_ASSIGN(const CapturedFunction function, captured_function(in, "f"));
        TROUPE_ASSIGN(BoundFunction bound, iteration->pipeline()->bind(function));
        return reduce(in, std::move(iteration), std::move(bound));
      });
}

Status compute_cardinality(KernelContext& c) {
  TROUPE_ASSIGN(const DatasetRef dataset, input_dataset(c, 0));
  return c.set_output(0, Tensor::scalar(dataset->cardinality()));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ReduceDataset")
      .input("input_dataset: variant; initial_state: Tstate; other_arguments: Targuments")
      .output("components: output_types")
      .attr("f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("use_inter_op_parallelism: bool = true; metadata: string = ''")
      .stateful()
      .roles({Role::runs_functions, Role::blocks})
      .shape_fn(shape_by_attr)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute_reduce)
      .doc("The state after `f` of it and each element.");
  library.op("DatasetToSingleElement")
      .input("dataset: variant")
      .output("components: output_types")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .roles(Role::blocks)
      .shape_fn(shape_by_attr)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute_single_element)
      .doc("The only element of the dataset.");
  library.op("DatasetCardinality")
      .input("input_dataset: variant")
      .output("cardinality: int64")
      .attr("cardinality_options: string = ''")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_cardinality)
      .doc("How many elements the dataset has; -1: without end, -2: not known.");
}

} // namespace troupe::data_reduce
