// A SESSION's line to its master: whether that lives, what its loss is called, and who goes on in
// its place.
#pragma once

#include "actors/session/session.hpp"

namespace troupe {

using SessionSelf = SessionActor::stateful_pointer<SessionState>;

/// Why a request is refused; OK: it is not.
Status refusal(const SessionState& state);
/// "task /job:… , the master of session …,"
std::string master_name(const SessionState& state);
/// Ends what is under way with `why`, and what comes later.
void master_lost(SessionSelf self, const Status& why);
/// Says that we live, and learns that the master does.
void speak(SessionSelf self, const Services& services);
/// Its master session or its guardian has ended: another one goes on, or it is lost.
void master_ended(SessionSelf self, const Services& services, const caf::down_msg& down);
/// Where the master was, at most one dial at a time.
void look_for_master(SessionSelf self, const Services& services);
/// A quarter of the lease has passed.
void renew(SessionSelf self, const Services& services);

} // namespace troupe
