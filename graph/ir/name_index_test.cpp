#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

#include "graph/ir/name_index.hpp"

using namespace troupe;

TEST_CASE("names: an index agrees with a map whatever is added and removed") {
  std::mt19937 dice(7);
  std::vector<std::string> names; // by id
  auto name_of = [&](std::int32_t id) -> std::string_view {
    return names[static_cast<std::size_t>(id)];
  };
  NameIndex index;
  std::map<std::string, std::int32_t> expected;
  CHECK(index.find("absent", name_of) == -1);
  for (int i = 0; i < 20'000; ++i) {
    std::string name = "n" + std::to_string(dice() % 500);
    auto id = static_cast<std::int32_t>(names.size());
    names.push_back(name);
    auto at = expected.find(name);
    bool is_new = index.add(name, id, name_of);
    REQUIRE(is_new == (at == expected.end()));
    if (is_new) {
      expected.emplace(name, id);
    } else if (dice() % 2) {
      index.remove(name, at->second);
      expected.erase(at);
      REQUIRE(index.find(name, name_of) == -1);
    }
  }
  for (const auto& [name, id] : expected)
    CHECK(index.find(name, name_of) == id);
}

TEST_CASE("names: a copy of an index is one of its own") {
  const std::vector<std::string> names = {"a", "b", "c"};
  auto name_of = [&](std::int32_t id) -> std::string_view {
    return names[static_cast<std::size_t>(id)];
  };
  NameIndex index;
  index.reserve(100);
  CHECK(index.add("a", 0, name_of));
  NameIndex copy = index;
  CHECK(copy.add("b", 1, name_of));
  copy.remove("a", 0);
  CHECK(copy.find("a", name_of) == -1);
  CHECK(index.find("a", name_of) == 0);
  CHECK(index.find("b", name_of) == -1);
}
