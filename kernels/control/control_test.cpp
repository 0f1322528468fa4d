// Cases of the control flow ops, one node at a time; frames and deadness are the executor's.
#include <doctest/doctest.h>

#include "graph/ir/text.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

std::vector<testing::OpCase> nothing() {
  return {{.name = "runs"}};
}
TROUPE_OP_CASES(NoOp) {
  return nothing();
}
TROUPE_OP_CASES(ControlTrigger) {
  return nothing();
}

TROUPE_OP_CASES(Switch) {
  return {
      {.name = "true", .inputs = {"f32[2] 1 2", "bool[] true"}, .outputs = {"", "f32[2] 1 2"}},
      {.name = "false", .inputs = {"f32[2] 1 2", "bool[] false"}, .outputs = {"f32[2] 1 2", ""}},
      {.name = "text, a scalar",
       .inputs = {"str[] \"a\"", "bool[] true"},
       .outputs = {"", "str[] \"a\""}},
      {.name = "empty", .inputs = {"i32[0]", "bool[] false"}, .outputs = {"i32[0]", ""}},
      {.name = "a predicate that is no scalar",
       .inputs = {"f32[2] 1 2", "bool[1] true"},
       .error = "The second input must be a scalar, but it has shape [1]"},
  };
}

TROUPE_OP_CASES(RefSwitch) {
  return {
      {.name = "true", .inputs = {"var f32[1] 1", "bool[] true"}, .outputs = {"", "f32[1] 1"}},
      {.name = "false", .inputs = {"var f32[1] 1", "bool[] false"}, .outputs = {"f32[1] 1", ""}},
  };
}

TROUPE_OP_CASES(Merge) {
  return {
      {.name = "the first",
       .inputs = {"f32[2] 1 2", "dead f32"},
       .outputs = {"f32[2] 1 2", "i32[] 0"}},
      {.name = "the last of three",
       .inputs = {"dead i64", "dead i64", "i64[1] 5"},
       .outputs = {"i64[1] 5", "i32[] 2"}},
      {.name = "an only input", .inputs = {"str[] \"a\""}, .outputs = {"str[] \"a\"", "i32[] 0"}},
      {.name = "all dead", .inputs = {"dead f32", "dead f32"}, .outputs = {"", ""}},
      {.name = "two alive",
       .inputs = {"f32[] 1", "f32[] 2"},
       .error = "Merge can not have more than one valid input."},
      {.name = "no input",
       .attrs = {{"T", DType::float32}},
       .error = "Value for attr 'N' of 0 must be at least minimum 1"},
  };
}

TROUPE_OP_CASES(RefMerge) {
  return {{.name = "a reference", .inputs = {"var f32[1] 1"}, .outputs = {"f32[1] 1", "i32[] 0"}}};
}

using Attrs = std::vector<std::pair<std::string, AttrValue>>;

std::vector<testing::OpCase> passes_on(const Attrs& attrs) {
  return {
      {.name = "a vector", .inputs = {"f32[2] 1 2"}, .attrs = attrs, .outputs = {"f32[2] 1 2"}},
      {.name = "text", .inputs = {"str[] \"a\""}, .attrs = attrs, .outputs = {"str[] \"a\""}},
      {.name = "empty", .inputs = {"i32[0,1]"}, .attrs = attrs, .outputs = {"i32[0,1]"}},
  };
}

std::vector<testing::OpCase> passes_reference_on(const Attrs& attrs) {
  return {{.name = "a variable",
           .inputs = {"var f32[2] 1 2"},
           .attrs = attrs,
           .outputs = {"f32[2] 1 2"},
           .after = {{0, "f32[2] 1 2"}}}};
}

const Attrs frame = {{"frame_name", std::string("f")}};

TROUPE_OP_CASES(Enter) {
  auto rows = passes_on(frame);
  rows.push_back({.name = "no iteration may be in flight",
                  .inputs = {"f32[] 1"},
                  .attrs = {frame[0], {"parallel_iterations", std::int64_t{0}}},
                  .error = "has parallel_iterations 0, expected at least 1"});
  rows.push_back({.name = "no frame",
                  .inputs = {"f32[] 1"},
                  .error = "NodeDef missing attr 'frame_name' from Op<name=Enter"});
  return rows;
}
TROUPE_OP_CASES(RefEnter) {
  return passes_reference_on(frame);
}
TROUPE_OP_CASES(Exit) {
  return passes_on({});
}
TROUPE_OP_CASES(RefExit) {
  return passes_reference_on({});
}
TROUPE_OP_CASES(NextIteration) {
  return passes_on({});
}
TROUPE_OP_CASES(RefNextIteration) {
  return passes_reference_on({});
}

TROUPE_OP_CASES(LoopCond) {
  return {{.name = "true", .inputs = {"bool[] true"}, .outputs = {"bool[] true"}},
          {.name = "false", .inputs = {"bool[] false"}, .outputs = {"bool[] false"}}};
}

TROUPE_OP_CASES(Assert) {
  return {
      {.name = "holds", .inputs = {"bool[] true", "f32[1] 1"}},
      {.name = "does not hold",
       .inputs = {"bool[] false", "str[] \"x is\"", "f32[2,2] 1 2.5 3 4", "i32[2] 7 8"},
       .error = "assertion failed: [x is] [[1 2.5][3...]...] [7 8]"},
      {.name = "text is escaped, rows that are not reached are left out",
       .inputs = {"bool[] false", "str[1] \"say \\\"hi\\\"\"", "i32[2,2] 1 2 3 4"},
       .attrs = {{"summarize", std::int64_t{2}}},
       .error = "assertion failed: [say \\\"hi\\\"] [[1 2]...]"},
      {.name = "everything is shown",
       .inputs = {"bool[] false", "i32[5] 1 2 3 4 5"},
       .attrs = {{"summarize", std::int64_t{-1}}},
       .error = "assertion failed: [1 2 3 4 5]"},
      {.name = "a condition that is no scalar",
       .inputs = {"bool[1] false", "i32[] 1"},
       .error = "Shape must be rank 0 but is rank 1"},
  };
}

} // namespace

TEST_CASE("control: only the taken branch of a conditional runs") {
  auto graph = parse_graph(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(x, p)
    f = Assert[T=[DT_FLOAT]](never, s:0)
    never = Const[dtype=DT_BOOL, value=bool[] false]()
    no = Neg(s:0) ^f
    yes = Identity(s:1)
    m = Merge(no, yes))",
                           op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  const testing::Feeds taken = {{"x", Tensor::scalar(3.0f)}, {"p", Tensor::scalar(true)}};
  auto out = testing::evaluate(*graph, taken, {"m:0", "m:1", "no"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].value<float>() == 3.0f);
  CHECK((*out)[1].value<std::int32_t>() == 1);
  CHECK(!(*out)[2].has_value());
  const testing::Feeds other = {{"x", Tensor::scalar(3.0f)}, {"p", Tensor::scalar(false)}};
  CHECK(testing::evaluate(*graph, other, {"m"}).status().message() ==
        "node 'f' (Assert): assertion failed: [3]");
}

} // namespace troupe
