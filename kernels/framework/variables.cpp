#include "kernels/framework/variables.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

// In TensorFlow's words, where classes have compilers' names.
std::string missing_variable(KernelContext& c, const ResourceHandle& handle) {
  const std::string name = str_cat(handle.container, "/", handle.name);
  const auto all = c.resources().list();
  if (std::ranges::find(all, handle.container, &ResourceManager::Entry::container) == all.end())
    return str_cat("Container ", handle.container,
                   " does not exist. (Could not find resource: ", name, ")");
  return str_cat("Resource ", name, "/N10tensorflow3VarE does not exist.");
}

} // namespace

Result<const ResourceHandle*> local_handle(KernelContext& c, int i) {
  const Tensor& value = c.input(i);
  if (value.dtype() != DType::resource || value.num_elements() != 1)
    return c.input_handle(i).status(); // says what is wrong
  const ResourceHandle& handle = value.data<ResourceHandle>()[0];
  if (handle.device != c.device().name())
    return invalid_argument(str_cat("Trying to access resource ", handle.name,
                                    " located in device ", handle.device, " from device ",
                                    c.device().name()));
  return &handle;
}

// Numbers only: the variable's owner can change what a reader has been shown.
Tensor snapshot_for(const std::string* receiver, Variable& variable, Rendezvous* rendezvous) {
  Tensor value = variable.snapshot();
  if (!receiver || !rendezvous || !value.has_value() || value.kind() != MemoryKind::host ||
      (value.dtype() != DType::float32 && value.dtype() != DType::float64))
    return value;
  auto memory = rendezvous->variable_memory(*receiver, value.byte_size());
  if (!memory || memory->holds(value.raw()))
    return value;
  value = Tensor{}; // ours would be one more that holds it
  return variable.snapshot_in(memory);
}

Result<Tensor> own(KernelContext& c, Tensor value) {
  constexpr std::size_t largest = std::size_t{4} << 20;
  if (!value.has_value() || is_object(value.dtype()) || value.kind() != MemoryKind::host ||
      value.buffer()->allocator() || value.byte_size() == 0 || value.byte_size() > largest)
    return value;
  TROUPE_ASSIGN(Tensor copy,
                Tensor::allocate(c.device().host_side_allocator(), value.dtype(), value.shape()));
  std::memcpy(copy.mutable_raw(), value.raw(), value.byte_size());
  return copy;
}

Result<std::shared_ptr<Variable>> resource_variable(KernelContext& c, int i) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, i));
  auto looked_up = c.resources().lookup<Variable>(handle->container, handle->name);
  if (looked_up.status().code() == Code::not_found)
    return not_found(missing_variable(c, *handle));
  TROUPE_ASSIGN(auto found, std::move(looked_up));
  if (!found->is_initialized())
    return failed_precondition(str_cat("Resource variable ", handle->name, " of container ",
                                       handle->container,
                                       " exists and holds no value. Run its initializer first"));
  return found;
}

Result<std::shared_ptr<Variable>> readable_variable(KernelContext& c, int i) {
  auto found = resource_variable(c, i);
  if (found.status().code() != Code::not_found)
    return found;
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, i));
  return failed_precondition(
      str_cat("Could not find variable ", handle->name,
              ". This could mean that the variable has been deleted. In TF1, it can also mean the "
              "variable is uninitialized. Debug info: container=",
              handle->container, ", status error message=", found.status().message()));
}

Status set_untyped_output(KernelContext& c, int i, Tensor value) {
  if (value.dtype() == c.output_type(i))
    return c.set_output(i, std::move(value));
  return internal(str_cat("Output ", i, " of type ", to_string(value.dtype()),
                          " does not match declared output type ", to_string(c.output_type(i)),
                          " for node {{node ", c.node_name(), "}}"));
}

Result<ResourceName> resource_name(const PrepareContext& c) {
  ResourceName out{.container = c.attrs().get_or("container", std::string()),
                   .name = c.attrs().get_or("shared_name", std::string())};
  if (out.name.starts_with('_'))
    return invalid_argument(str_cat("shared_name cannot start with '_': ", out.name));
  if (out.name.empty())
    out.name = c.node_name();
  return out;
}

} // namespace troupe
