// PeerLines: the actors behind a PeerBook's links and watchers.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "actors/family/address_map.hpp"
#include "actors/membership/peer_book.hpp"

namespace troupe {

/// One actor of a link's other end is monitored, since its DOWN says that the connection is gone:
/// the guardian that we dialled, or the membership that beats to us. The line goes with it.
class PeerLines {
public:
  using Link = PeerBook::Link;

  struct Line {
    caf::strong_actor_ptr guardian; ///< while it is asked who it is
    Peer peer; ///< then; where the other end opened the line, its membership alone
    caf::node_id node() const {
      return peer.membership ? peer.membership->node()
             : guardian      ? guardian->node()
                             : caf::node_id{};
    }
  };

  /// The link that `watched` stands for; 0: none yet.
  Link find(const caf::actor_addr& watched) const {
    auto it = links_.find(watched);
    return it == links_.end() ? 0 : it->second;
  }
  /// In the place of an older one to the same actor. True if that is not monitored yet.
  bool open(Link link, const caf::actor_addr& watched, Line line) {
    auto [it, is_new] = links_.try_emplace(watched, link);
    if (!is_new)
      lines_.erase(std::exchange(it->second, link));
    lines_[link] = std::move(line);
    return is_new;
  }
  /// Null for a link that is closed.
  Line* line(Link link) {
    auto it = lines_.find(link);
    return it == lines_.end() ? nullptr : &it->second;
  }
  void close(const caf::actor_addr& watched) {
    if (auto gone = links_.extract(watched); !gone.empty())
      lines_.erase(gone.mapped());
  }

private:
  AddressMap<Link> links_;
  std::map<Link, Line> lines_;
};

/// Weak: a watch ends with its watcher.
class PeerWatchers {
public:
  /// Returns those that have ended; looked for when they may be half of all.
  std::vector<PeerBook::Watcher> add(const PeerWatcher& watcher) {
    known_[watcher.id()] = watcher.address();
    std::vector<PeerBook::Watcher> ended;
    if (known_.size() < look_at_)
      return ended;
    for (const auto& [id, address] : known_)
      if (!caf::actor_cast<caf::strong_actor_ptr>(address))
        ended.push_back(id);
    for (PeerBook::Watcher id : ended)
      known_.erase(id);
    look_at_ = 2 * known_.size() + 16;
    return ended;
  }
  /// Null if it has ended.
  caf::strong_actor_ptr find(PeerBook::Watcher id) const {
    auto it = known_.find(id);
    return it == known_.end() ? nullptr : caf::actor_cast<caf::strong_actor_ptr>(it->second);
  }

private:
  std::map<PeerBook::Watcher, caf::actor_addr> known_;
  std::size_t look_at_ = 16;
};

} // namespace troupe
