#include "api/grpc/callable_table.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("callable table: handles count from 0, and errors are in TensorFlow's words") {
  CallableTable table;
  CHECK(table.find(0).status() == invalid_argument("No such callable handle: 0"));
  CHECK(table.find(-1).status() == invalid_argument("No such callable handle: -1"));
  GatewayCallable callable;
  callable.handle = 42;
  CHECK(table.add(callable) == 0);
  CHECK(table.add(callable) == 1);
  auto found = table.find(0);
  REQUIRE(found.ok());
  CHECK((*found)->handle == 42);
  (*found)->handle = 0;
  CHECK(table.find(0).status() ==
        invalid_argument("Attempted to run callable after handle was released: 0"));
  CHECK(table.find(1).ok());
  CHECK(table.find(2).status() == invalid_argument("No such callable handle: 2"));
}
