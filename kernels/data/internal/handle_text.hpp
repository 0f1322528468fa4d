// Handles of iterators as texts, which clients may feed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/strings.hpp"
#include "kernels/data/internal/dataset.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::data {

/// A serialised tensorflow.ResourceHandleProto.
std::string text_of_handle(const ResourceHandle& handle);
/// INVALID_ARGUMENT "Could not parse string_handle as a valid ResourceHandle".
Result<ResourceHandle> handle_of(std::string_view text);

/// Kernel: the text of the handle of an iterator, of class I, that is input 0.
template <class I>
Status give_text_of_handle(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("resource_handle must be a scalar");
  TROUPE_TRY(input_resource<I>(c, 0).status());
  TROUPE_ASSIGN(const ResourceHandle handle, c.input_handle(0));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  out.mutable_data<std::string>()[0] = text_of_handle(handle);
  return {};
}

/// Kernel: the handle in the text that is input 0. INVALID_ARGUMENT for one of another device, or
/// of an iterator, of class I, with other elements than attributes say, where they say something.
template <class I>
Status give_handle_of_text(KernelContext& c) {
  TROUPE_ASSIGN(const auto text, scalar_input<std::string>(c, 0));
  TROUPE_ASSIGN(ResourceHandle handle, handle_of(text));
  if (handle.device != c.device().name())
    return invalid_argument(str_cat("Attempted create an iterator on device \"", c.device().name(),
                                    "\" from handle defined on device \"", handle.device, "\""));
  TROUPE_ASSIGN(const auto resource, c.resources().lookup<I>(handle.container, handle.name));
  const auto types = c.attrs().get_or<std::vector<DType>>("output_types", {});
  const auto shapes = c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {});
  if (!types.empty() && !shapes.empty() && types.size() != shapes.size())
    return invalid_argument(
        "If both 'output_types' and 'output_shapes' are set, they must have the same length.");
  if (!types.empty())
    TROUPE_TRY(check_types(types, resource->types()));
  if (!shapes.empty())
    TROUPE_TRY(check_shapes(shapes, resource->shapes()));
  return c.set_output(0, Tensor::scalar(std::move(handle)));
}

} // namespace troupe::data
