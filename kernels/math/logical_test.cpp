// LogicalAnd, LogicalOr, LogicalNot.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(LogicalAnd) {
  return {
      {.name = "no elements", .inputs = {"bool[0]", "bool[0]"}, .outputs = {"bool[0]"}},
      {.name = "scalars", .inputs = {"bool[] true", "bool[] false"}, .outputs = {"bool[] false"}},
      {.name = "all four cases",
       .inputs = {"bool[4] false false true true", "bool[4] false true false true"},
       .outputs = {"bool[4] false false false true"}},
      {.name = "a row against a column",
       .inputs = {"bool[2,1] true false", "bool[1,2] true false"},
       .outputs = {"bool[2,2] true false false false"}},
      {.name = "rank four with a scalar",
       .inputs = {"bool[1,2,1,2] true false false true", "bool[] true"},
       .outputs = {"bool[1,2,1,2] true false false true"}},
      {.name = "shapes that do not broadcast",
       .inputs = {"bool[2] true", "bool[3] true"},
       .error = "Incompatible shapes: [2] vs. [3]"},
  };
}

TROUPE_OP_CASES(LogicalOr) {
  return {
      {.name = "no elements", .inputs = {"bool[0]", "bool[0]"}, .outputs = {"bool[0]"}},
      {.name = "scalars", .inputs = {"bool[] true", "bool[] false"}, .outputs = {"bool[] true"}},
      {.name = "all four cases",
       .inputs = {"bool[4] false false true true", "bool[4] false true false true"},
       .outputs = {"bool[4] false true true true"}},
      {.name = "a row against a column",
       .inputs = {"bool[2,1] true false", "bool[1,2] true false"},
       .outputs = {"bool[2,2] true true true false"}},
      {.name = "rank four with a scalar",
       .inputs = {"bool[1,2,1,2] true false false true", "bool[] true"},
       .outputs = {"bool[1,2,1,2] true"}},
      {.name = "shapes that do not broadcast",
       .inputs = {"bool[2] true", "bool[3] true"},
       .error = "Incompatible shapes: [2] vs. [3]"},
  };
}

TROUPE_OP_CASES(LogicalNot) {
  return {
      {.name = "no elements", .inputs = {"bool[0,2]"}, .outputs = {"bool[0,2]"}},
      {.name = "a scalar", .inputs = {"bool[] true"}, .outputs = {"bool[] false"}},
      {.name = "a matrix",
       .inputs = {"bool[2,2] true false false true"},
       .outputs = {"bool[2,2] false true true false"}},
  };
}

} // namespace
} // namespace troupe
