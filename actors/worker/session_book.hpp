// SessionBook: the sessions that a worker has lent its task's devices to. Plain: knows no actors.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// `Actor` is what a session is reached by.
template <class Actor>
class SessionBook {
public:
  enum class Answer {
    make,   ///< there is none of that handle
    known,  ///< its master asks again: the connection was lost that should have carried the answer
    exists, ///< another master's
    refuse, ///< nothing new is taken, see refusal()
  };
  /// What a request for a session of `handle` by the task `master` gets. A master that does not say
  /// its task cannot ask again.
  Answer asked(const std::string& handle, const std::string& master) const {
    if (!refusal_.ok())
      return Answer::refuse;
    auto it = sessions_.find(handle);
    if (it == sessions_.end())
      return Answer::make;
    return !master.empty() && it->second.master == master ? Answer::known : Answer::exists;
  }
  /// Requires that asked() says so.
  void made(const std::string& handle, const std::string& master, Actor actor) {
    sessions_.emplace(handle, Session{std::move(actor), master});
  }
  /// Null if there is none.
  const Actor* find(const std::string& handle) const {
    auto it = sessions_.find(handle);
    return it == sessions_.end() ? nullptr : &it->second.actor;
  }
  template <class Address>
  void ended(const Address& address) {
    std::erase_if(sessions_, [&](const auto& entry) { return entry.second.actor == address; });
  }

  /// From now on nothing new is taken: the node is about to end.
  void refuse(Status why) { refusal_ = std::move(why); }
  const Status& refusal() const { return refusal_; }

  std::size_t size() const { return sessions_.size(); }
  std::vector<Actor> all() const {
    std::vector<Actor> out;
    for (const auto& [handle, session] : sessions_)
      out.push_back(session.actor);
    return out;
  }

private:
  struct Session {
    Actor actor;
    std::string master;
  };
  std::map<std::string, Session> sessions_; // by handle
  Status refusal_;
};

} // namespace troupe
