// The COLLECTIVES actor: calls of this task's kernels, and the groups that it leads. Protocol:
// actors/protocol/collectives.hpp.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <caf/typed_response_promise.hpp>

#include "actors/collectives/exchange.hpp"
#include "actors/collectives/groups.hpp"
#include "actors/collectives/pending.hpp"
#include "actors/family/services.hpp"

namespace troupe {

/// A call of one of our kernels.
///
///   joining ──CollectiveFormed──▶ exchanging pieces ──▶ answered
///      └──small value, error─────────┴──error, withdrawn──▲
struct MemberCall {
  std::shared_ptr<PendingCollective> pending;
  std::string leader;               ///< its task
  std::int64_t due_us = 0;          ///< 0: never
  std::uint64_t id = 0;             ///< of the collective; 0: it has not formed, or is small
  std::uint64_t gang = 0;           ///< 0: it has not formed yet
  std::vector<std::string> tasks;   ///< by rank
  std::vector<std::string> devices; ///< by rank
  int rank = -1;
  std::optional<CollectiveExchange> exchange; ///< none while it joins
  std::string waits_for;                      ///< while it joins: as its leader says
  int sending = 0;                            ///< pieces that a compute thread is sending
  std::vector<TicketId> offered;              ///< to be taken back if it fails
};

/// A member that waits for its group, at its leader.
struct WaitingJoin {
  caf::typed_response_promise<CollectiveFormed> promise;
  caf::strong_actor_ptr member; ///< its COLLECTIVES
  std::uint64_t ticket = 0;     ///< its call there
  std::string told;             ///< what it was told that it waits for
  bool is_small = false;
  WireTensor value;
};

/// The COLLECTIVES of another task.
struct CollectivePeer {
  using Found = std::function<void(const Status&, const CollectivesActor&)>;
  CollectivesActor actor; ///< null while it is looked for
  std::vector<Found> waiting;
};

/// Remembers the latest few of many.
template <class Value>
class Recent {
public:
  explicit Recent(std::size_t most) : most_(most) {}
  void add(std::uint64_t key, Value value) {
    if (!values_.emplace(key, std::move(value)).second)
      return;
    order_.push_back(key);
    if (order_.size() > most_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
  }
  const Value* find(std::uint64_t key) const {
    auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
  }

private:
  std::size_t most_;
  std::deque<std::uint64_t> order_;
  std::unordered_map<std::uint64_t, Value> values_;
};

struct CollectivesState {
  static constexpr const char* name = "collectives";
  std::map<std::uint64_t, MemberCall> calls;                ///< by ticket
  std::unordered_map<std::uint64_t, std::uint64_t> tickets; ///< by receiver's id, see piece_id
  /// Pieces that came before their call has formed here, oldest first.
  std::deque<std::pair<std::int64_t, CollectivePiece>> early;
  std::size_t early_bytes = 0;  ///< in those messages themselves
  Recent<bool> dropped{4096};   ///< ids of which such pieces were dropped
  Recent<bool> ended{4096};     ///< ids: what still comes for them is dropped
  Recent<Status> aborted{1024}; ///< gangs: what still forms of them fails
  /// Leaders that a device's part of a step has joined at.
  std::map<std::tuple<std::string, std::uint64_t, std::string>, std::set<std::string>> seats;
  std::map<std::string, CollectivePeer> peers; ///< by task

  std::optional<CollectiveGroups> groups; ///< that we lead
  std::map<CollectiveGroups::Waiter, WaitingJoin> joins;
  CollectiveGroups::Waiter last_waiter = 0;

  std::shared_ptr<CollectiveNotes> notes;
  std::int64_t due_posted_us = 0; ///< of the CollectivesDue under way; 0: none

  CollectivesState() = default;
  ~CollectivesState();
};

CollectivesActor::behavior_type
collectives(CollectivesActor::stateful_pointer<CollectivesState> self, Services services,
            MembershipActor membership, TransportActor transport,
            std::shared_ptr<CollectiveNotes> notes);

} // namespace troupe
