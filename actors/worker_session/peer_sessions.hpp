// PeerSessions: what a worker session knows of its master session's parts on other tasks. Knows no
// actors: handles are opaque.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace troupe {

/// `Found` tells of a session, whose handle is its member `session`. `Peers` is what steps begin
/// with, shared and not written any more: `receivers`, a map from task to handle, and `senders`, a
/// set of tasks.
template <class Found, class Peers>
class PeerSessions {
public:
  using Session = decltype(Found::session);

  /// Null for a task that was not found yet, or was lost since.
  const Found* find(const std::string& task) const {
    auto it = found_.find(task);
    return it == found_.end() ? nullptr : &it->second;
  }
  void found(const std::string& task, Found session) { found_[task] = std::move(session); }
  /// `session` has acknowledged that we asked: it sends unasked from now on. One that was lost
  /// meanwhile does not.
  void acknowledged(const std::string& task, const Session& session) {
    const Found* known = find(task);
    if (known && known->session == session && !edges_->senders.count(task))
      change([&](Peers& peers) { peers.senders.insert(task); });
  }
  /// A task asks for values. True if it was not known to: steps that have begun are told.
  bool asked_by(const std::string& task, const Session& session) {
    auto known = edges_->receivers.find(task);
    if (!session || (known != edges_->receivers.end() && known->second == session))
      return false;
    change([&](Peers& peers) { peers.receivers[task] = session; });
    return true;
  }
  /// The connection to a receiver has ended.
  template <class P>
  void receiver_ended(P is_it) {
    change([&](Peers& peers) {
      std::erase_if(peers.receivers, [&](const auto& known) { return is_it(known.second); });
    });
  }
  void lost(const std::string& task) {
    found_.erase(task);
    change([&](Peers& peers) {
      peers.receivers.erase(task);
      peers.senders.erase(task);
    });
  }

  /// What the next step begins with; never null.
  const std::shared_ptr<const Peers>& edges() const { return edges_; }

private:
  template <class F>
  void change(F change) {
    auto next = std::make_shared<Peers>(*edges_);
    change(*next);
    edges_ = std::move(next);
  }

  std::map<std::string, Found> found_;
  std::shared_ptr<const Peers> edges_ = std::make_shared<Peers>();
};

} // namespace troupe
