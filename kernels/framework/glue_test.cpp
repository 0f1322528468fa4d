#include "kernels/framework/glue.hpp"

#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"

namespace troupe {
namespace {

Tensor read(std::string_view literal) {
  return *parse_literal(literal);
}

} // namespace

TEST_CASE("glue: integers of either width") {
  CHECK(*integers(read("i32[2] 1 -2"), "x") == std::vector<std::int64_t>{1, -2});
  CHECK(*integers(read("i64[] 9000000000"), "x") == std::vector<std::int64_t>{9000000000});
  CHECK(integers(read("f32[] 1"), "x").status() ==
        invalid_argument("x must be of dtype int32 or int64, got float"));
  CHECK(*integer_scalar(read("i32[] 7"), "n") == 7);
  CHECK(integer_scalar(read("i32[1] 7"), "n").status() ==
        invalid_argument("n must be a scalar, got shape [1]"));
}

TEST_CASE("glue: shapes from tensors") {
  CHECK(*shape_from_tensor(read("i32[2] 2 3"), "shape") == Shape{2, 3});
  CHECK(*shape_from_tensor(read("i64[0]"), "shape") == Shape{});
  CHECK(shape_from_tensor(read("i32[1] -1"), "shape").status() ==
        invalid_argument("Dimension -1 must be >= 0"));
  CHECK(shape_from_tensor(read("i32[1,1] 1"), "shape").status() ==
        invalid_argument("shape must be a vector of {int32,int64}, got shape [1,1]"));
  CHECK(!shape_from_tensor(read("i64[2] 9000000000000 9000000000000"), "shape").ok());
}

TEST_CASE("glue: axes are counted from the front and occur once") {
  CHECK(*normalized_axis(-1, 3) == 2);
  CHECK(normalized_axis(3, 2).status() ==
        invalid_argument("Expected axis in the range [-2, 2), but got 3"));
  CHECK(!normalized_axis(0, 0).ok());
  CHECK(*normalized_axes({1, -3}, 3) == std::vector<int>{1, 0});
  CHECK(normalized_axes({0, -2}, 2).status() ==
        invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension: 0"));
  CHECK(normalized_axes({5}, 2).status() ==
        invalid_argument("Invalid reduction dimension (5 for input with 2 dimension(s)"));
}

} // namespace troupe
