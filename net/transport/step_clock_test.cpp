#include "net/transport/step_clock.hpp"

#include <doctest/doctest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "core/base/coarse_clock.hpp"
#include "net/transport/step_scheduler.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

// Answers an int, and leaves a tick unanswered.
caf::behavior half_silent(caf::event_based_actor* self) {
  auto kept = std::make_shared<std::vector<caf::response_promise>>();
  return {[](int x) { return x + 1; },
          [=](caf::tick_atom) {
            kept->push_back(self->make_response_promise());
            return kept->back();
          }};
}

struct ClockRig {
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  caf::actor peer;
  ~ClockRig() { caf::anon_send_exit(std::move(peer), caf::exit_reason::kill); } // it holds itself
  ClockRig() {
    config.load<StepScheduler>();
    system = std::make_unique<caf::actor_system>(config);
    peer = system->spawn(half_silent);
  }
  StepClock& clock() { return dynamic_cast<StepClock&>(system->clock()); }
};

TEST_CASE("a request that is not answered ends with its budget, the shortest first") {
  ClockRig rig;
  const caf::actor& peer = rig.peer;
  caf::scoped_actor self(*rig.system);
  auto late = self->request(peer, caf::timespan(1h), caf::tick_atom::value);
  auto soon = self->request(peer, caf::timespan(20ms), caf::tick_atom::value);
  bool has_ended = false;
  soon.receive([] {}, [&](caf::error& error) { has_ended = error == caf::sec::request_timeout; });
  CHECK(has_ended);
  CHECK(rig.clock().num_waiting() == 1);
  self->clock().cancel_request_timeout(self.ptr(), late.id());
  CHECK(rig.clock().num_waiting() == 0);
}

TEST_CASE("the clock is at most a tick ahead, and gives the exact time to who asks for it") {
  ClockRig rig;
  for (int i = 0; i < 1000; ++i) {
    auto before = StepClock::clock_type::now();
    auto exact = StepClock::exact_now(rig.clock());
    auto coarse = rig.clock().now();
    auto after = StepClock::clock_type::now();
    CHECK(before <= exact);
    CHECK(exact <= after);
    CHECK(coarse <= after + coarse_tick());
  }
}

TEST_CASE("budgets that are cancelled wake nobody and leave nothing behind") {
  ClockRig rig;
  const caf::actor& peer = rig.peer;
  caf::scoped_actor self(*rig.system);
  auto ask = [&] {
    auto request = self->request(peer, caf::timespan(1h), 1);
    request.receive([](int) {}, [](caf::error&) { FAIL("answered with an error"); });
    self->clock().cancel_request_timeout(self.ptr(), request.id());
  };
  ask(); // the first is sooner than never
  std::uint64_t before = rig.clock().num_wakes();
  for (int i = 0; i < 5000; ++i)
    ask();
  CHECK(rig.clock().num_waiting() == 0);
  CHECK(rig.clock().num_wakes() <= before + 2); // its start, and the first
}

TEST_CASE("who has ended is not kept by the budgets of what it asked") {
  ClockRig rig;
  const caf::actor& peer = rig.peer;
  for (int i = 0; i < 3000; ++i) {
    caf::scoped_actor self(*rig.system);
    self->request(peer, caf::timespan(1h), 1).receive([](int) {}, [](caf::error&) {});
  } // answered, and never taken off the clock
  CHECK(rig.clock().num_waiting() < 2000);
}

} // namespace
} // namespace troupe
