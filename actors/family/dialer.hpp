// A dial as an actor waits for it: made on a thread of its own, because it blocks.
#pragma once

#include <string>
#include <utility>

#include <caf/typed_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/services.hpp"
#include "actors/family/spawn_apart.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// Dials once and ends.
using DialerActor = caf::typed_actor<
    caf::replies_to<caf::connect_atom, std::string, std::uint16_t>::with<caf::strong_actor_ptr>>;
struct DialerState {
  static constexpr const char* name = "dialer";
};
DialerActor::behavior_type dialer(DialerActor::stateful_pointer<DialerState> self,
                                  Services services, DialPatience patience);

/// Calls `done(Result<caf::strong_actor_ptr>)` with the GuardianActor that listens at `address`, as
/// part of `self`.
template <class Self, class Done>
void dial_apart(Self* self, const Services& services, const Address& address,
                const DialPatience& patience, Done done) {
  // A simulated network does not block.
  Result<DialerActor> worker = spawn_apart(
      self, services->network->is_tcp(), str_cat("to dial ", address), dialer, services, patience);
  if (!worker) {
    done(Result<caf::strong_actor_ptr>(worker.status()));
    return;
  }
  self->request(*worker, caf::timespan(patience.budget + services->timeouts.request),
                caf::connect_atom::value, address.host, address.port)
      .then(
          [=](const caf::strong_actor_ptr& guardian) {
            done(Result<caf::strong_actor_ptr>(guardian));
          },
          [=](caf::error& error) {
            done(Result<caf::strong_actor_ptr>(to_status(error, str_cat("dialling ", address))));
          });
}

} // namespace troupe
