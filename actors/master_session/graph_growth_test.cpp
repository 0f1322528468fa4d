#include "actors/master_session/graph_growth.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

struct Addition {
  std::string name;
  std::int64_t version = -1;
  std::int64_t current_version() const { return version; }
};
using Growth = GraphGrowth<Addition, std::string>;

} // namespace

TEST_CASE("graph growth: additions are parsed in the order in which they came") {
  Growth growth;
  std::uint64_t first = 0, second = 0;
  CHECK(growth.begin(first) == nullptr);
  CHECK(growth.add({"a"}));
  CHECK_FALSE(growth.add({"b"}));
  REQUIRE(growth.begin(first));
  CHECK(growth.parsed(first)->name == "a");
  CHECK(growth.is_growing());
  REQUIRE(growth.begin(second));
  CHECK(second != first);
  CHECK_FALSE(growth.parsed(first)); // twice
  CHECK(growth.parsed(second)->name == "b");
  CHECK_FALSE(growth.is_growing());
  CHECK_FALSE(growth.parsed(second));
  CHECK(growth.add({"c"}));
}

TEST_CASE("graph growth: one that is not meant for this version is refused when it is its turn") {
  Growth growth;
  growth.add({"a", 3});
  growth.add({"b", 3});
  growth.add({"c", 4});
  growth.add({"d"});
  CHECK(growth.refused(3).empty());
  std::uint64_t ticket = 0;
  CHECK(growth.begin(ticket)->name == "a");
  growth.parsed(ticket);
  auto refused = growth.refused(4); // "a" has made it so
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].name == "b");
  CHECK(growth.begin(ticket)->name == "c");
  growth.parsed(ticket);
  CHECK(growth.refused(9).empty()); // "d" is meant for any
  CHECK(growth.begin(ticket)->name == "d");
}

TEST_CASE("graph growth: questions wait, and are taken once") {
  Growth growth;
  growth.add({"a"});
  growth.ask("where is x");
  CHECK(growth.take_questions() == std::vector<std::string>{"where is x"});
  CHECK(growth.take_questions().empty());
  CHECK(growth.take_additions().size() == 1);
  CHECK_FALSE(growth.is_growing());
}
