// SessionTable: the gateway's sessions by handle, for gRPC's threads, which hand each call straight
// to its session.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "api/grpc/direct_calls.hpp"
#include "api/grpc/protocol.hpp"

namespace troupe {

/// Any thread.
class SessionTable {
public:
  struct Session {
    GatewaySessionActor actor;
    std::shared_ptr<DirectCalls> direct; ///< null where each step is the actors'
  };
  void add(const std::string& handle, Session session) {
    std::scoped_lock guard(lock_);
    sessions_[handle] = std::move(session);
  }
  void remove(const std::string& handle) {
    Session last; // may end it, outside of the lock
    std::scoped_lock guard(lock_);
    if (auto it = sessions_.find(handle); it != sessions_.end()) {
      last = std::move(it->second);
      sessions_.erase(it);
    }
  }
  /// Without an actor if there is none.
  Session find(const std::string& handle) const {
    std::scoped_lock guard(lock_);
    auto it = sessions_.find(handle);
    return it == sessions_.end() ? Session{} : it->second;
  }
  std::size_t size() const {
    std::scoped_lock guard(lock_);
    return sessions_.size();
  }

private:
  mutable std::mutex lock_; // guards what follows
  std::unordered_map<std::string, Session> sessions_;
};

} // namespace troupe
