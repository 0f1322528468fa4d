// IteratorToStringHandle, IteratorFromStringHandle, IteratorFromStringHandleV2: an iterator's handle as
// text that a client may feed, a serialised tensorflow.ResourceHandleProto, and back.
#include "kernels/data/internal/handle_text.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data {
namespace {

Status to_text(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("resource_handle must be a scalar");
  TROUPE_TRY(input_resource<IteratorResource>(c, 0).status());
  TROUPE_ASSIGN(const ResourceHandle handle, c.input_handle(0));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  out.mutable_data<std::string>()[0] = text_of_handle(handle);
  return {};
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  IteratorSpec spec;
  spec.types = c.attrs().get_or<std::vector<DType>>("output_types", {});
  spec.shapes = c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {});
  if (!spec.types.empty() && !spec.shapes.empty() && spec.types.size() != spec.shapes.size())
    return invalid_argument(
        "If both 'output_types' and 'output_shapes' are set, they must have the "
        "same length.");
  return prepared(std::move(spec));
}

Status from_text(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("string_handle must be a scalar");
  TROUPE_ASSIGN(ResourceHandle handle, handle_of(c.input(0).data<std::string>()[0]));
  if (handle.device != c.device().name())
    return invalid_argument(str_cat("Attempted create an iterator on device \"", c.device().name(),
                                    "\" from handle defined on device \"", handle.device, "\""));
  TROUPE_ASSIGN(const auto resource,
                c.resources().lookup<IteratorResource>(handle.container, handle.name));
  const auto& spec = c.prepared<IteratorSpec>();
  if (!spec.types.empty())
    TROUPE_TRY(check_types(spec.types, resource->types()));
  if (!spec.shapes.empty())
    TROUPE_TRY(check_shapes(spec.shapes, resource->shapes()));
  return c.set_output(0, Tensor::scalar(std::move(handle)));
}

} // namespace
} // namespace troupe::data

namespace troupe {

void register_data_string_handle(OpLibrary& library) {
  using namespace data;
  library.op("IteratorToStringHandle")
      .input("resource_handle: resource")
      .output("string_handle: string")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(to_text)
      .doc("The handle of an iterator as text that can be fed.");
  for (const char* name : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"})
    library.op(name)
        .input("string_handle: string")
        .output("resource_handle: resource")
        .attr("output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []")
        .stateful()
        .shape_fn(shape_scalar)
        .not_differentiable(no_gradient)
        .cpu_kernel(from_text, {.prepare = prepare})
        .doc("The handle of the iterator that a text names.");
}

} // namespace troupe
