// Between the tasks of a collective: joining, pieces of values, failures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/protocol/collectives.hpp"
#include "actors/protocol/common.hpp"
#include "actors/protocol/message_code.hpp"

namespace troupe {

/// Asks a worker for its task's collectives.
struct FindCollectives {};
struct CollectivesFound {
  CollectivesActor actor;
};
/// A device wants to take part. What all members must say alike, and who it is.
struct JoinCollective {
  std::uint8_t kind = 0, merge = 0, dtype = 0; ///< CollectiveKind, MergeOp, DType
  bool divides = false;
  std::int64_t group_key = 0, instance_key = 0;
  std::int32_t group_size = 0;
  std::vector<std::int64_t> dims;

  std::uint64_t ticket = 0; ///< of the member's call; comes back in CollectiveWaits
  std::string node, device, task;
  std::string session; ///< handle
  std::uint64_t step = 0, frame = 0;
  std::int64_t iteration = 0;
  std::int32_t rank = -1; ///< -1: by the order of device names
  bool is_source = false;
  bool in_step = false; ///< all members are in this one step
  std::int64_t timeout_us = 0;
  bool is_small = false; ///< its value, if it has one, is here
  WireTensor value;
};
/// All members have joined.
struct CollectiveFormed {
  std::uint64_t id = 0;   ///< of this one collective
  std::uint64_t gang = 0; ///< of the steps that compute together
  std::int32_t rank = 0;
  std::int32_t source = -1;         ///< of a broadcast
  std::vector<std::string> devices; ///< full names, by rank
  std::vector<std::string> tasks;   ///< theirs
  bool is_ring = false;             ///< members are on several hosts: each talks to its neighbours
  bool is_small = false;
  std::vector<WireTensor> values; ///< of a small one: by rank
};
/// What a member waits for at its leader, told at times.
struct CollectiveWaits {
  std::uint64_t ticket = 0;
  std::string text; ///< "2 of 3 members of group 7 have reached instance 3: …"
};
/// Which part of the value a piece is.
struct PieceName {
  std::uint8_t phase = 0;   ///< 0: to be merged; 1: a result
  std::int32_t section = 0; ///< whose share
  std::int32_t index = 0;   ///< the part of that share
  friend auto operator<=>(const PieceName&, const PieceName&) = default;
};
struct CollectivePiece {
  std::uint64_t id = 0;
  std::int32_t from = 0; ///< rank
  PieceName name;
  WireTensor part;
};
/// The collectives of those steps fail.
struct AbortCollective {
  std::uint64_t gang = 0;
  StatusMessage status;
};
/// A device's part of a step is over: OK when it has ended well.
struct LeaveCollective {
  std::string session, device;
  std::uint64_t step = 0;
  StatusMessage status;
};

template <class F>
typename F::result_type inspect(F& f, FindCollectives&) {
  return f(caf::meta::type_name("FindCollectives"));
}
template <class F>
typename F::result_type inspect(F& f, CollectivesFound& x) {
  return f(caf::meta::type_name("CollectivesFound"), x.actor);
}
template <class F>
typename F::result_type inspect(F& f, JoinCollective& x) {
  return f(caf::meta::type_name("JoinCollective"), x.kind, x.merge, x.dtype, x.divides, x.group_key,
           x.instance_key, x.group_size, x.dims, x.ticket, x.node, x.device, x.task, x.session,
           x.step, x.frame, x.iteration, x.rank, x.is_source, x.in_step, x.timeout_us, x.is_small,
           x.value);
}
template <class F>
typename F::result_type inspect(F& f, CollectiveFormed& x) {
  return f(caf::meta::type_name("CollectiveFormed"), x.id, x.gang, x.rank, x.source, x.devices,
           x.tasks, x.is_ring, x.is_small, x.values);
}
template <class F>
typename F::result_type inspect(F& f, CollectiveWaits& x) {
  return f(caf::meta::type_name("CollectiveWaits"), x.ticket, x.text);
}
template <class F>
typename F::result_type inspect(F& f, CollectivePiece& x) {
  return f(caf::meta::type_name("CollectivePiece"), x.id, x.from, x.name.phase, x.name.section,
           x.name.index, x.part);
}
template <class F>
typename F::result_type inspect(F& f, AbortCollective& x) {
  return f(caf::meta::type_name("AbortCollective"), x.gang, x.status);
}
template <class F>
typename F::result_type inspect(F& f, LeaveCollective& x) {
  return f(caf::meta::type_name("LeaveCollective"), x.session, x.device, x.step, x.status);
}

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_collectives, troupe::type_block::collectives)
TROUPE_MESSAGE(troupe_collectives, FindCollectives)
TROUPE_MESSAGE(troupe_collectives, CollectivesFound)
TROUPE_MESSAGE(troupe_collectives, JoinCollective)
TROUPE_MESSAGE(troupe_collectives, CollectiveFormed)
TROUPE_MESSAGE(troupe_collectives, CollectivePiece)
TROUPE_MESSAGE(troupe_collectives, AbortCollective)
TROUPE_MESSAGE(troupe_collectives, LeaveCollective)
TROUPE_MESSAGE(troupe_collectives, CollectiveWaits)
CAF_END_TYPE_ID_BLOCK(troupe_collectives)
