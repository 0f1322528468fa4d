#include "actors/session/master_watch.hpp"

#include <doctest/doctest.h>

using namespace troupe;
using namespace std::chrono_literals;
using Verdict = MasterWatch::Verdict;

namespace {

constexpr std::int64_t lease = 4'000'000, begin = 1'000'000;

WireState wire(std::chrono::milliseconds silent, bool is_cut = false) {
  WireState out;
  out.silent = silent;
  out.is_cut = is_cut;
  out.round_trip = out.longest_round_trip = 1ms;
  return out;
}

MasterWatch heard_at_begin() {
  MasterWatch out;
  out.heard(begin);
  return out;
}

} // namespace

TEST_CASE("master watch: looks after half a lease, one look at a time") {
  MasterWatch watch = heard_at_begin();
  CHECK_FALSE(watch.takes_look(begin + lease / 2, lease));
  CHECK(watch.takes_look(begin + lease / 2 + 1, lease));
  CHECK_FALSE(watch.takes_look(begin + lease, lease));
  CHECK(watch.judge(wire(3000ms), begin + lease, lease) == Verdict::lives);
  CHECK(watch.takes_look(begin + lease + 1, lease));
}

TEST_CASE("master watch: a word begins a new lease") {
  MasterWatch watch = heard_at_begin();
  watch.heard(begin + lease);
  CHECK_FALSE(watch.takes_look(begin + lease + 1, lease));
  CHECK(watch.judge(wire(10'000ms), begin + 2 * lease, lease) == Verdict::lives);
  CHECK_FALSE(watch.was_silent());
}

TEST_CASE("master watch: bytes of a long message are word of it") {
  MasterWatch watch = heard_at_begin();
  const std::int64_t now = begin + lease + 1;
  CHECK(watch.judge(wire(100ms), now, lease) == Verdict::lives);
  CHECK(watch.silent_us(now) == 100'000);
  CHECK_FALSE(watch.was_silent());
}

TEST_CASE("master watch: frozen while its machine acknowledges, else cut off") {
  for (bool is_cut : {false, true}) {
    CAPTURE(is_cut);
    MasterWatch watch = heard_at_begin();
    CHECK(watch.judge(wire(4500ms, is_cut), begin + lease + 1, lease) ==
          (is_cut ? Verdict::cut_off : Verdict::frozen));
    CHECK(watch.was_silent());
    CHECK(watch.is_cut() == is_cut);
  }
}

TEST_CASE("master watch: no connection at all is silence") {
  MasterWatch watch = heard_at_begin();
  CHECK(watch.judge(std::nullopt, begin + lease + 1, lease) == Verdict::frozen);
  CHECK(watch.was_silent());
  CHECK_FALSE(watch.is_cut());
}

TEST_CASE("master watch: a cut that has just begun is no cut yet") {
  MasterWatch watch = heard_at_begin();
  CHECK(watch.judge(wire(1000ms, true), begin + lease / 2, lease) == Verdict::lives);
  CHECK_FALSE(watch.is_cut());
  CHECK(watch.judge(wire(2500ms, true), begin + lease / 2 + 1, lease) == Verdict::lives);
  CHECK(watch.is_cut());
}

TEST_CASE("master watch: a session that was replaced meanwhile is not judged") {
  MasterWatch watch = heard_at_begin();
  CHECK(watch.judge(wire(9000ms, true), begin + 2 * lease, lease, false) == Verdict::lives);
  CHECK_FALSE(watch.was_silent());
}
