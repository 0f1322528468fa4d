// Cases of what changes rows of a resource variable.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ResourceScatterAdd) {
  return {
      {.name = "rows, one of them twice",
       .inputs = {"res f32[3,2] 1 2 3 4 5 6", "i32[3] 2 0 2", "f32[3,2] 10 20 1 1 100 200"},
       .after = {{0, "f32[3,2] 2 3 3 4 115 226"}}},
      {.name = "one number for all",
       .inputs = {"res f32[3,2] 1 2 3 4 5 6", "i64[2] 1 1", "f32[] 1"},
       .after = {{0, "f32[3,2] 1 2 5 6 5 6"}}},
      {.name = "a scalar index",
       .inputs = {"res f32[2,2] 1 2 3 4", "i32[] 1", "f32[2] nan inf"},
       .after = {{0, "f32[2,2] 1 2 nan inf"}}},
      {.name = "a matrix of indices",
       .inputs = {"res i32[4] 1 2 3 4", "i32[2,2] 0 1 2 3", "i32[2,2] 1 1 1 1"},
       .after = {{0, "i32[4] 2 3 4 5"}}},
      {.name = "nothing",
       .inputs = {"res f32[2] 1 2", "i32[0]", "f32[0]"},
       .after = {{0, "f32[2] 1 2"}}},
      {.name = "dtype f64",
       .inputs = {"res f64[2] 1 2", "i32[1] 0", "f64[1] 0.5"},
       .after = {{0, "f64[2] 1.5 2"}}},
      {.name = "dtype i64",
       .inputs = {"res i64[2] 1 2", "i32[1] 0", "i64[1] 5"},
       .after = {{0, "i64[2] 6 2"}}},
      {.name = "an index outside",
       .inputs = {"res f32[2] 1 2", "i32[1] -1", "f32[1] 1"},
       .error = "indices[0] = -1 is not in [0, 2)"},
      {.name = "updates of another shape",
       .inputs = {"res f32[2,3] 1", "i32[1] 0", "f32[1,2] 1 2"},
       .error = "Must have updates.shape = indices.shape + params.shape[1:]"},
      {.name = "a scalar variable",
       .inputs = {"res f32[] 1", "i32[1] 0", "f32[1] 1"},
       .error = "got updates.shape [1], indices.shape [1], params.shape []"},
      {.name = "another dtype",
       .inputs = {"res f32[2] 1 2", "i32[1] 0", "i32[1] 1"},
       .error = "Trying to scatter into variable with wrong dtype. Expected float got int32"},
      {.name = "not assigned",
       .inputs = {"res uninit f32", "i32[1] 0", "f32[1] 1"},
       .error = "Container localhost does not exist. (Could not find resource: localhost/input_0)"},
  };
}

TROUPE_OP_CASES(ResourceScatterSub) {
  return {
      {.name = "rows",
       .inputs = {"res f32[2,2] 1 2 3 4", "i32[2] 1 1", "f32[2,2] 1 1 1 1"},
       .after = {{0, "f32[2,2] 1 2 1 2"}}},
  };
}

TROUPE_OP_CASES(ResourceScatterMul) {
  return {
      {.name = "rows",
       .inputs = {"res f32[2,2] 1 2 3 4", "i32[1] 1", "f32[1,2] 2 -1"},
       .after = {{0, "f32[2,2] 1 2 6 -4"}}},
  };
}

TROUPE_OP_CASES(ResourceScatterMin) {
  return {
      {.name = "rows",
       .inputs = {"res f32[2,2] 1 2 3 4", "i32[1] 1", "f32[1,2] 2 9"},
       .after = {{0, "f32[2,2] 1 2 2 4"}}},
  };
}

TROUPE_OP_CASES(ResourceScatterMax) {
  return {
      {.name = "rows",
       .inputs = {"res f32[2,2] 1 2 3 4", "i32[1] 1", "f32[1,2] 2 9"},
       .after = {{0, "f32[2,2] 1 2 3 9"}}},
      {.name = "an update of NaN is passed over",
       .inputs = {"res f32[2] 1 2", "i32[2] 0 0", "f32[2] nan 3"},
       .after = {{0, "f32[2] 3 2"}}},
  };
}

TROUPE_OP_CASES(ResourceScatterUpdate) {
  return {
      {.name = "the last one counts",
       .inputs = {"res f32[2,2] 1 2 3 4", "i32[2] 1 1", "f32[2,2] 2 9 7 8"},
       .after = {{0, "f32[2,2] 1 2 7 8"}}},
      {.name = "one number for all",
       .inputs = {"res i64[2,2] 1 2 3 4", "i32[1] 1", "i64[] 9"},
       .after = {{0, "i64[2,2] 1 2 9 9"}}},
  };
}

TROUPE_OP_CASES(ScatterAdd) {
  const std::string var = "var f32[3,2] 1 2 3 4 5 6";
  return {
      {.name = "rows, one of them twice",
       .inputs = {var, "i32[3] 2 0 2", "f32[3,2] 10 20 1 1 100 200"},
       .outputs = {"f32[3,2] 2 3 3 4 115 226"},
       .after = {{0, "f32[3,2] 2 3 3 4 115 226"}}},
      {.name = "subtracted",
       .op = "ScatterSub",
       .inputs = {var, "i64[1] 1", "f32[1,2] 1 2"},
       .outputs = {"f32[3,2] 1 2 2 2 5 6"}},
      {.name = "multiplied",
       .op = "ScatterMul",
       .inputs = {var, "i32[2] 1 1", "f32[] 2"},
       .outputs = {"f32[3,2] 1 2 12 16 5 6"}},
      {.name = "divided",
       .op = "ScatterDiv",
       .inputs = {var, "i32[1] 2", "f32[1,2] 5 0"},
       .outputs = {"f32[3,2] 1 2 3 4 1 inf"}},
      {.name = "integers are divided towards zero",
       .op = "ScatterDiv",
       .inputs = {"var i32[2] -7 7", "i32[2] 0 1", "i32[2] 2 2"},
       .outputs = {"i32[2] -3 3"}},
      {.name = "complex numbers are divided",
       .op = "ScatterDiv",
       .inputs = {"var c64[1] (4,2)", "i32[1] 0", "c64[1] (2,0)"},
       .outputs = {"c64[1] (2,1)"}},
      {.name = "an integer by zero",
       .op = "ScatterDiv",
       .inputs = {"var i32[2] 1 2", "i32[1] 1", "i32[1] 0"},
       .error = "Integer division by zero",
       .after = {{0, "i32[2] 1 2"}}},
      {.name = "a handle's variable is divided",
       .op = "ResourceScatterDiv",
       .inputs = {"res f64[2] 1 8", "i64[1] 1", "f64[1] 4"},
       .after = {{0, "f64[2] 1 2"}}},
      {.name = "the smaller",
       .op = "ScatterMin",
       .inputs = {"var i64[3] 1 5 9", "i32[3] 0 1 2", "i64[] 4"},
       .outputs = {"i64[3] 1 4 4"}},
      {.name = "the larger",
       .op = "ScatterMax",
       .inputs = {"var f16[3] 1 5 9", "i32[3] 0 1 2", "f16[] 4"},
       .outputs = {"f16[3] 4 5 9"}},
      {.name = "replaced",
       .op = "ScatterUpdate",
       .inputs = {"var bool[2] true true", "i32[1] 0", "bool[1] false"},
       .outputs = {"bool[2] false true"}},
      {.name = "strings are replaced",
       .op = "ScatterUpdate",
       .inputs = {"var str[2,1] \"a\" \"b\"", "i32[1] 1", "str[1,1] \"c\""},
       .outputs = {"str[2,1] \"a\" \"c\""}},
      {.name = "one string for all",
       .op = "ResourceScatterUpdate",
       .inputs = {"res str[2,2] \"a\" \"b\" \"c\" \"d\"", "i32[1] 1", "str[] \"x\""},
       .after = {{0, "str[2,2] \"a\" \"b\" \"x\" \"x\""}}},
      {.name = "no value yet",
       .inputs = {"uninit f32", "i32[1] 0", "f32[1] 1"},
       .error = "Attempting to use uninitialized value"},
      {.name = "an index outside",
       .inputs = {var, "i32[1] 3", "f32[1,2] 1 2"},
       .error = "indices[0] = 3 is not in [0, 3)"},
      {.name = "updates of another shape",
       .inputs = {var, "i32[1] 0", "f32[1,3] 1 2 3"},
       .error = "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = []"},
  };
}

} // namespace
} // namespace troupe
