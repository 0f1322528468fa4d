// Within a task: its kernels' calls, and work on pieces.
#pragma once

#include <memory>
#include <string>

#include "actors/protocol/local/node.hpp"
#include "actors/protocol/wire/collectives.hpp"

namespace troupe {

class PendingCollective;

/// A kernel's call. Dropped without an answer, it ends the kernel with CANCELLED.
struct BeginCollective {
  std::uint64_t ticket = 0;
  std::shared_ptr<PendingCollective> call;
};
/// The kernel no longer waits.
struct WithdrawCollective {
  std::uint64_t ticket = 0;
};
/// A step in which the device has begun a call has ended there.
struct SeatEnded {
  std::string session, device;
  std::uint64_t step = 0;
  StatusMessage status;
};
/// A compute thread has sent, merged or copied a piece.
struct CollectiveWorked {
  std::uint64_t ticket = 0;
  std::uint64_t job = 0;              ///< 0: it was sent
  std::vector<TicketId> offered = {}; ///< so that it can be taken back
};
/// To oneself: a deadline may have passed.
struct CollectivesDue {};

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_collectives_local, troupe::type_block::collectives_local)
TROUPE_LOCAL_MESSAGE(troupe_collectives_local, BeginCollective)
TROUPE_LOCAL_MESSAGE(troupe_collectives_local, WithdrawCollective)
TROUPE_LOCAL_MESSAGE(troupe_collectives_local, SeatEnded)
TROUPE_LOCAL_MESSAGE(troupe_collectives_local, CollectiveWorked)
TROUPE_LOCAL_MESSAGE(troupe_collectives_local, CollectivesDue)
CAF_END_TYPE_ID_BLOCK(troupe_collectives_local)
