#include "actors/family/gather.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("gather: done is called once, by the last of all answers") {
  int done = 0;
  auto answered = gather(3, [&] { ++done; });
  auto as_error = answered; // every handler has a copy of its own
  answered();
  as_error();
  CHECK(done == 0);
  answered();
  CHECK(done == 1);
}

TEST_CASE("gather: nothing to wait for is done at once") {
  int done = 0;
  auto answered = gather(0, [&] { ++done; });
  (void)answered;
  CHECK(done == 1);
}
