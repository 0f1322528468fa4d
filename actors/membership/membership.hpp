// The MEMBERSHIP actor: dials the cluster's tasks and watches over their leases, as a PeerBook
// decides. Protocol: actors/protocol/membership.hpp.
#pragma once

#include <map>
#include <optional>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/membership/peer_book.hpp"
#include "actors/membership/peer_lines.hpp"
#include "actors/protocol/local/node.hpp"

namespace troupe {

struct MembershipState {
  static constexpr const char* name = "membership";
  std::optional<PeerBook> book; ///< always, once it has begun
  PeerLines lines;
  PeerWatchers watchers;
  std::map<PeerBook::Waiter, caf::typed_response_promise<Peer>> waiting; ///< for a task
  PeerBook::Waiter waiters_made = 0;
  Peer own;
  bool is_leaving = false; ///< in order: what is lost from now on is no news

  ~MembershipState(); ///< who waits is told that nobody dials any more
};

MembershipActor::behavior_type membership(MembershipActor::stateful_pointer<MembershipState> self,
                                          Services services);

} // namespace troupe
