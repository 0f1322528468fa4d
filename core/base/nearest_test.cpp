#include "core/base/nearest.hpp"

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("nearest: the distance counts edits and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "run") == 3);
  CHECK(edit_distance("run", "run") == 0);
  CHECK(edit_distance("rnu", "run") == 1);
  CHECK(edit_distance("load", "loads") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("matmul", "MatMul") == 0);
}

TEST_CASE("nearest: the closest come first, strangers not at all") {
  std::vector<std::string> names = {"connect", "devices", "run", "steps", "status"};
  CHECK(nearest_names("rnu", names) == std::vector<std::string>{"run"});
  CHECK(nearest_names("stats", names) == std::vector<std::string>{"status", "steps"});
  CHECK(nearest_names("conn", names) == std::vector<std::string>{"connect"});
  CHECK(nearest_names("elephant", names).empty());
  CHECK(nearest_names("", names).empty());
  std::string endless(100000, 'x');
  CHECK(nearest_names(endless, {endless}).empty());
}

TEST_CASE("nearest: the question reads as a sentence") {
  CHECK(did_you_mean("aa", {"ab", "ac", "ad"}) == "; did you mean 'ab', 'ac' or 'ad'?");
  CHECK(did_you_mean("ru", {"run"}) == "; did you mean 'run'?");
  CHECK(did_you_mean("zzzzzz", {"run"}).empty());
}

} // namespace troupe
