// Cases of _FusedMatMul.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

std::vector<std::pair<std::string, AttrValue>> with(std::vector<std::string> program,
                                                    std::int64_t num_args) {
  return {{"program", std::move(program)}, {"num_args", num_args}};
}

TROUPE_OP_CASES(_FusedMatMul) {
  const std::string a = "f32[2,2] 1 2 3 4", b = "f32[2,3] 1 0 -1 0 1 1"; // 1 2 1, 3 4 1
  auto transposed = with({"Neg 0"}, 0);
  transposed.emplace_back("transpose_a", true);
  transposed.emplace_back("transpose_b", true);
  return {
      {.name = "a bias",
       .inputs = {a, b, "f32[3] 10 20 30"},
       .attrs = with({"BiasAdd 0 1"}, 1),
       .outputs = {"f32[2,3] 11 22 31 13 24 31"}},
      {.name = "a bias and relu",
       .inputs = {a, b, "f32[3] -2 -2 -2"},
       .attrs = with({"AddV2 0 1", "Relu 2"}, 1),
       .outputs = {"f32[2,3] 0 0 0 1 2 0"}},
      {.name = "nothing but the product's own",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "f32[1,3] 1 10 100"},
       .attrs = transposed,
       .outputs = {"f32[2,1] -531 -642"}},
      {.name = "the product twice, and a matrix",
       .inputs = {a, b, "f32[2,3] 1 2 3 4 5 6"},
       .attrs = with({"Square 0", "Sub 2 1", "Mul 3 0"}, 1),
       .outputs = {"f32[2,3] 0 4 -2 15 44 -5"}},
      {.name = "a gradient",
       .inputs = {a, b, "f32[2,3] 1 0 2 0 3 -1"},
       .attrs = with({"ReluGrad 0 1"}, 1),
       .outputs = {"f32[2,3] 1 0 1 0 4 0"}},
      {.name = "a sum that reads the product last",
       .inputs = {a, b, "f32[2,3] 1 1 1 1 1 1", "f32[2,3] 2 2 2 2 2 2"},
       .attrs = with({"AddN 1 2 0 0"}, 2),
       .outputs = {"f32[2,3] 5 7 5 9 11 5"}},
      {.name = "a column, a number, and what is smaller than the product",
       .inputs = {a, b, "f32[2,1] 1 2", "f32[] 3"},
       .attrs = with({"Mul 1 2", "AddV2 0 3"}, 2),
       .outputs = {"f32[2,3] 4 5 4 9 10 7"}},
      {.name = "an operand that the product is broadcast over",
       .inputs = {"f32[1,2] 1 2", "f32[2,2] 1 2 3 4", "f32[2,2,2] 0 1 2 3 4 5 6 7"},
       .attrs = with({"Neg 0", "AddV2 2 1"}, 1),
       .outputs = {"f32[2,2,2] -7 -9 -5 -7 -3 -5 -1 -3"}},
      {.name = "NaN and infinity",
       .inputs = {"f32[3,1] nan inf -inf", "f32[1,1] 1", "f32[1] 1"},
       .attrs = with({"BiasAdd 0 1", "Relu 2"}, 1),
       .outputs = {"f32[3,1] nan inf 0"}},
      {.name = "doubles",
       .inputs = {"f64[1,2] 1 2", "f64[2,1] 3 4", "f64[1] 0.5"},
       .attrs = with({"AddV2 0 1"}, 1),
       .outputs = {"f64[1,1] 11.5"}},
      {.name = "many rows, finished in parts",
       .inputs = {"f32[700,300] 1", "f32[300,400] 0.5", "f32[400] -140"},
       .attrs = with({"BiasAdd 0 1", "Relu 2"}, 1),
       .outputs = {"f32[700,400] 10"}},
      {.name = "many columns",
       .inputs = {"f32[100,300] 1", "f32[300,900] 0.5", "f32[900] -160"},
       .attrs = with({"BiasAdd 0 1", "Relu 2"}, 1),
       .outputs = {"f32[100,900] 0"}},
      {.name = "no terms",
       .inputs = {"f32[2,0]", "f32[0,2]", "f32[2] 1 2"},
       .attrs = with({"AddV2 0 1"}, 1),
       .outputs = {"f32[2,2] 1 2 1 2"}},
      {.name = "no rows",
       .inputs = {"f32[0,2]", b, "f32[3] 1 2 3"},
       .attrs = with({"AddV2 0 1"}, 1),
       .outputs = {"f32[0,3]"}},
      {.name = "a bias that does not fit",
       .inputs = {a, b, "f32[2] 0"},
       .attrs = with({"BiasAdd 0 1"}, 1),
       .error = "Must provide as many biases as the last dimension of the input tensor: "},
      {.name = "matrices that do not fit",
       .inputs = {a, "f32[3,2] 0", "f32[2] 0"},
       .attrs = with({"BiasAdd 0 1"}, 1),
       .error = "2"},
      {.name = "no matrix",
       .inputs = {"f32[2] 0", "f32[2] 0"},
       .attrs = with({"Neg 0"}, 0),
       .error = "rank"},
      {.name = "a line that is no instruction",
       .inputs = {a, b},
       .attrs = with({"Neg 1"}, 0),
       .error = "'Neg 1' is no instruction over 1 operands"},
  };
}

} // namespace
} // namespace troupe
