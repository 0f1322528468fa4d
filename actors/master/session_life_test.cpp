#include "actors/master/session_life.hpp"

#include <doctest/doctest.h>

#include "actors/master_session/session_record.hpp"

using namespace troupe;
using End = SessionLife::End;

namespace {

SessionLife::RecordRef record(std::int64_t version) {
  SessionRecord out;
  out.version = version;
  return std::make_shared<const SessionRecord>(std::move(out));
}

} // namespace

TEST_CASE("session life: what ends in order is gone") {
  SessionLife life(record(1));
  CHECK(life.ended(false, 5) == End::gone);
  CHECK(!life.is_being_made());
}

TEST_CASE("session life: what a fault ends is made again from the latest record") {
  SessionLife life(record(1));
  life.changed(record(2));
  CHECK(life.ended(true, 5) == End::made_again);
  CHECK(life.is_being_made());
  CHECK(life.record()->version == 2);
  life.changed(record(3)); // of the one that has ended
  CHECK(life.record()->version == 2);
  life.made();
  CHECK(!life.is_being_made());
  CHECK(life.remakes() == 1);
  life.changed(record(4));
  CHECK(life.record()->version == 4);
}

TEST_CASE("session life: the fourth fault within a minute ends it, a later one does not") {
  auto faults = [](std::initializer_list<std::int64_t> seconds) {
    SessionLife life(record(1));
    End end = End::gone;
    for (std::int64_t second : seconds) {
      end = life.ended(true, 1'000'000 * second);
      life.made();
    }
    return end;
  };
  CHECK(faults({0, 1, 2}) == End::made_again);
  CHECK(faults({0, 1, 2, 59}) == End::given_up);
  CHECK(faults({0, 1, 2, 60}) == End::made_again);
  CHECK(faults({0, 1, 2, 60, 60}) == End::given_up);
  CHECK(faults({0, 1, 2, 60, 61}) == End::made_again);
}
