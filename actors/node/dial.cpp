#include "actors/node/dial.hpp"

#include <algorithm>
#include <thread>

#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/protocol/node.hpp"
#include "core/base/strings.hpp"
#include "net/transport/probe.hpp"

namespace troupe {

namespace {

// A node of another release may differ in all else; it answers with its version.
bool understands_hello(const std::set<std::string>& interface) {
  return std::any_of(interface.begin(), interface.end(), [](const std::string& handler) {
    return handler.find("troupe::Hello") != std::string::npos;
  });
}

// CAF's own remote_actor waits for ever for the greeting of a process that is stopped: its kernel
// accepts connections all the same.
Result<caf::strong_actor_ptr> connect(caf::actor_system& system, const Address& address,
                                      std::chrono::milliseconds budget) {
  Result<caf::strong_actor_ptr> out = internal("no answer");
  caf::scoped_actor self{system};
  self->request(system.middleman().actor_handle(), caf::timespan(budget), caf::connect_atom::value,
                address.host, address.port)
      .receive(
          [&](const caf::node_id&, caf::strong_actor_ptr& actor, std::set<std::string>& interface) {
            if (!actor)
              out = unavailable(str_cat("nothing is published at ", address));
            else if (!understands_hello(interface))
              out = unimplemented(str_cat("what answers at ", address, " is no node of troupe"));
            else
              out = std::move(actor);
          },
          [&](caf::error& error) {
            if (error == caf::sec::request_timeout)
              out = unavailable(str_cat("who listens at ", address, " did not greet within ",
                                        budget.count(),
                                        " ms: it is frozen, overloaded or no node of troupe"));
            else
              out = to_status(error, str_cat("connecting to ", address));
          });
  return out;
}

} // namespace

Result<caf::strong_actor_ptr> dial_guardian(caf::actor_system& system, const Address& address,
                                            std::chrono::milliseconds budget) {
  using namespace std::chrono;
  auto end = steady_clock::now() + budget;
  milliseconds pause{20};
  for (;;) {
    auto left = duration_cast<milliseconds>(end - steady_clock::now());
    Status reachable = probe_tcp(address.host, address.port, std::max(left, milliseconds(1)));
    if (reachable.ok()) {
      left = std::max(duration_cast<milliseconds>(end - steady_clock::now()), milliseconds(1));
      auto guardian = connect(system, address, left);
      if (guardian.ok())
        return guardian;
      Status why = guardian.status();
      if (why.code() == Code::unimplemented || steady_clock::now() >= end)
        return why;
    } else if (steady_clock::now() + pause >= end) {
      return reachable;
    }
    // A task that starts at the same moment may not listen yet: tried again, ever more slowly,
    // until the budget ends.
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(500));
  }
}

} // namespace troupe
