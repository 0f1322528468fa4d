#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

testing::OpCase constant(std::string name, const std::string& literal) {
  Tensor value = *parse_literal(literal);
  return {.name = std::move(name),
          .attrs = {{"dtype", value.dtype()}, {"value", TensorBox{value}}},
          .outputs = {literal}};
}

TROUPE_OP_CASES(Const) {
  return {
      constant("a scalar", "f32[] 1.5"),
      constant("empty", "f64[0,3]"),
      constant("rank 6", "i64[1,2,1,2,1,1] 1 2 3 4"),
      constant("not a number", "f32[2] nan inf"),
      constant("text", "str[2] \"a\" \"\""),
      constant("bool", "bool[2] true false"),
      constant("half", "f16[2] 1 2"),
      constant("complex", "c64[1] (1,-2)"),
      {
          .name = "dtype and value disagree",
          .attrs = {{"dtype", DType::int32}, {"value", TensorBox{*parse_literal("f32[] 1")}}},
          .error = "has a value of dtype float, its attribute dtype says int32",
      },
      {
          .name = "no value",
          .attrs = {{"dtype", DType::int32}},
          .error = "NodeDef missing attr 'value' from Op<name=Const",
      },
  };
}

} // namespace
} // namespace troupe
