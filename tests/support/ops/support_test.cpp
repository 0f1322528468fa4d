// The test support itself: comparisons, gradient checks and rows find what is wrong.
#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"
#include "graph/ir/text.hpp"
#include "graph/op/grad_context.hpp"
#include "tests/support/ops/compare.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/internal/gradient_check.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {
namespace {

std::optional<std::string> differ(std::string_view actual, std::string_view expected) {
  Tensor a = *parse_literal(actual);
  return difference(a, *parse_literal(expected), tolerance_of(a.dtype()));
}

std::vector<CaseInput> inputs(std::initializer_list<const char*> texts) {
  std::vector<CaseInput> out;
  for (const char* text : texts)
    out.push_back(*parse_case_input(text));
  return out;
}

/// The registered op with another gradient.
OpSchema with_gradient(const char* op, GradientFn gradient) {
  OpSchema out = *op_library().ops.find(op);
  out.gradient = gradient;
  return out;
}

} // namespace

TEST_CASE("compare: elements, infinities and not-a-numbers") {
  CHECK(!differ("f32[2] 1 2", "f32[2] 1.0000005 2"));
  CHECK(differ("f32[2] 1 2", "f32[2] 1.0001 2"));
  CHECK(differ("f32[2] 1 2", "f32[1,2] 1 2"));
  CHECK(differ("f32[1] 1", "f64[1] 1"));
  CHECK(!differ("f32[3] nan inf -inf", "f32[3] nan inf -inf"));
  CHECK(differ("f32[1] nan", "f32[1] 1"));
  CHECK(differ("f32[1] 1", "f32[1] nan"));
  CHECK(differ("f32[1] inf", "f32[1] -inf"));
  CHECK(differ("f32[1] 3e38", "f32[1] inf"));
  CHECK(differ("f64[1] 1", "f64[1] 1.0000000001"));
  CHECK(differ("i64[1] 9007199254740993", "i64[1] 9007199254740992"));
  CHECK(!differ("f16[1] 1", "f16[1] 1.001"));
  CHECK(differ("f16[1] 1", "f16[1] 1.01"));
  CHECK(differ("c64[1] (1,2)", "c64[1] (1,2.1)"));
  CHECK(!differ("str[2] \"a\" \"b\"", "str[2] \"a\" \"b\""));
  CHECK(differ("str[1] \"a\"", "str[1] \"b\""));
  CHECK(*differ("i32[2] 1 2", "i32[2] 1 3") ==
        "element 1 is i32[1] 2, expected i32[1] 3: got i32[2] 1 2, expected i32[2] 1 3");
}

TEST_CASE("gradient check: a right gradient passes, with broadcasting and in float") {
  const auto two = inputs({"f32[2,3] 1 2 3 4 5 6", "f32[3] 0.5 -1 2"});
  CHECK(!check_gradient(*op_library().ops.find("Mul"), two, {}, {}));
  CHECK(!check_gradient(*op_library().ops.find("Square"), inputs({"f16[2] 1 -3"}), {}, {}));
}

TEST_CASE("gradient check: a wrong gradient is found") {
  const auto x = inputs({"f32[2] 1 3"});
  auto half_of_it = [](GradContext& g) {
    return g.set_input_grad(0, g.mul(g.output_grad(0), g.input(0)));
  };
  auto wrong = check_gradient(with_gradient("Square", half_of_it), x, {}, {});
  REQUIRE(wrong);
  CHECK(wrong->find("by differences it is") != std::string::npos);
  auto none = [](GradContext&) -> Status { return {}; };
  wrong = check_gradient(with_gradient("Square", none), x, {}, {});
  REQUIRE(wrong);
  CHECK(wrong->find("(no gradient flows)") != std::string::npos);
}

TEST_CASE("gradient check: a gradient of another shape is found") {
  auto unreduced = [](GradContext& g) -> Status {
    TROUPE_TRY(g.set_input_grad(0, g.output_grad(0)));
    return g.set_input_grad(1, g.output_grad(0));
  };
  auto wrong = check_gradient(with_gradient("AddV2", unreduced),
                              inputs({"f32[2,3] 1 2 3 4 5 6", "f32[3] 1 2 3"}), {}, {});
  REQUIRE(wrong);
  CHECK(wrong->find("the input's shape is [3]") != std::string::npos);
}

TEST_CASE("gradient check: a rule that fails when shapes are unknown is found") {
  auto needs_shape = [](GradContext& g) -> Status {
    if (!g.shape(g.input(0)).has_rank())
      return unimplemented("no shape");
    const Value twice = g.mul(g.scalar_like(g.input(0), 2), g.input(0));
    return g.set_input_grad(0, g.mul(g.output_grad(0), twice));
  };
  auto wrong = check_gradient(with_gradient("Square", needs_shape), inputs({"f32[2] 1 3"}), {}, {});
  REQUIRE(wrong);
  CHECK(wrong->find("no shape") != std::string::npos);
}

TEST_CASE("case inputs: values, variables, handles, dead ones") {
  CHECK(parse_case_input("f32[] 1")->kind == CaseInput::Kind::value);
  CHECK(parse_case_input("var f32[] 1")->kind == CaseInput::Kind::variable);
  CHECK(!parse_case_input("uninit f32")->value.has_value());
  CHECK(parse_case_input("uninit f32")->kind == CaseInput::Kind::variable);
  CHECK(parse_case_input("res uninit f64")->kind == CaseInput::Kind::resource);
  CHECK(parse_case_input("dead i32")->dtype == DType::int32);
  CHECK(!parse_case_input("dead x").ok());
  CHECK(!parse_case_input("f32[2] 1 2 3").ok());
}

TEST_CASE("interpreter: runs what the fetches need, and feeds cut the graph") {
  auto graph = parse_graph(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Neg(x)
    z = Square(y)
    unfed = Placeholder[dtype=DT_FLOAT]())",
                           op_library().ops);
  REQUIRE(graph.ok());
  auto out = evaluate(*graph, {{"x", Tensor::scalar(3.0f)}}, {"z:0", "y"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].value<float>() == 9);
  CHECK((*out)[1].value<float>() == -3);
  auto cut = evaluate(*graph, {{"y", Tensor::scalar(2.0f)}}, {"z"});
  REQUIRE(cut.ok());
  CHECK((*cut)[0].value<float>() == 4);
  CHECK(evaluate(*graph, {}, {"w"}).status() == not_found("the graph has no node 'w'"));
  CHECK(evaluate(*graph, {}, {"z:1"}).status() == not_found("node 'z' has no output 1"));
  CHECK(evaluate(*graph, {}, {"unfed"}).status().code() == Code::invalid_argument);
}

} // namespace troupe::testing
