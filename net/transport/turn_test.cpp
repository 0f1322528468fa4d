#include "net/transport/turn.hpp"

#include <doctest/doctest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "net/transport/caller_unit.hpp"
#include "net/transport/step_scheduler.hpp"

namespace troupe {
namespace {

constexpr int slices = 20;

// Works in `slices` slices; tells `other` in its first one. Answers how many it had done when
// `other` got its turn.
caf::behavior busy(caf::event_based_actor* self, caf::actor other, Behind behind) {
  auto done = std::make_shared<int>(0), seen = std::make_shared<int>(-1);
  auto promise = std::make_shared<caf::response_promise>();
  return {
      [=](int) {
        *promise = self->make_response_promise();
        self->send(other, caf::ok_atom::value);
        self->send(self, caf::tick_atom::value);
        return *promise;
      },
      [=](caf::ok_atom) { *seen = *done; },
      [=](caf::tick_atom) {
        if (++*done < slices)
          send_behind(behind, caf::actor_cast<caf::strong_actor_ptr>(self),
                      caf::make_message(caf::tick_atom::value), self->context());
        else
          promise->deliver(*seen);
      },
  };
}

caf::behavior echo(caf::event_based_actor*) {
  return {[](caf::ok_atom) { return caf::ok_atom::value; }};
}

TEST_CASE("an actor that works in slices lets the one it has told something go first") {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 1);
  bool is_own_thread = false;
  Behind behind = Behind::all;
  SUBCASE("on the scheduler's thread") {
    config.load<StepScheduler>();
  }
  SUBCASE("on the scheduler's thread, which wakes no other one") {
    config.load<StepScheduler>();
    behind = Behind::own;
  }
  SUBCASE("on the caller's thread") {
    config.load<StepScheduler>();
    is_own_thread = true;
  }
  caf::actor_system system(config);
  caf::actor other = system.spawn(echo), worker = system.spawn(busy, other, behind);
  caf::scoped_actor self(system);
  CallerUnit unit(system);
  if (is_own_thread)
    self->context(&unit);
  auto request = self->request(worker, std::chrono::minutes(1), 1);
  unit.drain();
  int seen = -1;
  request.receive([&](int value) { seen = value; },
                  [](const caf::error& error) { FAIL(caf::to_string(error)); });
  CHECK(seen >= 0);
  CHECK(seen <= 2);
  caf::anon_send_exit(other, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
}

} // namespace
} // namespace troupe
