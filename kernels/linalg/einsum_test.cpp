// Einsum.
#include <doctest/doctest.h>

#include "graph/op/infer.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Einsum) {
  return {
      {.name = "a product",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,jk->ik")}},
       .outputs = {"f32[2,2] 13 16 40 52"}},
      {.name = "turned",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,jk->ki")}},
       .outputs = {"f32[2,2] 13 40 16 52"}},
      {.name = "a transpose",
       .inputs = {"f32[2,3] 0 1 2 3 4 5"},
       .attrs = {{"equation", std::string("ij->ji")}},
       .outputs = {"f32[3,2] 0 3 1 4 2 5"}},
      {.name = "a trace",
       .inputs = {"f32[2,2] 1 2 3 4"},
       .attrs = {{"equation", std::string("ii->")}},
       .outputs = {"f32[] 5"}},
      {.name = "a diagonal",
       .inputs = {"f32[2,2] 1 2 3 4"},
       .attrs = {{"equation", std::string("ii->i")}},
       .outputs = {"f32[2] 1 4"}},
      {.name = "onto a diagonal",
       .inputs = {"f32[2] 1 2"},
       .attrs = {{"equation", std::string("i->ii")}},
       .outputs = {"f32[2,2] 1 0 0 2"}},
      {.name = "rows summed",
       .inputs = {"f32[2,3] 0 1 2 3 4 5"},
       .attrs = {{"equation", std::string("ij->i")}},
       .outputs = {"f32[2] 3 12"}},
      {.name = "batches",
       .inputs = {"f32[2,2,2] 0 1 2 3 4 5 6 7", "f32[2,2,2] 0 1 2 3 4 5 6 7"},
       .attrs = {{"equation", std::string("bij,bjk->bik")}},
       .outputs = {"f32[2,2,2] 2 3 6 11 46 55 66 79"}},
      {.name = "an ellipsis",
       .inputs = {"f32[2,2,3] 0 1 2 3 4 5 6 7 8 9 10 11", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("...ij,jk->...ik")}},
       .outputs = {"f32[2,2,2] 13 16 40 52 67 88 94 124"}},
      {.name = "ellipses that broadcast",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3] 1 2 3"},
       .attrs = {{"equation", std::string("...,...->...")}},
       .outputs = {"f32[2,3] 0 2 6 3 8 15"}},
      {.name = "an outer product",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4"},
       .attrs = {{"equation", std::string("i,j->ij")}},
       .outputs = {"f32[2,2] 3 4 6 8"}},
      {.name = "summed in one",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[2] 1 2"},
       .attrs = {{"equation", std::string("ij,k->i")}},
       .outputs = {"f32[2] 9 36"}},
      {.name = "a dot product",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4"},
       .attrs = {{"equation", std::string("i,i->")}},
       .outputs = {"f32[] 11"}},
      {.name = "double",
       .inputs = {"f64[2,3] 0 1 2 3 4 5", "f64[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,jk->ik")}},
       .outputs = {"f64[2,2] 13 16 40 52"}},
      {.name = "half",
       .inputs = {"f16[2,3] 0 1 2 3 4 5", "f16[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,jk->ik")}},
       .outputs = {"f16[2,2] 13 16 40 52"}},
      {.name = "complex numbers",
       .inputs = {"c64[1,1] (0,1)", "c64[1,1] (2,0)"},
       .attrs = {{"equation", std::string("ij,jk->ik")}},
       .outputs = {"c64[1,1] (0,2)"}},
      {.name = "complex128",
       .inputs = {"c128[1,2] (0,1) (2,0)"},
       .attrs = {{"equation", std::string("ij->ji")}},
       .outputs = {"c128[2,1] (0,1) (2,0)"}},
      {.name = "int64",
       .inputs = {"i64[2] 1 2", "i64[2] 3 4"},
       .attrs = {{"equation", std::string("i,i->i")}},
       .outputs = {"i64[2] 3 8"}},
      {.name = "scalars",
       .inputs = {"f32[] 2"},
       .attrs = {{"equation", std::string("->")}},
       .outputs = {"f32[] 2"}},
      {.name = "nothing",
       .inputs = {"f32[2,0]", "f32[0,2]"},
       .attrs = {{"equation", std::string("ij,jk->ik")}},
       .outputs = {"f32[2,2] 0 0 0 0"}},
      {.name = "no arrow",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,jk")}},
       .error = "Expecting exactly one '->' in einsum equation: ij,jk"},
      {.name = "two arrows",
       .inputs = {"f32[2,3] 0 1 2 3 4 5"},
       .attrs = {{"equation", std::string("ij->jk->ik")}},
       .error = "Expecting exactly one '->' in einsum equation: ij->jk->ik"},
      {.name = "too many inputs",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij->ij")}},
       .error = "Expected 1 inputs but got: 2"},
      {.name = "another rank",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ijk,jk->i")}},
       .error = "Expected input 0 to have rank 3 but got: 2"},
      {.name = "extents that differ",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,ij->i")}},
       .error = "Expected dimension 2 at axis 0 of the input shaped [3,2] but got dimension 3"},
      {.name = "three operands",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6", "f32[2,3] 0 1 2 3 4 5"},
       .attrs = {{"equation", std::string("ij,jk,kl->il")}},
       .error = "Expecting 1 or 2 input subscripts in equation 'ij,jk,kl->il' but got: 3"},
      {.name = "no ellipsis in the result",
       .inputs = {"f32[2,3] 0 1 2 3 4 5"},
       .attrs = {{"equation", std::string("...i->i")}},
       .error = "Output contains 1 broadcasting dimension(s) but no ellipsis (...) was found in "
                "the output subscripts."},
  };
}

TROUPE_OP_CASES(XlaEinsum) {
  return {
      {.name = "a product",
       .inputs = {"f32[2,3] 0 1 2 3 4 5", "f32[3,2] 1 2 3 4 5 6"},
       .attrs = {{"equation", std::string("ij,jk->ik")}},
       .outputs = {"f32[2,2] 13 16 40 52"}},
      {.name = "turned, in bfloat16",
       .inputs = {"bf16[2,1] 1 2", "bf16[2,2] 1 2 3 4"},
       .attrs = {{"equation", std::string("cd,ce->de")}},
       .outputs = {"bf16[1,2] 7 10"}},
      {.name = "complex",
       .inputs = {"c64[1,2] (0,1) (2,0)", "c64[2,1] (0,1) (1,1)"},
       .attrs = {{"equation", std::string("ab,bc->ac")}},
       .outputs = {"c64[1,1] (1,2)"}},
      {.name = "an equation for one operand",
       .inputs = {"f32[2] 0 1", "f32[2] 1 2"},
       .attrs = {{"equation", std::string("i->i")}},
       .error = "Expected 1 inputs but got: 2"},
  };
}

TEST_CASE("Einsum: what a 1 of an ellipsis is broadcast with may not be known") {
  const OpSchema* schema = op_library().ops.find("Einsum");
  REQUIRE(schema);
  AttrMap attrs{{"equation", std::string("...ij,...jk->...ik")},
                {"N", std::int64_t{2}},
                {"T", DType::float32}};
  const auto outer = [&](std::int64_t a, std::int64_t b) -> std::int64_t {
    auto shapes = infer_shapes(*schema, attrs, {PartialShape{a, 2, 3}, PartialShape{b, 3, 4}},
                               std::vector<Tensor>(2));
    REQUIRE_MESSAGE(shapes.ok(), shapes.status().to_string());
    REQUIRE((*shapes)[0].rank() == 3);
    return (*shapes)[0].dim(0);
  };
  CHECK(outer(1, -1) == -1);
  CHECK(outer(-1, 1) == -1);
  CHECK(outer(-1, -1) == -1);
  CHECK(outer(-1, 5) == 5);
  CHECK(outer(5, -1) == 5);
  CHECK(outer(1, 5) == 5);
  CHECK(outer(1, 1) == 1);
}

} // namespace
} // namespace troupe
