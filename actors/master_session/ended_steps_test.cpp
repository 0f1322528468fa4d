#include "actors/master_session/ended_steps.hpp"

#include <string>

#include <doctest/doctest.h>

using troupe::EndedSteps;
using Steps = std::vector<std::uint64_t>;

TEST_CASE("ended steps: a run takes along what its part has not heard, once") {
  EndedSteps<std::string> ended;
  ended.add("a", 1);
  ended.add("a", 2);
  ended.add("b", 1);
  CHECK(ended.take("a") == Steps{1, 2});
  CHECK(ended.take("a").empty());
  CHECK(ended.take("c").empty());
  CHECK(ended.take("b") == Steps{1});
}

TEST_CASE("ended steps: one message in a while is for all that were not taken") {
  EndedSteps<std::string> ended;
  CHECK(ended.add("a", 1));
  CHECK(!ended.add("b", 1));
  ended.take("a");
  CHECK(!ended.add("b", 2)); // it is on its way still
  auto all = ended.take_all();
  CHECK(all.size() == 1);
  CHECK(all["b"] == Steps{1, 2});
  CHECK(ended.take_all().empty());
  CHECK(ended.add("b", 3));
}
