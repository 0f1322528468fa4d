// SessionTable: the gateway's sessions by handle, for gRPC's threads, which hand each call straight to its
// session.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "api/grpc/protocol.hpp"

namespace troupe {

/// Any thread.
class SessionTable {
public:
  void add(const std::string& handle, GatewaySessionActor session) {
    std::scoped_lock guard(lock_);
    sessions_[handle] = std::move(session);
  }
  void remove(const std::string& handle) {
    GatewaySessionActor last; // may end it, outside of the lock
    std::scoped_lock guard(lock_);
    if (auto it = sessions_.find(handle); it != sessions_.end()) {
      last = std::move(it->second);
      sessions_.erase(it);
    }
  }
  /// Null if there is none.
  GatewaySessionActor find(const std::string& handle) const {
    std::scoped_lock guard(lock_);
    auto it = sessions_.find(handle);
    return it == sessions_.end() ? GatewaySessionActor{} : it->second;
  }
  std::size_t size() const {
    std::scoped_lock guard(lock_);
    return sessions_.size();
  }

private:
  mutable std::mutex lock_; // guards what follows
  std::unordered_map<std::string, GatewaySessionActor> sessions_;
};

} // namespace troupe
