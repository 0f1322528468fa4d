#include "actors/rendezvous/edge_table.hpp"
#include "actors/rendezvous/edge_tasks.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

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

TEST_CASE("edge tasks: keys of the same devices have the same ends, whatever their edge") {
  EdgeTasks tasks;
  auto key = [](int from, int to, const char* edge) {
    auto device = [](int task) { return str_cat("/job:w/replica:0/task:", task, "/device:CPU:0"); };
    return rendezvous_key(device(from), 7, device(to), edge, 0, 3);
  };
  for (int round = 0; round < 2; ++round) {
    auto ends = tasks.of(key(1, 2, "edge_1_a"));
    REQUIRE(ends.ok());
    CHECK((*ends)->source == "/job:w/replica:0/task:1");
    CHECK((*ends)->target == "/job:w/replica:0/task:2");
    CHECK(tasks.source(key(1, 2, "edge_2_b")) == "/job:w/replica:0/task:1");
    CHECK(tasks.source(key(2, 1, "edge_1_a")) == "/job:w/replica:0/task:2");
  }
}

TEST_CASE("edge tasks: what is no key has no ends, and is told so each time") {
  EdgeTasks tasks;
  for (const char* text :
       {"", ";", ";;;", "a;b;c;d;e", "/job:w/replica:0/task:1/device:CPU:0;x;;;"})
    for (int round = 0; round < 2; ++round) {
      CHECK(tasks.of(text).status().code() == Code::invalid_argument);
      CHECK(tasks.source(text).empty());
    }
}

TEST_CASE("edge tasks: keys of ever more devices are answered right") {
  EdgeTasks tasks;
  for (int i = 0; i < 5000; ++i) {
    std::string task = str_cat("/job:w/replica:0/task:", i);
    std::string key = rendezvous_key(str_cat(task, "/device:CPU:0"), 1,
                                     "/job:ps/replica:0/task:0/device:CPU:0", "e", 0, 0);
    REQUIRE(tasks.source(key) == task);
  }
}
