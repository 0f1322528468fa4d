#include "actors/master_session/client_watch.hpp"

#include <doctest/doctest.h>

using troupe::ClientWatch;
using Verdict = ClientWatch::Verdict;

TEST_CASE(
    "client watch: a silent client is looked at after half its lease and lost after all of it") {
  ClientWatch watch;
  watch.heard(100);
  CHECK(watch.judge(105, 10) == Verdict::well);
  CHECK(watch.judge(106, 10) == Verdict::look);
  CHECK(watch.judge(110, 10) == Verdict::look);
  CHECK(watch.judge(111, 10) == Verdict::lost);
  CHECK(watch.silent_us(111) == 11);
  watch.heard(111);
  CHECK(watch.judge(116, 10) == Verdict::well);
}

TEST_CASE("client watch: a client without a lease may be silent for ever") {
  ClientWatch watch;
  CHECK(watch.judge(1'000'000'000, 0) == Verdict::well);
}

TEST_CASE("client watch: a client is told once that it is given up") {
  ClientWatch watch;
  CHECK(watch.give_up());
  CHECK(!watch.give_up());
}
