#include "kernels/framework/session_tensors.hpp"

#include "core/base/strings.hpp"

namespace troupe {
namespace {

Status missing(const std::string& handle) {
  return invalid_argument(
      str_cat("The tensor with handle '", handle, "' is not in the session store."));
}

} // namespace

// No node's name has a blank in it.
std::shared_ptr<SessionTensors> SessionTensors::of(NodeStates& session) {
  return session.get<SessionTensors>("session tensors", [] { return new SessionTensors; });
}

std::string SessionTensors::keep(std::string_view node, std::string_view device, Tensor value) {
  std::scoped_lock guard(lock_);
  std::string handle = str_cat(node, ";", next_++, ";", device);
  values_.emplace(handle, std::move(value));
  return handle;
}

Result<Tensor> SessionTensors::find(const std::string& handle) const {
  std::scoped_lock guard(lock_);
  const auto found = values_.find(handle);
  return found == values_.end() ? Result<Tensor>(missing(handle)) : found->second;
}

Status SessionTensors::remove(const std::string& handle) {
  Tensor gone; // released outside the lock
  std::scoped_lock guard(lock_);
  const auto found = values_.find(handle);
  if (found == values_.end())
    return invalid_argument(
        str_cat("Failed to delete a tensor with handle '", handle, "' in the session store."));
  gone = std::move(found->second);
  values_.erase(found);
  return {};
}

bool is_tensor_handle(const Tensor& tensor) {
  return tensor.has_value() && tensor.dtype() == DType::resource && tensor.num_elements() == 1 &&
         tensor.data<ResourceHandle>()[0].container == tensor_handle_container;
}

} // namespace troupe
