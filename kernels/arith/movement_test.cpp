#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/movement.hpp"
#include <algorithm>
#include <numeric>

namespace troupe::arith::movement_test {
namespace {

using Shape = std::vector<int64_t>;

int64_t size_of_shape(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Shape indices_of(const Shape& shape, int64_t flat) {
  Shape result(shape.size());
  for (size_t k = shape.size(); k-- > 0;) {
    result[k] = flat % shape[k];
    flat /= shape[k];
  }
  return result;
}

int64_t flat_of(const Shape& shape, const Shape& index) {
  int64_t flat = 0;
  for (size_t k = 0; k < shape.size(); ++k)
    flat = flat * shape[k] + index[k];
  return flat;
}

/// Copies in three ranges and compares with where(i), the strided position of dense element i; then
/// the other direction.
template <class Where>
void check_plan(const StridedPlan& plan, int64_t strided_size, Where where,
                bool one_to_one = true) {
  for (int size : {1, 2, 4, 8, 16}) {
    const auto width = static_cast<size_t>(size);
    const auto source = random_values<uint8_t>(strided_size * size, 0, 255, 51);
    std::vector<uint8_t> dense(static_cast<size_t>(plan.size) * width);
    const int64_t a = plan.size / 3, b = plan.size * 3 / 4;
    copy_from_strided(size, plan, source.data(), dense.data(), 0, a);
    copy_from_strided(size, plan, source.data(), dense.data(), b, plan.size);
    copy_from_strided(size, plan, source.data(), dense.data(), a, b);
    int wrong = 0;
    for (int64_t i = 0; i < plan.size; ++i)
      wrong += !std::equal(dense.begin() + i * size, dense.begin() + (i + 1) * size,
                           source.begin() + where(i) * size);
    CHECK(wrong == 0);
    if (!one_to_one)
      continue;
    std::vector<uint8_t> back(source.size(), 0);
    copy_to_strided(size, plan, dense.data(), back.data(), 0, b);
    copy_to_strided(size, plan, dense.data(), back.data(), b, plan.size);
    std::vector<uint8_t> want(source.size(), 0);
    for (int64_t i = 0; i < plan.size; ++i)
      std::copy_n(source.begin() + where(i) * size, size, want.begin() + where(i) * size);
    CHECK(back == want);
  }
}

TEST_CASE("transposes move every element to its place, for every element size and split") {
  const std::vector<std::pair<Shape, std::vector<int>>> cases = {
      {{}, {}},
      {{5}, {0}},
      {{0, 3}, {1, 0}},
      {{3, 5}, {1, 0}},
      {{40, 37}, {1, 0}},
      {{100, 3}, {1, 0}},
      {{2, 17, 19, 5}, {0, 3, 1, 2}},
      {{2, 5, 17, 19}, {0, 2, 3, 1}},
      {{4, 5, 6}, {2, 1, 0}},
      {{4, 5, 6}, {1, 0, 2}},
      {{4, 1, 6}, {2, 1, 0}},
      {{2, 3, 4, 5, 6}, {4, 2, 0, 3, 1}},
      {{2, 9, 7, 21}, {0, 3, 2, 1}},
      {{3, 9, 7, 21}, {3, 2, 1, 0}},
      {{5, 6, 9, 8}, {3, 1, 0, 2}},
      {{8, 3, 2, 65}, {3, 2, 1, 0}}, // half a tile in a row
      {{4, 3, 2, 33}, {3, 2, 1, 0}},
  };
  for (const auto& [shape, perm] : cases) {
    StridedPlan plan;
    REQUIRE(make_transpose_plan(shape, perm, plan));
    Shape out;
    for (int axis : perm)
      out.push_back(shape[static_cast<size_t>(axis)]);
    const Shape in = shape;
    const std::vector<int> order = perm;
    check_plan(plan, size_of_shape(shape), [&](int64_t i) {
      const Shape index = indices_of(out, i);
      Shape original(in.size());
      for (size_t k = 0; k < order.size(); ++k)
        original[static_cast<size_t>(order[k])] = index[k];
      return flat_of(in, original);
    });
  }
}

TEST_CASE(
    "slices go forwards, backwards and in steps, and their inverse writes only its elements") {
  struct Slice {
    Shape shape, begin, step, sizes;
  };
  for (const Slice& s : {Slice{{10}, {2}, {3}, {3}},
                         {{10}, {9}, {-1}, {10}},
                         {{3, 50}, {0, 48}, {1, -1}, {3, 47}},
                         {{6, 7}, {1, 2}, {2, 2}, {3, 3}},
                         {{6, 7}, {5, 6}, {-2, -3}, {3, 3}},
                         {{4, 5, 6}, {0, 1, 0}, {1, 1, 1}, {4, 2, 6}},
                         {{4, 5, 6}, {3, 0, 5}, {1, 1, -1}, {1, 5, 6}},
                         {{4, 5}, {0, 0}, {1, 1}, {0, 5}}}) {
    StridedPlan plan;
    REQUIRE(make_slice_plan(s.shape, s.begin, s.step, s.sizes, plan));
    CHECK(plan.size == size_of_shape(s.sizes));
    check_plan(plan, size_of_shape(s.shape), [&](int64_t i) {
      Shape index = indices_of(s.sizes, i);
      for (size_t k = 0; k < index.size(); ++k)
        index[k] = s.begin[k] + index[k] * s.step[k];
      return flat_of(s.shape, index);
    });
  }
}

TEST_CASE("rows of one value each, of all lengths and in parts") {
  on_each_isa([] {
    for (int64_t n : {1, 2, 3, 7, 15, 16, 17, 33, 64, 100}) {
      StridedPlan columns, planes;
      const Shape column{5, 1}, wide{5, n}, block{5, 1, 3, 1}, large{5, 2, 3, n};
      REQUIRE(make_broadcast_to_plan(column, wide, columns));
      check_plan(
          columns, 5, [&](int64_t i) { return i / n; }, false);
      REQUIRE(make_broadcast_to_plan(block, large, planes));
      check_plan(
          planes, 15, [&](int64_t i) { return i / n / 6 * 3 + i / n % 3; }, false);
    }
  });
}

TEST_CASE("what lies among copied elements is filled, whatever the parts") {
  struct Pad {
    Shape shape, begin, sizes;
  };
  for (const Pad& s : {Pad{{7}, {2}, {3}},
                       {{1}, {0}, {1}},
                       {{6, 7}, {1, 2}, {3, 3}},
                       {{4, 4}, {0, 1}, {3, 1}}, // a column: no neighbours
                       {{3, 9}, {1, 0}, {1, 9}},
                       {{4, 5, 6, 3}, {1, 2, 0, 1}, {2, 2, 6, 1}}}) {
    StridedPlan plan;
    REQUIRE(make_slice_plan(s.shape, s.begin, Shape(s.shape.size(), 1), s.sizes, plan));
    for (int size : {1, 2, 4, 8, 16}) {
      const int64_t total = size_of_shape(s.shape);
      const auto dense = random_values<uint8_t>(plan.size * size, 0, 255, 52);
      const auto value = random_values<uint8_t>(size, 0, 255, 53);
      std::vector<uint8_t> want, got(static_cast<size_t>(total * size), 7);
      for (int64_t i = 0; i < total; ++i)
        want.insert(want.end(), value.begin(), value.end());
      copy_to_strided(size, plan, dense.data(), want.data(), 0, plan.size);
      const int64_t middle = plan.size / 2;
      copy_among(size, plan, dense.data(), got.data(), total, value.data(), middle, plan.size);
      if (middle > 0)
        copy_among(size, plan, dense.data(), got.data(), total, value.data(), 0, middle);
      CHECK(got == want);
    }
  }
}

TEST_CASE("runs of all lengths are copied between rows of any length") {
  for (int64_t bytes : {1, 2, 3, 4, 8, 12, 16, 40}) {
    const auto from = random_values<uint8_t>(5 * 50, 0, 255, 54);
    std::vector<uint8_t> to(5 * 60, 1), want = to;
    for (size_t r = 0; r < 5; ++r)
      std::copy_n(from.begin() + static_cast<int64_t>(r) * 50, bytes,
                  want.begin() + static_cast<int64_t>(r) * 60);
    copy_runs(from.data(), 50, to.data(), 60, 5, bytes);
    CHECK(to == want);
  }
}

TEST_CASE("tiles and broadcasts repeat elements") {
  const Shape shape = {3, 1, 4}, multiples = {2, 3, 2}, tiled = {6, 3, 8};
  StridedPlan plan;
  REQUIRE(make_tile_plan(shape, multiples, plan));
  CHECK(plan.size == 144);
  check_plan(
      plan, 12,
      [&](int64_t i) {
        Shape index = indices_of(tiled, i);
        for (size_t k = 0; k < 3; ++k)
          index[k] %= shape[k];
        return flat_of(shape, index);
      },
      false);
  const Shape from = {4, 1}, to = {3, 4, 5}, wrong = {2};
  REQUIRE(make_broadcast_to_plan(from, to, plan));
  check_plan(
      plan, 4, [](int64_t i) { return i / 5 % 4; }, false);
  CHECK_FALSE(make_broadcast_to_plan(wrong, to, plan));
}

TEST_CASE("ranges round each step, and integers wrap") {
  std::vector<float> floats(1003);
  range(0.1f, 0.3f, floats.data(), 0, 1003);
  std::vector<double> doubles(1003);
  range(-1.5, 0.1, doubles.data(), 0, 1003);
  std::vector<int32_t> small(1003);
  range(7, -3, small.data(), 400, 1003); // in any order of pieces
  range(7, -3, small.data(), 0, 400);
  int wrong = 0;
  for (int i = 0; i < 1003; ++i) {
    const auto k = static_cast<size_t>(i);
    const volatile float float_step = static_cast<float>(i) * 0.3f;
    const volatile double double_step = i * 0.1;
    wrong += floats[k] != 0.1f + float_step;
    wrong += doubles[k] != -1.5 + double_step;
    wrong += small[k] != 7 - 3 * i;
  }
  CHECK(wrong == 0);
  std::vector<int64_t> wide(3);
  range<int64_t>(INT64_MIN, INT64_MAX, wide.data(), 0, 3);
  CHECK(wide == std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1});
}

TEST_CASE("gather copies rows of each block, and bad indices are found first") {
  const std::vector<int64_t> wide = {3, 0, 2, 2};
  const std::vector<int32_t> narrow = {3, 0, 2, 2};
  for (int64_t row_bytes : {1, 4, 24}) {
    const auto params = random_values<uint8_t>(2 * 5 * row_bytes, 0, 255, 61);
    std::vector<uint8_t> out(static_cast<size_t>(2 * 4 * row_bytes)), same(out.size()), want;
    gather_rows(Type::int64, params.data(), 5, row_bytes, wide.data(), 4, out.data(), 0, 3);
    gather_rows(Type::int64, params.data(), 5, row_bytes, wide.data(), 4, out.data(), 3, 8);
    gather_rows(Type::int32, params.data(), 5, row_bytes, narrow.data(), 4, same.data(), 0, 8);
    for (int64_t block = 0; block < 2; ++block)
      for (int64_t index : wide) {
        const auto from = params.begin() + (block * 5 + index) * row_bytes;
        want.insert(want.end(), from, from + row_bytes);
      }
    CHECK(out == want);
    CHECK(same == want);
  }
  CHECK(find_bad_index(Type::int64, wide.data(), 0, 4, 4) == -1);
  CHECK(find_bad_index(Type::int32, narrow.data(), 0, 4, 3) == 0);
  CHECK(find_bad_index(Type::int32, narrow.data(), 1, 4, 2) == 2);
  const std::vector<int64_t> negative = {0, -1};
  CHECK(find_bad_index(Type::int64, negative.data(), 0, 2, 4) == 1);
}

} // namespace
} // namespace troupe::arith::movement_test
