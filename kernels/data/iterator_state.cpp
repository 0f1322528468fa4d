// SerializeIterator: where an iterator is, as a variant that a checkpoint can hold.
// DeserializeIterator: an iterator of an equal dataset goes on from there.
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_iterator_state {

using namespace data;

namespace {

constexpr auto variant_type = "tensorflow::Iterator";
constexpr std::int64_t fails = 2; // of external_state_policy: 0 warns, 1 ignores

class IteratorState final : public VariantValue {
public:
  explicit IteratorState(StateEntries entries) : entries_(std::move(entries)) {
    for (const auto& [name, tensor] : entries_)
      note_held(tensor);
  }
  const StateEntries& entries() const { return entries_; }
  // The names, a line each, and their tensors.
  Result<VariantParts> parts() const override {
    VariantParts out;
    for (const auto& [name, tensor] : entries_) {
      str_append(out.metadata, name, "\n");
      out.tensors.push_back(tensor);
    }
    return out;
  }

private:
  StateEntries entries_;
};

Result<StateEntries> state_in(const Variant& variant) {
  if (const auto* state = dynamic_cast<const IteratorState*>(variant.value.get()))
    return state->entries();
  const auto* read = dynamic_cast<const VariantTensors*>(variant.value.get());
  if (!read || variant.type_name != variant_type)
    return internal(str_cat("Cannot initialize an iterator from tensor ", variant.type_name,
                            ". Expected a variant tensor of type IteratorStateVariant"));
  StateEntries out;
  std::size_t at = 0;
  for (std::string_view name : str_split(read->stored().metadata, '\n'))
    if (at < read->stored().tensors.size())
      out[std::string(name)] = read->stored().tensors[at++];
  return out;
}

Async<Status> save(KernelContext& c, std::shared_ptr<Iteration> iteration) {
  const PipelineNote note(c, iteration->pipeline());
  StateEntries entries;
  TROUPE_CO_TRY(co_await iteration->save(entries, c.cancellation()));
  for (const auto& [name, tensor] : entries)
    TROUPE_CO_TRY(check_nesting(tensor));
  Variant state;
  state.type_name = variant_type;
  state.value = std::make_shared<IteratorState>(std::move(entries));
  TROUPE_CO_ASSIGN(Tensor out, c.allocate_output(0, Shape{1}));
  out.mutable_data<Variant>()[0] = std::move(state);
  co_return Status();
}

Result<std::shared_ptr<Iteration>> begun(KernelContext& c, std::string_view what,
                                         std::string_view doing) {
  TROUPE_ASSIGN(const auto resource, input_resource<IteratorResource>(c, 0));
  auto iteration = resource->current();
  if (!iteration)
    return failed_precondition(
        str_cat(what,
                "() failed because the iterator has not been initialized. Ensure that you "
                "have run the initializer operation for this iterator before ",
                doing, " it."));
  return iteration;
}

void serialize(KernelContext& c, KernelDone done) {
  const auto checked = [&]() -> Result<std::shared_ptr<Iteration>> {
    TROUPE_ASSIGN(auto iteration, begun(c, "Save", "saving"));
    TROUPE_ASSIGN(const auto policy, c.attr<std::int64_t>("external_state_policy"));
    if (policy == fails)
      TROUPE_TRY(iteration->dataset()->check_external_state());
    return iteration;
  };
  auto iteration = checked();
  if (!iteration.ok())
    return done(iteration.status());
  const auto pipeline = (*iteration)->pipeline();
  pipeline->submit([&c, done = std::move(done), iteration = *std::move(iteration)] {
    when_done<Status>(save(c, iteration), done);
  });
}

Async<Status> restore(KernelContext& c, std::shared_ptr<Iteration> before, StateEntries from) {
  TROUPE_CO_ASSIGN(const auto resource, input_resource<IteratorResource>(c, 0));
  TROUPE_CO_ASSIGN(auto iteration, begin_iteration(c, before->dataset()));
  const PipelineNote note(c, iteration->pipeline());
  const Status status = co_await iteration->restore(from, c.cancellation());
  if (!status.ok())
    co_return status.derived()
        ? status
        : Status(status.code(),
                 str_cat("Failed to restore dataset iterator from checkpoint: ", status.message(),
                         ". Make sure the dataset definition has not changed "
                         "between the process that saved the checkpoint and the "
                         "process that is restoring it."));
  co_return resource->set(std::move(iteration));
}

void deserialize(KernelContext& c, KernelDone done) {
  StateEntries entries;
  const auto checked = [&]() -> Result<std::shared_ptr<Iteration>> {
    TROUPE_ASSIGN(auto iteration, begun(c, "Restore", "restoring"));
    const auto states = c.input(1).data<Variant>();
    if (states.empty())
      return invalid_argument("`serialized` holds no state of an iterator");
    for (const Variant& state : states) {
      TROUPE_ASSIGN(StateEntries some, state_in(state));
      entries.merge(std::move(some));
    }
    return iteration;
  };
  auto iteration = checked();
  if (!iteration.ok())
    return done(iteration.status());
  const auto pipeline = (*iteration)->pipeline();
  pipeline->submit(
      [&c, done = std::move(done), iteration = *std::move(iteration),
       entries = std::move(entries)] { when_done<Status>(restore(c, iteration, entries), done); });
}

Status shape_of_state(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return c.set_output(0, PartialShape{-1});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SerializeIterator")
      .input("resource_handle: resource")
      .output("serialized: variant")
      .attr("external_state_policy: int = 0")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_of_state)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(serialize)
      .doc("Where the iterator is, as a variant that can be saved.");
  library.op("DeserializeIterator")
      .input("resource_handle: resource; serialized: variant")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(deserialize)
      .doc("Goes on where an iterator of an equal dataset was.");
}

} // namespace troupe::data_iterator_state
