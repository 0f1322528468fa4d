// Stacks, optionals, maps and updates of rows.
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace stack_ops {
TROUPE_OPS_IN_GRAPHS("Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush",
                     "StackPushV2 StackV2");
} // namespace stack_ops

namespace troupe {
namespace {

using list::testing::Attrs;
using list::testing::lit;
using list::testing::OpRunner;

const Attrs stack_of_floats = {{"elem_type", DType::float32}};

TEST_CASE_FIXTURE(OpRunner, "stacks: the last one in is the first one out") {
  const Tensor stack = run("StackV2", {lit("i32[] 2")},
                           {{"elem_type", DType::float32}, {"stack_name", std::string("s")}});
  CHECK(text("StackPushV2", {stack, lit("f32[2] 1 2")}) == "f32[2] 1 2");
  run("StackPushV2", {stack, lit("f32[] 3")});
  CHECK(error("StackPushV2", {stack, lit("f32[] 3")}) ==
        "Stack[s_1_0] overflowed its max_size (2)");
  CHECK(error("StackPushV2", {stack, lit("i32[] 3")}) == "Must have type 1 but got 3");
  CHECK(text("StackPopV2", {stack}, stack_of_floats) == "f32[] 3");
  CHECK(text("StackPopV2", {stack}, stack_of_floats) == "f32[2] 1 2");
  run("StackPushV2", {stack, lit("f32[] 4")});
  CHECK(error("StackPopV2", {stack}, {{"elem_type", DType::int32}})
            .starts_with("Output 0 of type float does not match declared output type int32 for "
                         "node {{node "));
  CHECK(error("StackPopV2", {stack}, stack_of_floats) ==
        "Stack[s_1_0] is empty when calling Pop().");
  run_all("StackCloseV2", {stack});
  CHECK(error("StackPopV2", {stack}, stack_of_floats) == "Stack[s_1_0] has already been closed.");
}

TEST_CASE_FIXTURE(OpRunner, "stacks: two of one node are two") {
  const Tensor a = run("StackV2", {lit("i32[] -1")}, stack_of_floats);
  const Tensor b = run("StackV2", {lit("i32[] -1")}, stack_of_floats);
  run("StackPushV2", {a, lit("f32[] 1")});
  CHECK(error("StackPopV2", {b}, stack_of_floats).find("is empty") != std::string::npos);
  device.step().step_resources->clear();
  CHECK_FALSE(error("StackPopV2", {a}, stack_of_floats).empty());
}

TEST_CASE_FIXTURE(OpRunner, "optionals: tensors or nothing") {
  const Tensor some = run("OptionalFromValue", {lit("f32[2] 1 2"), lit("str[] \"a\"")});
  const Tensor none = run("OptionalNone", {});
  CHECK(text("OptionalHasValue", {some}) == "bool[] true");
  CHECK(text("OptionalHasValue", {none}) == "bool[] false");
  auto types = [](DType second, PartialShape first) -> Attrs {
    return {{"output_types", std::vector<DType>{DType::float32, second}},
            {"output_shapes", std::vector<PartialShape>{std::move(first), PartialShape()}}};
  };
  const auto values = run_all("OptionalGetValue", {some}, types(DType::string, {-1}));
  CHECK(to_literal(values[0]) == "f32[2] 1 2");
  CHECK(to_literal(values[1]) == "str[] \"a\"");
  CHECK(error("OptionalGetValue", {none}, types(DType::string, {-1})) ==
        "The given optional does not have a value.");
  CHECK(error("OptionalGetValue", {some}, types(DType::int32, {-1})) ==
        "The given optional does not match the expected type for component 1. Expected: int32. "
        "Actual: string.");
  CHECK(error("OptionalGetValue", {some}, types(DType::string, {3})) ==
        "The given optional does not match the expected shape for component 0. Expected: [3]. "
        "Actual: [2].");
  CHECK(error("OptionalHasValue", {run("EmptyTensorMap", {})}) ==
        "Input to OptionalHasValue must be an OptionalVariant object.");
  const Tensor one = run("OptionalFromValue", {lit("f32[2] 1 2")});
  const Attrs single = {{"output_types", std::vector<DType>{DType::float32}},
                        {"output_shapes", std::vector<PartialShape>{PartialShape()}}};
  CHECK(text("OptionalGetValue", {run("AddN", {one, one})}, single) == "f32[2] 2 4");
  CHECK(text("OptionalGetValue", {run("ZerosLike", {one})}, single) == "f32[2] 0 0");
  CHECK_FALSE(error("AddN", {one, none}).empty());
}

struct Maps : OpRunner {
  const Attrs text_to_float = {{"key_dtype", DType::string}, {"value_dtype", DType::float32}};
  Tensor insert(Tensor map, std::string_view key, std::string_view value) {
    return run("TensorMapInsert", {std::move(map), lit(key), lit(value)});
  }
};

TEST_CASE_FIXTURE(Maps, "maps: items are found by dtype, shape and elements of their keys") {
  const Tensor empty = run("EmptyTensorMap", {});
  const Tensor one = insert(empty, "str[] \"a\"", "f32[2] 1 2");
  const Tensor two = insert(one, "str[] \"b\"", "f32[] 3");
  CHECK(text("TensorMapSize", {empty}) == "i32[] 0");
  CHECK(text("TensorMapSize", {two}) == "i32[] 2");
  CHECK(text("TensorMapHasKey", {one, lit("str[] \"b\"")}) == "bool[] false");
  CHECK(text("TensorMapHasKey", {one, lit("str[1] \"a\"")}) == "bool[] false");
  CHECK(text("TensorMapLookup", {two, lit("str[] \"a\"")}, text_to_float) == "f32[2] 1 2");
  const Tensor other = insert(two, "str[] \"a\"", "f32[] 9");
  CHECK(text("TensorMapLookup", {other, lit("str[] \"a\"")}, text_to_float) == "f32[] 9");
  CHECK(text("TensorMapLookup", {two, lit("str[] \"a\"")}, text_to_float) == "f32[2] 1 2");
  CHECK(text("TensorMapSize", {run("TensorMapErase", {two, lit("str[] \"a\"")}, text_to_float)}) ==
        "i32[] 1");
  CHECK(text("TensorMapStackKeys", {two}, {{"key_dtype", DType::string}}) == "str[2] \"a\" \"b\"");
  const Tensor sum = run("AddN", {one, one});
  CHECK(text("TensorMapLookup", {sum, lit("str[] \"a\"")}, text_to_float) == "f32[2] 2 4");
  CHECK(text("TensorMapSize", {run("ZerosLike", {two})}) == "i32[] 0");
}

TEST_CASE_FIXTURE(Maps, "maps: what is not there is refused in TensorFlow's words") {
  const Tensor one = insert(run("EmptyTensorMap", {}), "f32[] 1", "f32[] 2");
  const Attrs attrs = {{"key_dtype", DType::float32}, {"value_dtype", DType::float32}};
  CHECK(error("TensorMapLookup", {one, lit("f32[] 3")}, attrs) ==
        "Trying to lookup non-existent key. Could not find key \"3\".");
  CHECK(error("TensorMapLookup", {one, lit("str[] \"zz\"")},
              {{"key_dtype", DType::string}, {"value_dtype", DType::float32}}) ==
        "Trying to lookup non-existent key. Could not find key \"zz\".");
  CHECK(error("TensorMapErase", {one, lit("f32[] 3")}, attrs) ==
        "Trying to erase non-existent item. Could not find key \"3\".");
  CHECK(error("TensorMapStackKeys", {run("EmptyTensorMap", {})}, {{"key_dtype", DType::string}}) ==
        "TensorMapStackKeys cannot be called on empty map.");
  CHECK(error("TensorMapStackKeys", {one}, {{"key_dtype", DType::string}}) ==
        "Key does not match requested dtype.");
  CHECK(error("TensorMapStackKeys", {insert(one, "f32[1] 1", "f32[] 1")},
              {{"key_dtype", DType::float32}}) == "Keys must all have the same shape.");
  CHECK(error("TensorMapSize", {lit("variant[] (\"x\",\"\")")}) ==
        "Input handle is not a map. Saw: 'x'");
  CHECK(error("TensorMapInsert", {one, one, lit("f32[] 1")}) ==
        "a variant tensor cannot be the key of a map");
}

TROUPE_OP_CASES(DeepCopy) {
  return {
      {.name = "stack_of_floats", .inputs = {"f32[2] 1 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "text", .inputs = {"str[1] \"a\""}, .outputs = {"str[1] \"a\""}},
      {.name = "empty", .inputs = {"i64[0]"}, .outputs = {"i64[0]"}},
  };
}

TROUPE_OP_CASES(InplaceUpdate) {
  return {
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 2 0", "f32[2,2] 7 8 9 10"},
       .outputs = {"f32[3,2] 9 10 3 4 7 8"}},
      {.name = "indices go around",
       .inputs = {"i64[2] 1 2", "i32[2] -1 4", "i64[2] 5 6"},
       .outputs = {"i64[2] 6 5"}},
      {.name = "text",
       .inputs = {"str[2] \"a\" \"b\"", "i32[1] 1", "str[1] \"c\""},
       .outputs = {"str[2] \"a\" \"c\""}},
      {.name = "no rows", .inputs = {"f32[0]", "i32[1] 1", "f32[1] 1"}, .outputs = {"f32[0]"}},
      {.name = "other ranks",
       .inputs = {"f32[2] 1 2", "i32[1] 0", "f32[1,1] 1"},
       .error = "x and v shape doesn't match (ranks differ): [2] vs. [1,1]"},
      {.name = "other rows",
       .inputs = {"f32[1,2] 1 2", "i32[1] 0", "f32[1,1] 1"},
       .error = "x and v shape doesn't match at index 1 : [1,2] vs. [1,1]"},
      {.name = "too few indices",
       .inputs = {"f32[2] 1 2", "i32[1] 0", "f32[2] 1 2"},
       .error = "i and x shape doesn't match at index 0: [1] vs. [2]"},
      {.name = "a scalar index",
       .inputs = {"f32[2] 1 2", "i32[] 0", "f32[1] 1"},
       .error = "i must be a vector. []"},
  };
}

TROUPE_OP_CASES(InplaceAdd) {
  return {{.name = "a row twice",
           .inputs = {"f32[2] 1 2", "i32[2] 1 1", "f32[2] 10 20"},
           .outputs = {"f32[2] 1 32"}}};
}

TROUPE_OP_CASES(InplaceSub) {
  return {{.name = "a row",
           .inputs = {"i32[2,1] 1 2", "i32[1] 0", "i32[1,1] 5"},
           .outputs = {"i32[2,1] -4 2"}}};
}

} // namespace
} // namespace troupe
