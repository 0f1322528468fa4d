// SessionTensors: values that a session keeps on a task, each under a handle, until it deletes them
// or ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "kernels/framework/context.hpp"

namespace troupe {

/// Any thread.
class SessionTensors {
public:
  /// Those of a session.
  static std::shared_ptr<SessionTensors> of(NodeStates& session);

  /// Its handle, "NODE;NUMBER;DEVICE".
  std::string keep(std::string_view node, std::string_view device, Tensor value);
  /// INVALID_ARGUMENT "The tensor with handle 'h' is not in the session store."
  Result<Tensor> find(const std::string& handle) const;
  Status remove(const std::string& handle);

private:
  mutable std::mutex lock_;
  std::uint64_t next_ = 0;
  std::map<std::string, Tensor> values_;
};

/// A handle as a resource has this container, and the handle as its name.
inline constexpr std::string_view tensor_handle_container = "TensorHandle";
/// Whether the tensor is such a resource. A step may be fed one in place of the value.
bool is_tensor_handle(const Tensor& tensor);

} // namespace troupe
