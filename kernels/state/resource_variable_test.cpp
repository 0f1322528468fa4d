// Cases of ops that take a resource variable's handle.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

constexpr auto unread =
    "Could not find variable input_0. This could mean that the variable has been deleted. In TF1, "
    "it can also mean the variable is uninitialized. Debug info: container=localhost, status error "
    "message=Container localhost does not exist. (Could not find resource: localhost/input_0)";
constexpr auto unassigned =
    "Container localhost does not exist. (Could not find resource: localhost/input_0)";

TROUPE_OP_CASES(DisableCopyOnRead) {
  return {
      {.name = "a variable", .inputs = {"res f32[2] 1 2"}, .after = {{0, "f32[2] 1 2"}}},
      {.name = "one that was not assigned", .inputs = {"res uninit f32"}, .error = unread},
  };
}

TROUPE_OP_CASES(ReadVariableOp) {
  return {
      {.name = "a matrix",
       .inputs = {"res f32[1,2] 1 2"},
       .attrs = {{"dtype", DType::float32}},
       .outputs = {"f32[1,2] 1 2"},
       .after = {{0, "f32[1,2] 1 2"}}},
      {.name = "text",
       .inputs = {"res str[] \"a\""},
       .attrs = {{"dtype", DType::string}},
       .outputs = {"str[] \"a\""}},
      {.name = "empty",
       .inputs = {"res i64[0]"},
       .attrs = {{"dtype", DType::int64}},
       .outputs = {"i64[0]"}},
      {.name = "not assigned",
       .inputs = {"res uninit f32"},
       .attrs = {{"dtype", DType::float32}},
       .error = unread},
      {.name = "another dtype",
       .inputs = {"res f32[] 1"},
       .attrs = {{"dtype", DType::int32}},
       .error = "Trying to read variable with wrong dtype. Expected int32 got float"},
  };
}

TROUPE_OP_CASES(AssignVariableOp) {
  return {
      {.name = "a first value",
       .inputs = {"res uninit f32", "f32[2] 1 2"},
       .after = {{0, "f32[2] 1 2"}}},
      {.name = "another shape",
       .inputs = {"res f32[] 1", "f32[2] 1 2"},
       .after = {{0, "f32[2] 1 2"}}},
      {.name = "text", .inputs = {"res uninit str", "str[] \"a\""}, .after = {{0, "str[] \"a\""}}},
      {.name = "another shape, validated",
       .inputs = {"res f32[] 1", "f32[2] 1 2"},
       .attrs = {{"validate_shape", true}},
       .error = "Trying to assign to variable with tensor with wrong shape. Expected [] got [2]"},
      {.name = "another dtype",
       .inputs = {"res f32[] 1", "i32[] 1"},
       .error = "Trying to assign variable with wrong dtype. Expected float got int32"},
  };
}

TROUPE_OP_CASES(AssignAddVariableOp) {
  return {
      {.name = "float",
       .inputs = {"res f32[2] 1 2", "f32[2] 0.5 0.5"},
       .after = {{0, "f32[2] 1.5 2.5"}}},
      {.name = "int64", .inputs = {"res i64[] 1", "i64[] 2"}, .after = {{0, "i64[] 3"}}},
      {.name = "not assigned", .inputs = {"res uninit f32", "f32[] 1"}, .error = unassigned},
      {.name = "another shape",
       .inputs = {"res f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "Cannot update variable with shape [2] using a Tensor with shape [3], shapes must "
                "be equal."},
      {.name = "another dtype",
       .inputs = {"res f32[] 1", "i32[] 1"},
       .error = "Trying to assign variable with wrong dtype. Expected float got int32"},
  };
}

TROUPE_OP_CASES(AssignSubVariableOp) {
  return {
      {.name = "double",
       .inputs = {"res f64[2] 1 2", "f64[2] 0.5 3"},
       .after = {{0, "f64[2] 0.5 -1"}}},
      {.name = "uint32", .inputs = {"res u32[] 5", "u32[] 2"}, .after = {{0, "u32[] 3"}}},
      {.name = "not assigned", .inputs = {"res uninit f32", "f32[] 1"}, .error = unassigned},
  };
}

TROUPE_OP_CASES(VarIsInitializedOp) {
  return {
      {.name = "yes", .inputs = {"res f32[1] 1"}, .outputs = {"bool[] true"}},
      {.name = "no", .inputs = {"res uninit f32"}, .outputs = {"bool[] false"}},
  };
}

TROUPE_OP_CASES(DestroyResourceOp) {
  return {
      {.name = "a variable", .inputs = {"res f32[1] 1"}, .after = {{0, "uninit"}}},
      {.name = "nothing to destroy", .inputs = {"res uninit f32"}, .after = {{0, "uninit"}}},
      {.name = "nothing to destroy, which matters",
       .inputs = {"res uninit f32"},
       .attrs = {{"ignore_lookup_error", false}},
       .error = "input_0"},
  };
}

TROUPE_OP_CASES(VariableShape) {
  return {
      {.name = "a matrix", .inputs = {"res f32[1,2] 1 2"}, .outputs = {"i32[2] 1 2"}},
      {.name = "int64",
       .inputs = {"res f32[0,4,1]"},
       .attrs = {{"out_type", DType::int64}},
       .outputs = {"i64[3] 0 4 1"}},
      {.name = "a scalar", .inputs = {"res str[] \"a\""}, .outputs = {"i32[0]"}},
      {.name = "not assigned", .inputs = {"res uninit f32"}, .error = unassigned},
  };
}

} // namespace
} // namespace troupe
