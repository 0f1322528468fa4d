// IteratorGetNext, IteratorGetNextSync: the next element of an iterator. IteratorGetNextAsOptional:
// the next one, or none at the end.
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/framework/shape_by_attr.hpp"
#include "kernels/list/internal/optional.hpp"

namespace troupe::data_get_next {

using namespace data;

namespace {

Result<std::shared_ptr<Iteration>> iteration_of(KernelContext& c) {
  TROUPE_ASSIGN(auto resource, input_resource<IteratorResource>(c, 0));
  auto iteration = resource->current();
  if (!iteration)
    return failed_precondition(
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
        "the initializer operation for this iterator before getting the next element.");
  return iteration;
}

struct Expected {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Expected out;
  TROUPE_ASSIGN(out.types, c.attr<std::vector<DType>>("output_types"));
  TROUPE_ASSIGN(out.shapes, c.attr<std::vector<PartialShape>>("output_shapes"));
  if (out.types.size() != out.shapes.size())
    return invalid_argument(str_cat("Number of components does not match: expected ",
                                    out.types.size(), " types but got ", out.shapes.size(),
                                    " shapes."));
  return prepared(std::move(out));
}

Status give(KernelContext& c, std::optional<Element> element) {
  if (!element)
    return out_of_range("End of sequence");
  const auto& expected = c.prepared<Expected>();
  return give_element(c, expected.types, expected.shapes, *std::move(element));
}

Status give_optional(KernelContext& c, std::optional<Element> element) {
  if (!element)
    return c.set_output(0, Tensor::scalar(list::make_optional(list::Optional())));
  const auto& expected = c.prepared<Expected>();
  for (std::size_t i = 0; i < element->size(); ++i) {
    const Tensor& component = (*element)[i];
    if (i >= expected.types.size() || component.dtype() != expected.types[i])
      return invalid_argument(
          str_cat("The given optional does not match the expected type for component ", i,
                  ". Expected: ", i < expected.types.size() ? to_string(expected.types[i]) : "none",
                  ". Actual: ", to_string(component.dtype()), "."));
    if (!expected.shapes[i].is_compatible_with(component.shape()))
      return invalid_argument(str_cat(
          "The given optional does not match the expected shape for component ", i,
          ". Expected: ", text_of(expected.shapes[i]), ". Actual: ", component.shape(), "."));
    TROUPE_TRY(check_nesting(component));
  }
  return c.set_output(0, Tensor::scalar(list::make_optional(list::Optional(*std::move(element)))));
}

using Give = Status (*)(KernelContext&, std::optional<Element>);

Async<Status> get(KernelContext& c, std::shared_ptr<Iteration> iteration, Give give) {
  Async<Next> next = iteration->next(c.cancellation());
  std::optional<PipelineNote> note;
  if (!next.is_ready())
    note.emplace(c, iteration->pipeline());
  TROUPE_CO_ASSIGN(std::optional<Element> element, co_await std::move(next));
  co_return give(c, std::move(element));
}

template <Give give>
void get_next(KernelContext& c, KernelDone done) {
  auto iteration = iteration_of(c);
  if (!iteration.ok())
    return done(iteration.status());
  Iteration::run(*iteration, [&c, done = std::move(done), iteration = *iteration] {
    when_done<Status>(get(c, iteration, give), done);
  });
}

Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return shape_by_attr(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"IteratorGetNext", "IteratorGetNextSync"})
    library.op(name)
        .input("iterator: resource")
        .output("components: output_types")
        .attr(typed)
        .stateful()
        .roles({Role::side_effect, Role::blocks})
        .shape_fn(infer_shapes)
        .not_differentiable("its outputs come from a dataset")
        .cpu_kernel_async(get_next<give>, {.prepare = prepare})
        .doc("The next element; OUT_OF_RANGE at the end.");
  library.op("IteratorGetNextAsOptional")
      .input("iterator: resource")
      .output("optional: variant")
      .attr(typed)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_scalar)
      .not_differentiable("its output comes from a dataset")
      .cpu_kernel_async(get_next<give_optional>, {.prepare = prepare})
      .doc("An optional with the next element; without value at the end.");
}

} // namespace troupe::data_get_next
