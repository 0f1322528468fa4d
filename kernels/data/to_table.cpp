// InitializeTableFromDataset: the elements of a dataset, pairs of scalars, as the entries of a
// table.
#include "devices/resource/batches.hpp"
#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/lookup/internal/initializable.hpp"

namespace troupe::data_to_table {

using namespace data;

namespace {

Status check_dataset(const Dataset& dataset, const LookupTable::Spec& spec) {
  if (dataset.types().size() != 2)
    return invalid_argument("Dataset should have two output types only");
  const auto check = [&](std::size_t i, std::string_view what, DType expected) -> Status {
    if (dataset.types()[i] != expected)
      return invalid_argument(str_cat(what, " dtype expected: ", to_string(expected),
                                      " but obtained: ", to_string(dataset.types()[i]),
                                      " from the dataset"));
    if (i < dataset.shapes().size() && !dataset.shapes()[i].is_compatible_with(Shape{}))
      return invalid_argument(
          str_cat("Expected scalar for ", what, ". Obtained: ", text_of(dataset.shapes()[i])));
    return {};
  };
  TROUPE_TRY(check(0, "Key", spec.key));
  return check(1, "Value", spec.value);
}

Async<Status> fill(KernelContext& c, std::shared_ptr<LookupTable> table,
                   std::shared_ptr<Iteration> iteration) {
  const PipelineNote note(c, iteration->pipeline());
  ElementPull pull(iteration->pipeline(), c.cancellation());
  Allocator& memory = iteration->pipeline()->memory();
  Elements elements(memory);
  for (;;) {
    TROUPE_CO_TRY(co_await pull.breathe());
    TROUPE_CO_ASSIGN(std::optional<Element> element, co_await iteration->next(c.cancellation()));
    if (!element)
      break;
    TROUPE_CO_TRY(check_element({table->spec().key, table->spec().value},
                                {PartialShape(Shape{}), PartialShape(Shape{})}, *element));
    TROUPE_CO_TRY(elements.push(*std::move(element)));
  }
  std::vector<Tensor> keys, values;
  for (const Element& element : elements) {
    keys.push_back(element[0]);
    values.push_back(element[1]);
  }
  TROUPE_CO_ASSIGN(const Tensor all_keys, stack_rows(keys, table->spec().key, Shape{}, memory));
  TROUPE_CO_ASSIGN(const Tensor all_values,
                   stack_rows(values, table->spec().value, Shape{}, memory));
  const Status filled = table->initialize(all_keys, all_values);
  // Another session, or an earlier step, may have filled it.
  co_return filled.code() == Code::failed_precondition && table->is_initialized() ? Status()
                                                                                  : filled;
}

void fill_table(KernelContext& c, KernelDone done) {
  with_iteration(
      c, std::move(done),
      [](KernelContext& in, std::shared_ptr<Iteration> iteration) -> Result<Async<Status>> {
        TROUPE_ASSIGN(auto table, lookup::initializable_table(in));
        TROUPE_TRY(check_dataset(*iteration->dataset(), table->spec()));
        return fill(in, std::move(table), std::move(iteration));
      },
      1);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("InitializeTableFromDataset")
      .input("table_handle: resource; dataset: variant")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn([](ShapeContext& c) -> Status {
        TROUPE_TRY(c.require_rank(0, 0));
        return c.require_rank(1, 0);
      })
      .not_differentiable("what a table holds has no gradient")
      .cpu_kernel_async(fill_table)
      .doc("Fills a HashTable with the elements of a dataset, a key and a value each.");
}

} // namespace troupe::data_to_table
