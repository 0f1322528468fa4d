// IteratorToStringHandle, IteratorFromStringHandle, IteratorFromStringHandleV2: an iterator's
// handle as text that a client may feed, a serialised tensorflow.ResourceHandleProto, and back.
#include "kernels/data/internal/handle_text.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_string_handle {

void register_ops(OpLibrary& library) {
  using namespace data;
  library.op("IteratorToStringHandle")
      .input("resource_handle: resource")
      .output("string_handle: string")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(give_text_of_handle<IteratorResource>)
      .doc("The handle of an iterator as text that can be fed.");
  for (const char* name : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"})
    library.op(name)
        .input("string_handle: string")
        .output("resource_handle: resource")
        .attr("output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []")
        .stateful()
        .shape_fn(shape_scalar)
        .not_differentiable(no_gradient)
        .cpu_kernel(give_handle_of_text<IteratorResource>)
        .doc("The handle of the iterator that a text names.");
}

} // namespace troupe::data_string_handle
