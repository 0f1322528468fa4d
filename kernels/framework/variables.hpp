// Resource variables: their handles, and the variable behind one.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>

#include "kernels/framework/context.hpp"

namespace troupe {

/// Names the resource of type T of that container and name on a device.
template <class T>
ResourceHandle make_handle(const Device& device, std::string container, std::string name) {
  return {.device = device.name(),
          .container = std::move(container),
          .name = std::move(name),
          .hash_code = typeid(T).hash_code(),
          .maybe_type_name = typeid(T).name()};
}

/// The handle in input i, for a resource of this device; lives as long as the input.
/// INVALID_ARGUMENT if it belongs to another.
Result<const ResourceHandle*> local_handle(KernelContext& c, int i);
/// The variable whose handle is input i, to be changed or looked at. NOT_FOUND "Resource … does not
/// exist." or "Container … does not exist. …" if it was not assigned yet, or destroyed;
/// FAILED_PRECONDITION if it holds no value.
Result<std::shared_ptr<Variable>> resource_variable(KernelContext& c, int i);
/// The same for those who read it whole: FAILED_PRECONDITION "Could not find variable …" where the
/// other says NOT_FOUND, as TensorFlow tells them apart.
Result<std::shared_ptr<Variable>> readable_variable(KernelContext& c, int i);
/// The variable's value. If it goes to the task `receiver` (not null), and that can read it where
/// it lies, it lies there from now on. `rendezvous` may be null.
Tensor snapshot_for(const std::string* receiver, Variable& variable, Rendezvous* rendezvous);
/// What a variable may keep of `value`: itself, or, of what lies in a peer's memory or a file's and
/// is at most as large as what peers lend and show (4 MiB), a copy in the device's own. So a
/// variable holds neither the slots it came in nor its owner's memory. RESOURCE_EXHAUSTED when
/// there is no room.
Result<Tensor> own(KernelContext& c, Tensor value);
/// Output i, of what was kept under a handle and may be of another dtype. INTERNAL "Output 0 of
/// type float does not match declared output type int32 for node {{node n}}" then.
Status set_untyped_output(KernelContext& c, int i, Tensor value);

/// Container and name of the resource that a node makes: attributes `container` (empty: the
/// device's default) and `shared_name`, or the node's name where that is empty. INVALID_ARGUMENT
/// for a shared_name that starts with '_'.
struct ResourceName {
  std::string container, name;
};
Result<ResourceName> resource_name(const PrepareContext& c);

} // namespace troupe
