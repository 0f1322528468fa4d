#include "actors/family/alarm.hpp"

#include <doctest/doctest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/stateful_actor.hpp>

namespace troupe {
namespace {

using std::chrono::seconds;

struct Config : caf::actor_system_config {
  Config() {
    set("scheduler.policy", caf::atom("testing"));
    set("logger.inline-output", true);
  }
};

struct Owner {
  Alarm alarm;
};
using Self = caf::stateful_actor<Owner>*;

/// An actor that does what it is told, under virtual time; `rings` counts.
struct Fixture {
  Config config;
  caf::actor_system system{config};
  caf::scheduler::test_coordinator& scheduler =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  int rings = 0;
  caf::actor actor = system.spawn([](Self) -> caf::behavior { return {[](caf::ok_atom) {}}; });
  Self self = static_cast<Self>(caf::actor_cast<caf::abstract_actor*>(actor));

  Fixture() { run(); }
  ~Fixture() {
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    run();
  }
  void set(seconds budget) {
    self->state.alarm.set(self, budget, [this] { ++rings; });
  }
  void run() {
    while (scheduler.try_run_once())
      ;
  }
  /// Time passes, then what is due is handled.
  void pass(seconds time) {
    scheduler.advance_time(time);
    run();
  }
};

TEST_CASE_FIXTURE(Fixture, "alarm: rings once when its budget is used up") {
  set(seconds(10));
  pass(seconds(9));
  CHECK(rings == 0);
  CHECK(self->state.alarm.is_set());
  pass(seconds(1));
  CHECK(rings == 1);
  CHECK_FALSE(self->state.alarm.is_set());
  pass(seconds(100));
  CHECK(rings == 1);
  set(seconds(5));
  pass(seconds(5));
  CHECK(rings == 2);
}

TEST_CASE_FIXTURE(Fixture, "alarm: cleared it is silent, and leaves nothing on the clock") {
  set(seconds(10));
  self->state.alarm.clear();
  CHECK_FALSE(scheduler.has_pending_timeout());
  pass(seconds(20));
  CHECK(rings == 0);
  set(seconds(10));
  set(seconds(30)); // in place of the first
  pass(seconds(29));
  CHECK(rings == 0);
  pass(seconds(1));
  CHECK(rings == 1);
}

TEST_CASE_FIXTURE(Fixture, "alarm: a ring on its way when it was cleared is not the next one's") {
  set(seconds(10));
  scheduler.advance_time(seconds(10)); // the clock's word waits in the mailbox
  self->state.alarm.clear();
  set(seconds(10));
  scheduler.run_once();
  CHECK(rings == 0);
  pass(seconds(9));
  CHECK(rings == 0);
  pass(seconds(1));
  CHECK(rings == 1);
  CHECK_FALSE(scheduler.has_pending_timeout());
}

TEST_CASE_FIXTURE(Fixture, "alarm: ends with its actor") {
  set(seconds(10));
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  scheduler.run_once();
  CHECK_FALSE(scheduler.has_pending_timeout());
}

} // namespace
} // namespace troupe
