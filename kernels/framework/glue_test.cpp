#include "kernels/framework/glue.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"

namespace troupe {
namespace {

Tensor read(std::string_view literal) {
  return *parse_literal(literal);
}

} // namespace

TEST_CASE("glue: integers of every width that an op's sizes have") {
  using Numbers = std::vector<std::int64_t>;
  auto numbers = [](std::string_view literal) {
    Integers out = *integers(read(literal));
    return Numbers(out.begin(), out.end());
  };
  CHECK(numbers("i32[2] 1 -2") == Numbers{1, -2});
  CHECK(numbers("i64[] 9000000000") == Numbers{9000000000});
  CHECK(numbers("i16[1,2] 3 -4") == Numbers{3, -4});
  CHECK(numbers("i8[0]") == Numbers{});
  CHECK(numbers("i32[8] 1 2 3 4 5 6 7 8") == Numbers{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(numbers("i32[9] 1 2 3 4 5 6 7 8 9") == Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(!integers(read("f32[] 1")).ok());
}

TEST_CASE("glue: shapes from tensors") {
  CHECK(*shape_from(read("i32[2] 2 3")) == Shape{2, 3});
  CHECK(*shape_from(read("i64[0]")) == Shape{});
  CHECK(shape_from(read("i32[1] -1")).status() == invalid_argument("Dimension -1 must be >= 0"));
  CHECK(!shape_from(read("i64[2] 9000000000000 9000000000000")).ok());
}

} // namespace troupe
