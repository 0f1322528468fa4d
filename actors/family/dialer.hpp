// A dial as an actor waits for it: made on a thread of its own, because it blocks.
#pragma once

#include <string>
#include <utility>

#include <caf/typed_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/services.hpp"
#include "core/base/no_thread.hpp"
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
  DialerActor worker;
  if (!services->network->is_tcp()) { // a simulated one does not block
    worker = self->spawn(dialer, services, patience);
  } else {
    try {
      worker = self->template spawn<caf::detached>(dialer, services, patience);
    } catch (const std::system_error& refused) {
      // CAF has counted the thread before it made it, and would wait for its end.
      self->system().dec_detached_threads();
      done(Result<caf::strong_actor_ptr>(no_thread(refused, str_cat("to dial ", address))));
      return;
    }
  }
  self->request(worker, caf::timespan(patience.budget + services->timeouts.request),
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
