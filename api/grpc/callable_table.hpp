// CallableTable: a gRPC session's callables by the handles that its client knows, which count from
// 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

struct GatewayCallable {
  std::uint64_t handle = 0; ///< the master session's; 0: released
  std::size_t num_feeds = 0, num_fetches = 0;
  RunOptions options;
};

class CallableTable {
public:
  std::int64_t add(GatewayCallable callable) {
    callables_.push_back(std::move(callable));
    return static_cast<std::int64_t>(callables_.size()) - 1;
  }
  /// INVALID_ARGUMENT in TensorFlow's words for one that was never made, or is released.
  Result<GatewayCallable*> find(std::int64_t handle) {
    if (handle < 0 || handle >= static_cast<std::int64_t>(callables_.size()))
      return invalid_argument(str_cat("No such callable handle: ", handle));
    GatewayCallable& callable = callables_[static_cast<std::size_t>(handle)];
    if (callable.handle == 0)
      return invalid_argument(
          str_cat("Attempted to run callable after handle was released: ", handle));
    return &callable;
  }

private:
  std::vector<GatewayCallable> callables_;
};

} // namespace troupe
