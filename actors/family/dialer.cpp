#include "actors/family/dialer.hpp"

#include <caf/stateful_actor.hpp>

namespace troupe {

DialerActor::behavior_type dialer(DialerActor::stateful_pointer<DialerState> self,
                                  Services services, DialPatience patience) {
  guard_actor(self);
  return {[=](caf::connect_atom, const std::string& host,
              std::uint16_t port) -> caf::result<caf::strong_actor_ptr> {
    self->quit();
    auto guardian = services->network->dial(self->system(), Address{host, port}, patience);
    if (!guardian.ok())
      return to_error(guardian.status());
    return *guardian;
  }};
}

} // namespace troupe
