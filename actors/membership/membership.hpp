// The MEMBERSHIP actor: dials the cluster's tasks and watches over their leases. Protocol:
// actors/protocol/membership.hpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/membership/lease_table.hpp"
#include "actors/protocol/local/node.hpp"

namespace troupe {

struct MembershipState {
  static constexpr const char* name = "membership";
  LeaseTable leases{0};
  Peer own;
  std::map<std::string, Peer> peers;                ///< connected, by task
  std::map<caf::actor_addr, std::string> guardians; ///< whose DOWN means which task
  struct Greeting {
    std::string task;
    int attempt = 1;
  };
  std::map<caf::actor_addr, Greeting>
      greetings; ///< guardians that were reached and asked who they are
  /// Who waits for a task, for how long at the latest; and whether one of them expects it to start.
  struct Dialling {
    std::vector<caf::typed_response_promise<Peer>> waiters;
    std::int64_t due_us = 0;
    bool may_start = false;
  };
  std::map<std::string, Dialling> dialling; ///< by task
  std::map<std::string, int> redials;       ///< of them: to be dialled again, for which time
  std::map<std::string, std::vector<caf::actor_addr>>
      watchers; ///< weak: a watch ends with its watcher
  /// Who beats to us: beaten back unasked, so that a node that dialled us hears of us even while
  /// its own questions wait behind its own bytes.
  struct Listener {
    MembershipActor membership;
    std::int64_t heard_us = 0;
    std::uint64_t incarnation = 0;
  };
  std::map<std::string, Listener> listeners; ///< by task
  /// How often each peer's present incarnation was lost. Both ends of a connection count, and agree
  /// within a heartbeat.
  struct Losses {
    std::uint64_t incarnation = 0;
    std::uint32_t count = 0;
    std::uint64_t dials = 0;    ///< answered ones
    bool agreed = false;        ///< since the last of them: what came before it concerns nobody
    std::int64_t silent_us = 0; ///< that it was when it was given up last; 0: lost otherwise
  };
  std::map<std::string, Losses> losses;
  std::map<std::string, PeerLost> verdicts; ///< by task: how it was lost last
  /// Silent peers that do not acknowledge what we send: if the connection ends next, that is why.
  std::set<std::string> cut;
};

MembershipActor::behavior_type membership(MembershipActor::stateful_pointer<MembershipState> self,
                                          Services services);

} // namespace troupe
