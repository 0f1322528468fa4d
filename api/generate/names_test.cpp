#include "api/generate/names.hpp"

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("op names become snake case, a version stays one word") {
  CHECK(snake_case("MatMul") == "mat_mul");
  CHECK(snake_case("Conv2D") == "conv2d");
  CHECK(snake_case("Conv2DBackpropInput") == "conv2d_backprop_input");
  CHECK(snake_case("TopKV2") == "top_k_v2");
  CHECK(snake_case("L2Loss") == "l2_loss");
  CHECK(snake_case("VariableV2") == "variable_v2");
  CHECK(snake_case("BatchMatMulV3") == "batch_mat_mul_v3");
  CHECK(snake_case("VarHandleOp") == "var_handle_op");
  CHECK(snake_case("LRN") == "lrn");
}

TEST_CASE("attr names become snake case") {
  CHECK(snake_case("DstT") == "dst_t");
  CHECK(snake_case("transpose_a") == "transpose_a");
  CHECK(snake_case("N") == "n");
}

TEST_CASE("a word of C++ gets an underscore, others do not") {
  CHECK(identifier("Switch") == "switch_");
  CHECK(identifier("Const") == "const_");
  CHECK(identifier("While") == "while_");
  CHECK(identifier("LogicalAnd") == "logical_and");
}

} // namespace troupe
