// RemoteEdges: where a worker session of a master that is no node of troupe gets the values of
// other tasks. An interface: the gateway's speaks TensorFlow's protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/status.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

/// Safe for any thread.
class RemoteEdges {
public:
  virtual ~RemoteEdges() = default;
  /// Asks `task` for the value under `key`. Calls `done` once, from any thread, also before it
  /// returns: with the value, or why it does not come. The wait ends with the step at the latest.
  virtual void receive(std::uint64_t step_id, const std::string& task, const std::string& key,
                       std::function<void(Result<EdgeValue>)> done) = 0;
  /// Nobody waits for values of the step any more: what was asked for and has not come ends with
  /// CANCELLED.
  virtual void end_step(std::uint64_t step_id) = 0;
};

} // namespace troupe
