// GetSessionHandle, GetSessionHandleV2, GetSessionTensor, DeleteSessionTensor: a value that stays where
// it was computed, under a handle, until its session ends or deletes it.
#include <mutex>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe {
namespace {

/// The values that a session keeps on this task.
class SessionTensors {
public:
  std::string keep(const std::string& node, const std::string& device, Tensor value) {
    std::scoped_lock guard(lock_);
    std::string handle = str_cat(node, ";", next_++, ";", device);
    values_.emplace(handle, std::move(value));
    return handle;
  }
  Result<Tensor> find(const std::string& handle) const {
    std::scoped_lock guard(lock_);
    auto found = values_.find(handle);
    if (found == values_.end())
      return missing(handle);
    return found->second;
  }
  Status remove(const std::string& handle) {
    std::scoped_lock guard(lock_);
    return values_.erase(handle) > 0 ? Status{} : missing(handle);
  }

private:
  static Status missing(const std::string& handle) {
    return invalid_argument(
        str_cat("The tensor with handle '", handle, "' is not in the session store."));
  }
  mutable std::mutex lock_;
  std::uint64_t next_ = 0;
  std::map<std::string, Tensor> values_;
};

/// No node's name has a blank in it.
std::shared_ptr<SessionTensors> session_tensors(KernelContext& c) {
  return c.step().node_states->get<SessionTensors>("session tensors",
                                                   [] { return new SessionTensors; });
}

Result<std::string> handle_in(KernelContext& c) {
  const Tensor& handle = c.input(0);
  if (handle.num_elements() != 1)
    return invalid_argument(
        str_cat("the handle of a tensor must be a scalar, but its shape is ", handle.shape()));
  return handle.value<std::string>();
}

constexpr std::string_view handle_type = "TensorHandle";

Status keep(KernelContext& c) {
  TROUPE_ASSIGN(Tensor value, own(c, c.take_input(0)));
  std::string handle = session_tensors(c)->keep(c.node_name(), c.device().name(), std::move(value));
  if (c.output_type(0) == DType::string)
    return c.set_output(0, Tensor::scalar(std::move(handle)));
  return c.set_output(0,
                      Tensor::scalar(ResourceHandle{.device = c.device().name(),
                                                    .container = std::string(handle_type),
                                                    .name = std::move(handle),
                                                    .maybe_type_name = std::string(handle_type)}));
}

Status find(KernelContext& c) {
  TROUPE_ASSIGN(const std::string handle, handle_in(c));
  TROUPE_ASSIGN(Tensor value, session_tensors(c)->find(handle));
  if (value.dtype() != c.output_type(0))
    return invalid_argument(str_cat("the tensor with handle '", handle, "' has dtype ",
                                    to_string(value.dtype()), ", not ",
                                    to_string(c.output_type(0))));
  return c.set_output(0, std::move(value));
}

Status remove(KernelContext& c) {
  TROUPE_ASSIGN(const std::string handle, handle_in(c));
  return session_tensors(c)->remove(handle);
}

constexpr auto no_gradient = "its value comes from another step";

} // namespace

void register_state_session_tensor(OpLibrary& library) {
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

} // namespace troupe
