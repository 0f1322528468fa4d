#include "kernels/framework/tensor_text.hpp"

#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"

namespace troupe {

TEST_CASE("tensor text: a message shows the dtype, the shape and the first three values") {
  const auto text = [](std::string_view literal) { return debug_string(*parse_literal(literal)); };
  CHECK(text("f32[2,0]") == "Tensor<type: float shape: [2,0] values: >");
  CHECK(text("i64[] -7") == "Tensor<type: int64 shape: [] values: -7>");
  CHECK(text("f64[2] 0.1 2") == "Tensor<type: double shape: [2] values: 0.1 2>");
  CHECK(text("i32[4] 1 2 3 4") == "Tensor<type: int32 shape: [4] values: 1 2 3...>");
  CHECK(text("i32[2,2] 1 2 3 4") == "Tensor<type: int32 shape: [2,2] values: [1 2][3...]...>");
}

} // namespace troupe
