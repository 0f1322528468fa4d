// GetSessionHandle, GetSessionHandleV2, GetSessionTensor, DeleteSessionTensor: a value that stays
// where it was computed, under a handle, until its session ends or deletes it.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/session_tensors.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::state_session_tensor {
namespace {

std::shared_ptr<SessionTensors> session_tensors(KernelContext& c) {
  return SessionTensors::of(*c.step().node_states);
}

Result<std::string> handle_in(KernelContext& c) {
  const Tensor& handle = c.input(0);
  if (handle.num_elements() != 1)
    return invalid_argument(
        str_cat("the handle of a tensor must be a scalar, but its shape is ", handle.shape()));
  return handle.value<std::string>();
}

Status keep(KernelContext& c) {
  TROUPE_ASSIGN(Tensor value, own(c, c.take_input(0)));
  std::string handle = session_tensors(c)->keep(c.node_name(), c.device().name(), std::move(value));
  if (c.output_type(0) == DType::string)
    return c.set_output(0, Tensor::scalar(std::move(handle)));
  return c.set_output(
      0, Tensor::scalar(ResourceHandle{.device = c.device().name(),
                                       .container = std::string(tensor_handle_container),
                                       .name = std::move(handle),
                                       .maybe_type_name = std::string(tensor_handle_container)}));
}

Status find(KernelContext& c) {
  TROUPE_ASSIGN(const std::string handle, handle_in(c));
  TROUPE_ASSIGN(Tensor value, session_tensors(c)->find(handle));
  return set_untyped_output(c, 0, std::move(value));
}

Status remove(KernelContext& c) {
  TROUPE_ASSIGN(const std::string handle, handle_in(c));
  return session_tensors(c)->remove(handle);
}

constexpr auto no_gradient = "its value comes from another step";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("GetSessionHandle")
      .input("value: T")
      .output("handle: string")
      .attr("T: type")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(keep)
      .doc("Keeps the value in the session, and gives its handle.");
  library.op("GetSessionHandleV2")
      .input("value: T")
      .output("handle: resource")
      .attr("T: type")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(keep)
      .doc("Keeps the value in the session, and gives its handle as a resource, whose name is that "
           "of GetSessionHandle.");
  library.op("GetSessionTensor")
      .input("handle: string")
      .output("value: dtype")
      .attr("dtype: type")
      .stateful()
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel(find)
      .doc("The value that the session keeps under a handle.");
  library.op("DeleteSessionTensor")
      .input("handle: string")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(remove)
      .doc("Forgets the value that the session keeps under a handle.");
}

} // namespace troupe::state_session_tensor
