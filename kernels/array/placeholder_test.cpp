#include <doctest/doctest.h>

#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Placeholder) {
  return {
      {.name = "nobody fed it",
       .attrs = {{"dtype", DType::float32}, {"shape", PartialShape{-1, 2}}},
       .error = "You must feed a value for placeholder tensor 'node' with dtype float and shape "
                "[?,2]"},
      {.name = "nobody fed it, a scalar",
       .attrs = {{"dtype", DType::float32}, {"shape", PartialShape(Shape{})}},
       .error = "You must feed a value for placeholder tensor 'node' with dtype float"},
      {.name = "nobody fed it, any shape",
       .attrs = {{"dtype", DType::int64}},
       .error = "You must feed a value for placeholder tensor 'node' with dtype int64"},
  };
}

TROUPE_OP_CASES(PlaceholderV2) {
  return {{.name = "nobody fed it",
           .attrs = {{"dtype", DType::float32}, {"shape", PartialShape{2}}},
           .error = "You must feed a value for placeholder tensor 'node' with dtype float and "
                    "shape [2]"}};
}

TROUPE_OP_CASES(PlaceholderWithDefault) {
  return {
      {.name = "its default",
       .inputs = {"f32[2] 1 2"},
       .attrs = {{"shape", PartialShape{-1}}},
       .outputs = {"f32[2] 1 2"}},
      {.name = "any shape",
       .inputs = {"i32[] 7"},
       .attrs = {{"shape", PartialShape{}}},
       .outputs = {"i32[] 7"}},
      {.name = "empty",
       .inputs = {"str[0]"},
       .attrs = {{"shape", PartialShape{0}}},
       .outputs = {"str[0]"}},
      {.name = "a default of another shape",
       .inputs = {"f32[2] 1 2"},
       .attrs = {{"shape", PartialShape{3}}},
       .error = "Dimension 0 in both shapes must be equal, but are 2 and 3"},
  };
}

} // namespace

TEST_CASE("placeholder: a fed value takes the default's place") {
  Graph graph(op_library().ops);
  auto one = graph.add("one", "Const", {},
                       {{"dtype", DType::float32}, {"value", TensorBox{Tensor::scalar(1.0f)}}});
  REQUIRE(one.ok());
  REQUIRE(graph
              .add("p", "PlaceholderWithDefault", {{(*one)->id, 0}},
                   {{"shape", PartialShape(std::vector<std::int64_t>{})}})
              .ok());
  auto unfed = testing::evaluate(graph, {}, {"p"});
  auto fed = testing::evaluate(graph, {{"p", Tensor::scalar(2.0f)}}, {"p"});
  REQUIRE(unfed.ok());
  REQUIRE(fed.ok());
  CHECK((*unfed)[0].value<float>() == 1.0f);
  CHECK((*fed)[0].value<float>() == 2.0f);
}

} // namespace troupe
