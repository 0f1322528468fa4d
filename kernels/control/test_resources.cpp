// Resources of TensorFlow's own tests: a handle, and what makes, looks for and uses the thing
// behind it.
#include <algorithm>

#include "core/base/strings.hpp"
#include "devices/device.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::control_test_resources {
namespace {

constexpr auto anonymous = "_anonymous_"; // so begin the names of resources that have none
constexpr auto type_name = "N10tensorflow12StubResourceE"; // as TensorFlow's messages have it

struct Stub final : Resource {
  std::string description() const override { return "stub"; }
};

std::string named(const ResourceHandle& handle) {
  return str_cat(handle.container, "/", handle.name);
}

Status give_handle(KernelContext& c) {
  std::string container = c.attrs().get_or<std::string>("container", "");
  if (container.empty())
    container = c.resources().default_container();
  return c.set_output(
      0, Tensor::scalar(make_handle<Stub>(c.device(), std::move(container),
                                          c.attrs().get_or<std::string>("shared_name", ""))));
}

Status create(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  bool is_new = false;
  const auto make = [&]() -> Result<std::shared_ptr<Stub>> {
    is_new = true;
    return std::make_shared<Stub>();
  };
  TROUPE_TRY(c.resources().lookup_or_create<Stub>(handle->container, handle->name, make).status());
  return is_new ? Status() : already_exists(str_cat("Resource ", named(*handle), "/", type_name));
}

Status is_initialized(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  return c.set_output(
      0, Tensor::scalar(c.resources().lookup<Stub>(handle->container, handle->name).ok()));
}

Status use(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  if (c.resources().lookup<Stub>(handle->container, handle->name).ok())
    return {};
  const auto all = c.resources().list();
  const bool is_there =
      std::ranges::find(all, handle->container, &ResourceManager::Entry::container) != all.end();
  return not_found(
      is_there ? str_cat("Resource ", named(*handle), "/", type_name, " does not exist.")
               : str_cat("Container ", handle->container,
                         " does not exist. (Could not find resource: ", named(*handle), ")"));
}

// A handle without its resource's type is a weak one.
Status is_counting(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle handle, c.input_handle(0));
  return c.set_output(0,
                      Tensor::scalar(handle.name.starts_with(anonymous) && handle.hash_code != 0));
}

Status make_weak(KernelContext& c) {
  TROUPE_ASSIGN(ResourceHandle handle, c.input_handle(0));
  handle.hash_code = 0;
  return c.set_output(0, Tensor::scalar(std::move(handle)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StubResourceHandleOp")
      .output("resource: resource")
      .attr("container: string = ''; shared_name: string = ''")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(give_handle)
      .doc("The handle of a thing without contents.");
  library.op("ResourceCreateOp")
      .input("resource: resource")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel(create)
      .doc("Makes the thing behind the handle.");
  library.op("ResourceInitializedOp")
      .input("resource: resource")
      .output("initialized: bool")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("its output is no number")
      .cpu_kernel(is_initialized)
      .doc("Whether the thing behind the handle was made.");
  library.op("ResourceUsingOp")
      .input("resource: resource")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel(use)
      .doc("Fails where the thing behind the handle was not made.");
  library.op("IsResourceHandleRefCounting")
      .input("handle: resource")
      .output("result: bool")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("its output is no number")
      .cpu_kernel(is_counting)
      .doc("Whether the handle names a resource that lives as long as its handles.");
  library.op("MakeWeakResourceHandle")
      .input("handle: resource")
      .output("dup: resource")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("handles have no gradient")
      .cpu_kernel(make_weak)
      .doc("The same handle, by which the resource is found as long as others keep it.");
}

} // namespace troupe::control_test_resources
