// Pow.
#include <doctest/doctest.h>

#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Pow) {
  return {
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "no rows, broadcast",
       .inputs = {"f32[0,3]", "f32[3] 1 2 3"},
       .outputs = {"f32[0,3]"}},
      {.name = "scalars", .inputs = {"f32[] 3", "f32[] 2"}, .outputs = {"f32[] 9"}},
      {.name = "vectors",
       .inputs = {"f32[4] 1.5 2 3 0.5", "f32[4] 2 0.5 -1.5 3"},
       .outputs = {"f32[4] 2.25 1.4142135 0.19245009 0.125"}},
      {.name = "a scalar exponent",
       .inputs = {"f32[3] 1 3 4.5", "f32[] 2"},
       .outputs = {"f32[3] 1 9 20.25"}},
      {.name = "a scalar base",
       .inputs = {"f32[] 2", "f32[3] 1 3 -4.5"},
       .outputs = {"f32[3] 2 8 0.044194173"}},
      {.name = "a row against a column",
       .inputs = {"f32[2,1] 3 5", "f32[1,3] 1 2 -1"},
       .outputs = {"f32[2,3] 3 9 0.33333334 5 25 0.2"}},
      {.name = "rank four, broadcast both ways",
       .inputs = {"f32[2,1,3,1] 1 2 3 4 5 6", "f32[1,2,1,2] 1 2 -1 0.5"},
       .outputs = {"f32[2,2,3,2] 1 1 2 4 3 9 1 1 0.5 1.4142135 0.33333334 1.7320508 4 16 5 25 6 36 "
                   "0.25 2 0.19999999 2.236068 0.16666667 2.4494898"}},
      {.name = "zero and negative bases",
       .inputs = {"f32[6] 0 0 -8 -2 -2 0", "f32[6] 0 2 0.5 2 3 -1"},
       .outputs = {"f32[6] 1 0 nan 4 -8 inf"},
       .check_gradient = false,
       .no_gradient_reason = "negative bases have derivatives only for whole exponents"},
      {.name = "negative bases, whole exponents: no gradient of the exponent",
       .inputs = {"f64[3] -2 -3 -1.5", "f64[3] 2 3 -2"},
       .outputs = {"f64[3] 4 -27 0.4444444444444444"},
       .gradient_inputs = {0}},
      {.name = "NaN and infinities",
       .inputs = {"f32[5] nan inf -inf 2 1", "f32[5] 1 2 3 inf nan"},
       .outputs = {"f32[5] nan inf -inf inf 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64",
       .inputs = {"f64[3] 1.5 2 9", "f64[3] 2 -1 0.5"},
       .outputs = {"f64[3] 2.25 0.5 3"}},
      {.name = "dtype i32",
       .inputs = {"i32[4] 2 -3 0 7", "i32[4] 10 3 0 1"},
       .outputs = {"i32[4] 1024 -27 1 7"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 3 -1 2", "i64[3] 20 7 62"},
       .outputs = {"i64[3] 3486784401 -1 4611686018427387904"}},
      {.name = "negative powers of integers",
       .inputs = {"i32[2] 2 2", "i32[2] 1 -1"},
       .error = "Integers to negative integer powers are not allowed"},
      {.name = "shapes that do not broadcast",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "Incompatible shapes: [2] vs. [3]"},
  };
}

// On CPUs: GPUs have denormals.
TEST_CASE("pow: denormals count as 0, as base and as exponent") {
  auto graph = parse_graph(R"(
    x = Const[dtype=DT_FLOAT, value=f32[4] 1e-40 -1e-40 1e-44 -2]()
    y = Const[dtype=DT_FLOAT, value=f32[4] 0.5 0.5 2 1e-40]()
    z = Pow[T=DT_FLOAT](x, y)
    x64 = Const[dtype=DT_DOUBLE, value=f64[4] 1e-310 -1e-310 5e-324 -2]()
    y64 = Const[dtype=DT_DOUBLE, value=f64[4] 0.5 0.5 2 1e-310]()
    z64 = Pow[T=DT_DOUBLE](x64, y64))",
                           op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  auto out = interpreter.run(*graph, {}, {"z", "z64"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK((*out)[0].data<float>()[i] == (i == 3 ? 1 : 0));
    CHECK((*out)[1].data<double>()[i] == (i == 3 ? 1 : 0));
  }
}

} // namespace
} // namespace troupe
