// Cases of _FusedElementwise, and that every op of the list can be an instruction.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise_program.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using Lines = std::vector<std::string>;

std::vector<std::pair<std::string, AttrValue>> program(Lines lines) {
  return {{"program", std::move(lines)}};
}

TROUPE_OP_CASES(_FusedElementwise) {
  return {
      {.name = "one instruction",
       .inputs = {"f32[2] 1 -2"},
       .attrs = program({"Neg 0"}),
       .outputs = {"f32[2] -1 2"}},
      {.name = "a tree",
       .inputs = {"f32[3] 1 2 3", "f32[3] 10 20 30"},
       .attrs = program({"Square 0", "Sub 1 2", "Mul 3 0"}),
       .outputs = {"f32[3] 9 32 63"}},
      {.name = "a result that two instructions read",
       .inputs = {"f64[2] 1 2"},
       .attrs = program({"Square 0", "Mul 1 1", "AddV2 1 2"}),
       .outputs = {"f64[2] 2 20"}},
      {.name = "a row, a column and a number broadcast",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "f32[3] 10 20 30", "f32[2,1] 100 200", "f32[] 2"},
       .attrs = program({"Mul 1 3", "AddV2 0 4", "Sub 5 2"}),
       .outputs = {"f32[2,3] -79 -58 -37 -176 -155 -134"}},
      {.name = "what is smaller than the result is an operand of it twice",
       .inputs = {"f32[2,1] 1 2", "f32[1,2] 10 20"},
       .attrs = program({"Square 0", "Mul 1 2", "AddV2 3 2"}),
       .outputs = {"f32[2,2] 11 21 44 84"}},
      {.name = "a bias",
       .inputs = {"f32[1,2,2] 1 2 -3 -4", "f32[2] 1 1"},
       .attrs = program({"BiasAdd 0 1", "Relu 2"}),
       .outputs = {"f32[1,2,2] 2 3 0 0"}},
      {.name = "gradients take the gradient first or last",
       .inputs = {"f32[2] 10 20", "f32[2] 1 -1", "f32[2] 0.5 2"},
       .attrs = program({"ReluGrad 0 1", "SqrtGrad 2 3"}),
       .outputs = {"f32[2] 10 0"}},
      {.name = "many terms",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4", "f32[2] 5 6"},
       .attrs = program({"Neg 0", "AddN 3 1 2 0", "AddN 4"}),
       .outputs = {"f32[2] 8 10"}},
      {.name = "an input read late is not overwritten",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4", "f32[2] 5 6"},
       .attrs = program({"AddN 0 1 2"}),
       .outputs = {"f32[2] 9 12"}},
      {.name = "a number",
       .inputs = {"f64[] 2"},
       .attrs = program({"Exp 0", "Log 1"}),
       .outputs = {"f64[] 2"}},
      {.name = "numbers left and right of a vector, and with each other",
       .inputs = {"f32[3] 1 2 3", "f32[] 10", "f32[1] 4"},
       .attrs = program({"Sub 1 2", "Square 3", "Sub 4 0", "Sub 0 1", "Mul 5 6"}),
       .outputs = {"f32[3] -315 -272 -231"}},
      {.name = "numbers beside more elements than are done in one go",
       .inputs = {"f64[] 2", "f64[5000] 3", "f64[] 5"},
       .attrs = program({"Mul 0 2", "Mul 1 3", "Neg 4", "Sub 5 4", "Sub 0 6"}),
       .outputs = {"f64[5000] 62"}},
      {.name = "a number of a higher rank than the vector",
       .inputs = {"f32[2] 1 2", "f32[1,1] 3"},
       .attrs = program({"Mul 0 1", "Neg 2"}),
       .outputs = {"f32[1,2] -3 -6"}},
      {.name = "an input that nothing reads is larger than the result",
       .inputs = {"f32[2] 1 2", "f32[] 3"},
       .attrs = program({"Square 1", "Neg 2"}),
       .outputs = {"f32[] -9"}},
      {.name = "a number among terms of another shape",
       .inputs = {"f32[2] 1 2", "f32[] 3"},
       .attrs = program({"Mul 0 1", "AddN 2 1"}),
       .error = "hape"},
      {.name = "NaN and infinity",
       .inputs = {"f32[4] nan inf -inf 0", "f32[] 1"},
       .attrs = program({"AddV2 0 1", "Maximum 2 1"}),
       .outputs = {"f32[4] nan inf 1 1"}},
      {.name = "nothing",
       .inputs = {"f32[0,3]", "f32[3] 1 2 3"},
       .attrs = program({"Mul 0 1", "Tanh 2"}),
       .outputs = {"f32[0,3]"}},
      {.name = "high rank",
       .inputs = {"f32[1,2,1,2,1,2] 1 2 3 4 5 6 7 8", "f32[2,1,1] 1 -1"},
       .attrs = program({"Mul 0 1", "Neg 2"}),
       .outputs = {"f32[1,2,1,2,1,2] -1 -2 3 4 -5 -6 7 8"}},
      {.name = "more elements than a block",
       .inputs = {"f32[300,100] 3", "f32[100] 2"},
       .attrs = program({"Mul 0 1", "Square 2", "Sub 3 0", "Sub 4 2"}),
       .outputs = {"f32[300,100] 27"}},
      {.name = "shapes that do not broadcast",
       .inputs = {"f32[2] 0", "f32[3] 0"},
       .attrs = program({"Mul 0 1", "Neg 2"}),
       .error = "2"},
      {.name = "biases that do not fit",
       .inputs = {"f32[2,3] 0", "f32[1] 0"},
       .attrs = program({"BiasAdd 0 1"}),
       .error = "Must provide as many biases as the last dimension"},
      {.name = "not one shape",
       .inputs = {"f32[2] 0", "f32[1] 0"},
       .attrs = program({"AddN 0 1"}),
       .error = "hape"},
      {.name = "an operand that is not there yet",
       .inputs = {"f32[2] 0"},
       .attrs = program({"Neg 1"}),
       .error = "'Neg 1' is no instruction over 1 operands"},
      {.name = "an unknown op",
       .inputs = {"f32[2] 0"},
       .attrs = program({"MatMul 0 0"}),
       .error = "'MatMul 0 0' is no instruction"},
  };
}

TEST_CASE("elementwise program: every op of the list is an instruction with a kernel") {
  for (const ElementwiseOp& op : elementwise_ops) {
    INFO(op.name);
    const int count = op.form == ElementwiseForm::unary ? 1 : 2;
    const Lines lines = {str_cat(op.name, count == 1 ? " 0" : " 0 1")};
    CHECK(math::ElementwiseProgram::parse(count, lines).ok());
    const bool has_schema = op_library().ops.find(op.name) != nullptr;
    CHECK(has_schema);
  }
}

} // namespace
} // namespace troupe
