// AnonymousIterator (versions 1 to 3): an iterator without a name. DeleteIterator ends it.
#include "kernels/data/internal/anonymous.hpp"
#include "kernels/data/internal/iterator_resource.hpp"

namespace troupe::data_anonymous_iterator {

using namespace data;

namespace {

Status make(KernelContext& c) {
  const auto& spec = c.prepared<IteratorSpec>();
  return give_anonymous(c, std::make_shared<IteratorResource>(spec.types, spec.shapes));
}

// copy_to_device makes one in a function and finds it by its text in the next.
Status make_lasting(KernelContext& c) {
  const auto& spec = c.prepared<IteratorSpec>();
  TROUPE_ASSIGN(const AnonymousPlace place, anonymous_place(c));
  const auto& [container, name] = place.name;
  const auto make = [&]() -> Result<std::shared_ptr<IteratorResource>> {
    return std::make_shared<IteratorResource>(spec.types, spec.shapes);
  };
  TROUPE_TRY(c.resources().lookup_or_create<IteratorResource>(container, name, make).status());
  return c.set_output(0,
                      Tensor::scalar(make_handle<IteratorResource>(c.device(), container, name)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("AnonymousIterator")
      .output("handle: resource")
      .attr(typed)
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(make_lasting, {.prepare = prepare_elements})
      .doc("The handle of an iterator that lives until DestroyResourceOp or DeleteIterator.");
  library.op("AnonymousIteratorV3")
      .output("handle: resource")
      .attr(typed)
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(make, {.prepare = prepare_elements})
      .doc("The handle of an iterator that lives as long as the step; MakeIterator begins it.");
  library.op("AnonymousIteratorV2")
      .output("handle: resource; deleter: variant")
      .attr(typed)
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(make, {.prepare = prepare_elements})
      .doc("The handle of an iterator that lives as long as the deleter; MakeIterator begins it.");
  library.op("DeleteIterator")
      .input("handle: resource; deleter: variant")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(delete_anonymous<IteratorResource>)
      .doc("Ends an iterator.");
}

} // namespace troupe::data_anonymous_iterator
