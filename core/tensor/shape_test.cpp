#include "core/tensor/shape.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/tensor/tensor.hpp"

using namespace troupe;

namespace {
constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
Result<Shape> make(std::vector<std::int64_t> dims) {
  return Shape::make(dims);
}
} // namespace

TEST_CASE("shape: rank, dimensions and elements") {
  Shape scalar;
  CHECK(scalar.rank() == 0);
  CHECK(scalar.is_scalar());
  CHECK(scalar.num_elements() == 1);
  CHECK(scalar.to_string() == "[]");
  Shape s{2, 3, 4};
  CHECK(s.rank() == 3);
  CHECK(s.num_elements() == 24);
  CHECK(s[1] == 3);
  CHECK(s.dim(2) == 4);
  CHECK(s.to_string() == "[2,3,4]");
  CHECK(Shape{2, 0, 4}.num_elements() == 0);
}

TEST_CASE("shape: without elements, yet its other dimensions fit, in any order") {
  constexpr std::int64_t big = std::int64_t{1} << 40;
  CHECK_FALSE(make({0, big, big}).ok());
  CHECK_FALSE(make({big, 0, big}).ok());
  CHECK_FALSE(make({big, big, 0}).ok());
  auto fits = make({big, 0, 1 << 20});
  REQUIRE(fits.ok());
  CHECK(fits->num_elements() == 0);
  CHECK(fits->without(1).num_elements() == big << 20);
}

TEST_CASE("shape: copies and moves, in place and beyond") {
  for (int rank : {0, 1, 6, 7, 20, 254}) {
    CAPTURE(rank);
    std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 1);
    if (rank)
      dims.back() = 5;
    Shape original(dims);
    Shape copy = original;
    CHECK(copy == original);
    Shape other{9, 9, 9, 9, 9, 9, 9, 9};
    other = original;
    CHECK(other == original);
    Shape moved = std::move(copy);
    CHECK(moved == original);
    Shape target{1, 2};
    target = std::move(moved);
    CHECK(target == original);
    const Shape& self = target;
    target = self;
    CHECK(target == original);
    CHECK(target.num_elements() == (rank ? 5 : 1));
  }
}

TEST_CASE("shape: derived shapes") {
  Shape s{2, 3, 4};
  CHECK(s.with_appended(5) == Shape{2, 3, 4, 5});
  CHECK(s.with_dim(1, 7) == Shape{2, 7, 4});
  CHECK(s.without(0) == Shape{3, 4});
  CHECK_FALSE(s == Shape{2, 3});
  CHECK_FALSE(s == Shape{2, 3, 5});
}

TEST_CASE("shape: numbers from outside are checked") {
  REQUIRE(make({2, 3}).ok());
  CHECK(*make({2, 3}) == Shape{2, 3});
  CHECK(make({max}).ok());
  CHECK(make({0, max}).ok());
  CHECK(make({std::int64_t{1} << 31, std::int64_t{1} << 31}).ok());
  CHECK(make({2, -1}).status() == invalid_argument("shape [2,-1] has a negative dimension"));
  CHECK(make({max, 2}).status() ==
        invalid_argument("Encountered overflow when multiplying 9223372036854775807 with 2: shape "
                         "[9223372036854775807,2] has more than 2^63 - 1 elements"));
  CHECK(make({std::int64_t{1} << 32, std::int64_t{1} << 31}).status().code() ==
        Code::invalid_argument);
  CHECK(make(std::vector<std::int64_t>(254, 1)).ok());
  CHECK(make(std::vector<std::int64_t>(255, 1)).status() ==
        invalid_argument("a shape has at most 254 dimensions, got 255"));
}

TEST_CASE("shape: computed from others it may be one that no tensor can have") {
  CHECK(Shape{2, 3}.check_size().ok());
  CHECK(Shape{max}.check_size().ok());
  CHECK(Shape{max, 2, 3, 4}.to_string() == "[9223372036854775807,2,3,4]");
  for (const Shape& shape : {Shape{max, 2}, Shape{0, max, 2}, Shape{max, 2, 3, 4},
                             Shape{max}.with_appended(16), Shape{1, max}.with_dim(0, 3)}) {
    CAPTURE(shape);
    CHECK(shape.check_size().message().find("more than 2^63 - 1 elements") != std::string::npos);
    CHECK(Tensor::allocate(host_allocator(), DType::uint8, shape).status() == shape.check_size());
    CHECK(Tensor::allocate(host_allocator(), DType::string, shape).status() == shape.check_size());
  }
  const Shape long_one = make(std::vector<std::int64_t>(254, 1))->with_appended(1);
  CHECK(long_one.check_size() == invalid_argument("a shape has at most 254 dimensions, got 255"));
  CHECK(Tensor::allocate(host_allocator(), DType::uint8, long_one).status() ==
        long_one.check_size());
}

TEST_CASE("partial shape: what is known") {
  PartialShape unknown;
  CHECK_FALSE(unknown.has_rank());
  CHECK(unknown.rank() == -1);
  CHECK(unknown.to_string() == "?");
  CHECK_FALSE(unknown.is_fully_defined());
  PartialShape some{-1, 3};
  CHECK(some.rank() == 2);
  CHECK(some.dim(0) == -1);
  CHECK(some.to_string() == "[?,3]");
  CHECK_FALSE(some.to_shape());
  PartialShape all = Shape{2, 3};
  CHECK(all.is_fully_defined());
  CHECK(*all.to_shape() == Shape{2, 3});
  CHECK(PartialShape{}.rank() == -1);
  CHECK_FALSE(PartialShape{max, 2}.to_shape());
}

TEST_CASE("partial shape: merging") {
  auto merged = PartialShape{-1, 3}.merge(PartialShape{2, -1});
  REQUIRE(merged);
  CHECK(*merged == PartialShape{2, 3});
  CHECK_FALSE(PartialShape{2, 3}.merge(PartialShape{2, 4}));
  CHECK_FALSE(PartialShape{2}.merge(PartialShape{2, 4}));
  CHECK(*PartialShape().merge(PartialShape{2}) == PartialShape{2});
  CHECK(*PartialShape{2}.merge(PartialShape()) == PartialShape{2});
  CHECK(PartialShape{-1, 3}.is_compatible_with(Shape{5, 3}));
  CHECK_FALSE(PartialShape{-1, 3}.is_compatible_with(Shape{5, 4}));
}

TEST_CASE("broadcasting: NumPy's rule") {
  struct Row {
    Shape a, b, out;
  };
  const Row rows[] = {{Shape{2, 3}, Shape{2, 3}, Shape{2, 3}},
                      {Shape{}, Shape{2}, Shape{2}},
                      {Shape{3}, Shape{2, 1}, Shape{2, 3}},
                      {Shape{1}, Shape{0}, Shape{0}},
                      {Shape{4, 1, 3}, Shape{5, 1}, Shape{4, 5, 3}}};
  for (const Row& row : rows) {
    auto ab = broadcast_shapes(row.a, row.b), ba = broadcast_shapes(row.b, row.a);
    REQUIRE(ab.ok());
    REQUIRE(ba.ok());
    CHECK(*ab == row.out);
    CHECK(*ba == row.out);
  }
  CHECK(broadcast_shapes(Shape{2}, Shape{3}).status() ==
        invalid_argument("Incompatible shapes: [2] vs. [3]"));
  CHECK_FALSE(broadcast_shapes(Shape{2}, Shape{0}).ok());
  CHECK_FALSE(
      broadcast_shapes(Shape{std::int64_t{1} << 40, 1}, Shape{1, std::int64_t{1} << 40}).ok());
}
