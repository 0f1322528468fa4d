#include "actors/rendezvous/edge_table.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {
EdgeValue value(float x) {
  return {Tensor::scalar(x), false};
}
} // namespace

TEST_CASE("edge table: a value waits for its taker") {
  EdgeTable<int> edges;
  CHECK(!edges.put("a", value(1)));
  auto taken = edges.take("a", 7);
  REQUIRE(taken);
  CHECK(taken->tensor.value<float>() == 1);
  CHECK(edges.num_values() == 0);
}

TEST_CASE("edge table: a taker waits for its value") {
  EdgeTable<int> edges;
  CHECK(!edges.take("a", 7));
  CHECK(!edges.put("b", value(2)));
  auto served = edges.put("a", value(1));
  REQUIRE(served);
  CHECK(served->first == 7);
  CHECK(served->second.tensor.value<float>() == 1);
  CHECK(edges.num_waiting() == 0);
}

TEST_CASE("edge table: several values and several takers of one key meet in order") {
  EdgeTable<int> edges;
  CHECK(!edges.put("a", value(1)));
  CHECK(!edges.put("a", value(2)));
  CHECK(edges.take("a", 0)->tensor.value<float>() == 1);
  CHECK(edges.take("a", 0)->tensor.value<float>() == 2);
  CHECK(!edges.take("a", 10));
  CHECK(!edges.take("a", 11));
  CHECK(edges.put("a", value(3))->first == 10);
  CHECK(edges.put("a", value(4))->first == 11);
}

TEST_CASE("edge table: deadness travels with the value") {
  EdgeTable<int> edges;
  CHECK(!edges.put("a", EdgeValue{Tensor{}, true}));
  CHECK(edges.take("a", 0)->is_dead);
}

TEST_CASE("edge table: an abort frees every waiter and drops every value; the first status stays") {
  EdgeTable<int> edges;
  CHECK(!edges.take("a", 1));
  CHECK(!edges.take("b", 2));
  CHECK(!edges.put("c", value(3)));
  CHECK(edges.abort(aborted("first")).size() == 2);
  CHECK(edges.abort(aborted("second")).empty());
  CHECK(edges.status().message() == "first");
  CHECK(edges.num_values() == 0);
  CHECK(!edges.put("d", value(1)));
  CHECK(edges.num_values() == 0);
}
