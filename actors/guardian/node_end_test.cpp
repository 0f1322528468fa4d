#include "actors/guardian/node_end.hpp"

#include <doctest/doctest.h>

using namespace troupe;
using Next = NodeEnd::Next;

TEST_CASE("node end: in order it finishes, leaves and stops") {
  NodeEnd end;
  CHECK(end.takes_work());
  CHECK(end.shut_down(true) == Next::finish);
  CHECK_FALSE(end.takes_work());
  CHECK(end.drained() == Next::leave);
  CHECK(end.drained() == Next::stop);
  CHECK(end.failure().empty());
}

TEST_CASE("node end: without grace it stops at once") {
  NodeEnd end;
  CHECK(end.shut_down(false) == Next::stop);
  CHECK_FALSE(end.takes_work());
}

TEST_CASE("node end: a second request changes nothing, with or without grace") {
  NodeEnd end;
  CHECK(end.shut_down(true) == Next::finish);
  CHECK(end.shut_down(true) == Next::nothing);
  CHECK(end.shut_down(false) == Next::nothing);
  CHECK(end.drained() == Next::leave);
}

TEST_CASE("node end: nothing was drained that was not asked for") {
  NodeEnd end;
  CHECK(end.drained() == Next::nothing);
  CHECK(end.takes_work());
}

TEST_CASE("node end: a child that ends by itself stops the node, wherever it is") {
  for (int steps = 0; steps < 3; ++steps) {
    CAPTURE(steps);
    NodeEnd end;
    if (steps > 0)
      end.shut_down(true);
    if (steps > 1)
      end.drained();
    CHECK(end.child_ended("worker", "killed") == Next::stop);
    CHECK(end.failure() == "the worker ended unexpectedly (killed); the node ends");
    CHECK(end.drained() == Next::nothing);
  }
}

TEST_CASE("node end: children that end because they were stopped are no failure") {
  NodeEnd end;
  CHECK(end.stop() == Next::stop);
  CHECK(end.stop() == Next::nothing);
  CHECK(end.child_ended("worker", "user_shutdown") == Next::nothing);
  CHECK(end.failure().empty());
}

TEST_CASE("node end: the first child that failed is the one that is told") {
  NodeEnd end;
  end.child_ended("master", "killed");
  CHECK(end.child_ended("worker", "user_shutdown") == Next::nothing);
  CHECK(end.failure() == "the master ended unexpectedly (killed); the node ends");
}
