#include "actors/node/dial.hpp"

#include <algorithm>
#include <thread>

#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/node/dial_attempts.hpp"
#include "actors/protocol/local/node.hpp"
#include "core/base/strings.hpp"
#include "net/transport/guarded_network.hpp"
#include "net/transport/stop_event.hpp"
#include "net/transport/tcp_dial.hpp"

namespace troupe {

namespace {

// A node of another release may differ in all else; it answers with its version.
bool understands_hello(const std::set<std::string>& interface) {
  return std::any_of(interface.begin(), interface.end(), [](const std::string& handler) {
    return handler.find("troupe::Hello") != std::string::npos;
  });
}

constexpr std::chrono::milliseconds look_at_stop{50};

Status given_up(const Address& address) {
  return unavailable(
      str_cat("connecting to ", address, " was given up, since who asked is shutting down"));
}

// A dial's time, and what of it passed before somebody listened.
struct Waited {
  std::chrono::milliseconds before, greeting;

  Status no_greeting(const Address& address) const {
    const auto whole = (before + greeting).count();
    if (greeting < DialAttempts::shortest_verdict && before > greeting)
      return unavailable(str_cat("nobody could be reached at ", address, " for ", before.count(),
                                 " ms; who listens there now had too little time to greet, ",
                                 greeting.count(), " of ", whole, " ms: try again"));
    return unavailable(str_cat("who listens at ", address, " did not greet within ", whole,
                               " ms: it is frozen, overloaded or no node of troupe"));
  }
};

// CAF's own remote_actor waits for ever for the greeting of a process that is stopped: its kernel
// accepts connections all the same.
Result<caf::strong_actor_ptr> greet(caf::actor_system& system, const Address& address,
                                    data::Fd connected, const Waited& waited,
                                    const StopEvent* stop) {
  const auto introduction =
      GuardedNetwork::of(system).introduce(address.host, address.port, std::move(connected));
  Result<caf::strong_actor_ptr> out = internal("no answer");
  caf::scoped_actor self{system};
  auto greeting = self->request(system.middleman().actor_handle(), caf::timespan(waited.greeting),
                                caf::connect_atom::value, address.host, address.port);
  // The answer is the only message that comes, so the mailbox is watched for it. A mailbox cannot
  // be polled together with an event: looked at in turn.
  if (stop)
    while (!self->await_data(std::chrono::high_resolution_clock::now() + look_at_stop))
      if (stop->is_set())
        return given_up(address);
  std::move(greeting).receive(
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
          out = waited.no_greeting(address);
        else if (error == caf::sec::disconnect_during_handshake)
          out = unavailable(str_cat("who listens at ", address,
                                    " closed the connection without a greeting: all its "
                                    "connections are taken (`connections` in [troupe], or its "
                                    "file descriptors), or it is no node of troupe"));
        else if (error == caf::sec::malformed_basp_message ||
                 error == caf::sec::serializing_basp_payload_failed ||
                 error == caf::sec::incompatible_versions ||
                 error == caf::sec::incompatible_application_ids)
          out = unimplemented(str_cat("what answers at ", address, " is no node of troupe"));
        else
          out = to_status(error, str_cat("connecting to ", address));
      });
  return out;
}

} // namespace

Result<caf::strong_actor_ptr> dial_guardian(caf::actor_system& system, const Address& address,
                                            const DialPatience& patience, const DialMeans& means) {
  using namespace std::chrono;
  const auto began = steady_clock::now(), end = began + patience.budget;
  auto left = [&] {
    return std::max(ceil<milliseconds>(end - steady_clock::now()), milliseconds(1));
  };
  DialAttempts attempts;
  const StopEvent* stop = means.stop;
  for (;;) {
    milliseconds had = left();
    Result<Address> place = means.find ? means.find(address, had, stop) : address;
    if (place.status().code() == Code::unimplemented && means.foreign)
      return means.foreign(system, address, left());
    if (place.ok())
      had = left();
    Result<data::Fd> connected = place.ok() ? dial_tcp(place->host, place->port, had, stop)
                                            : Result<data::Fd>(place.status());
    if (connected.ok()) {
      had = left();
      const Waited waited{duration_cast<milliseconds>(steady_clock::now() - began), had};
      auto guardian = greet(system, *place, *std::move(connected), waited, stop);
      if (guardian.ok() || guardian.status().code() == Code::unimplemented)
        return guardian;
      attempts.failed(guardian.status(), had);
    } else {
      attempts.failed(connected.status(), had);
    }
    if (stop && stop->is_set())
      return given_up(address);
    if (!patience.may_start ||
        !attempts.may_go_on(duration_cast<milliseconds>(end - steady_clock::now())))
      return attempts.verdict();
    // Without a `stop` nothing could wake this thread, so it sleeps.
    if (stop)
      stop->wait_for(attempts.pause());
    else
      std::this_thread::sleep_for(attempts.pause());
    attempts.rested();
  }
}

} // namespace troupe
