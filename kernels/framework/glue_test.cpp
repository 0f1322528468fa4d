#include "kernels/framework/glue.hpp"

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
  CHECK(*integers(read("i32[2] 1 -2")) == Numbers{1, -2});
  CHECK(*integers(read("i64[] 9000000000")) == Numbers{9000000000});
  CHECK(*integers(read("i16[1,2] 3 -4")) == Numbers{3, -4});
  CHECK(*integers(read("i8[0]")) == Numbers{});
  CHECK(!integers(read("f32[] 1")).ok());
}

TEST_CASE("glue: shapes from tensors") {
  CHECK(*shape_from(read("i32[2] 2 3")) == Shape{2, 3});
  CHECK(*shape_from(read("i64[0]")) == Shape{});
  CHECK(shape_from(read("i32[1] -1")).status() == invalid_argument("Dimension -1 must be >= 0"));
  CHECK(!shape_from(read("i64[2] 9000000000000 9000000000000")).ok());
}

} // namespace troupe
