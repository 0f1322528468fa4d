#include "actors/family/step_table.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace troupe {
namespace {

struct Values {
  std::vector<int> list;
  void clear() { list.clear(); }
};

TEST_CASE("step table: a step is found until it is removed") {
  StepTable<Values> table;
  table.add(7).list = {1};
  table.add(9).list = {2, 3};
  REQUIRE(table.find(7));
  CHECK(table.find(7)->list.size() == 1);
  CHECK(table.find(9)->list.size() == 2);
  CHECK(table.size() == 2);
  table.remove(7);
  CHECK(!table.find(7));
  CHECK(table.find(9));
  table.remove(7); // nothing happens
  table.remove(9);
  CHECK(table.empty());
}

TEST_CASE("step table: what a removed step left is not seen by the next one") {
  StepTable<Values> table;
  table.add(7).list = {1, 2, 3};
  table.remove(7);
  CHECK(table.add(8).list.empty());
  CHECK(!table.find(7));
}

TEST_CASE("step table: any number of steps run at once, and end in any order") {
  StepTable<Values> table;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t id = 1; id <= 100; ++id)
      table.add(id).list = {static_cast<int>(id)};
    for (std::uint64_t id = 1; id <= 100; id += 2)
      table.remove(id);
    CHECK(table.size() == 50);
    for (std::uint64_t id = 2; id <= 100; id += 2) {
      REQUIRE(table.find(id));
      CHECK(table.find(id)->list == std::vector<int>{static_cast<int>(id)});
      table.remove(id);
    }
    CHECK(table.empty());
  }
}

} // namespace
} // namespace troupe
