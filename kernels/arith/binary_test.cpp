#include "core/base/denormals.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <bit>
#include <functional>
#include <numeric>

namespace troupe::arith::binary_test {
namespace {

using Shape = std::vector<int64_t>;

int64_t size_of_shape(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// Position in an array of `shape` that output position `flat` of `out` reads.
int64_t source(const Shape& shape, const Shape& out, int64_t flat) {
  int64_t position = 0, stride = 1;
  for (size_t k = 0; k < out.size(); ++k) {
    const int64_t dim = out[out.size() - 1 - k], index = flat % dim;
    flat /= dim;
    if (k < shape.size()) {
      const int64_t mine = shape[shape.size() - 1 - k];
      position += (mine == 1 ? 0 : index) * stride;
      stride *= mine;
    }
  }
  return position;
}

const std::vector<std::pair<Shape, Shape>>& shape_pairs() {
  static const std::vector<std::pair<Shape, Shape>> pairs = {
      {{}, {}},
      {{1}, {1}},
      {{0}, {1}},
      {{2, 0, 3}, {3}},
      {{7}, {7}},
      {{1003}, {1003}},
      {{1003}, {}},
      {{}, {1003}},
      {{31, 17}, {17}},
      {{400, 5}, {5}}, // a short row for many
      {{64}, {90, 64}},
      {{2, 300, 3}, {3}},
      {{31, 17}, {31, 1}},
      {{31, 1}, {1, 17}},
      {{3, 1, 5}, {4, 1}},
      {{2, 3, 4, 5}, {3, 1, 5}},
      {{1, 3, 1, 5, 1, 2}, {4, 1, 2, 1, 3, 2}},
  };
  return pairs;
}

/// Runs the op over the plan in three ranges and compares every element with the reference.
template <class T, class R>
void check_broadcast(BinaryOp op, std::function<R(T, T)> reference, double low, double high) {
  BinaryKernel kernel = binary(op, type_of<T>());
  REQUIRE(kernel);
  for (const auto& [sa, sb] : shape_pairs()) {
    std::vector<int64_t> out_shape;
    REQUIRE(broadcast_shape(sa, sb, out_shape));
    BroadcastPlan plan;
    REQUIRE(make_broadcast_plan({sa, sb}, plan));
    const int64_t n = size_of_shape(out_shape);
    CHECK(plan.size == n);
    const std::vector<T> a = random_values<T>(size_of_shape(sa), low, high, 11),
                         b = random_values<T>(size_of_shape(sb), low, high, 12);
    std::vector<R> out(static_cast<size_t>(n) + 1, R(99));
    const int64_t first = n / 3, second = n / 2;
    CHECK(kernel(plan, a.data(), b.data(), out.data(), 0, first));
    CHECK(kernel(plan, a.data(), b.data(), out.data(), second, n));
    CHECK(kernel(plan, a.data(), b.data(), out.data(), first, second));
    CHECK(out.back() == R(99));
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
      const R want = reference(a[static_cast<size_t>(source(sa, out_shape, i))],
                               b[static_cast<size_t>(source(sb, out_shape, i))]);
      const double error =
          std::abs(static_cast<double>(out[static_cast<size_t>(i)]) - static_cast<double>(want));
      wrong += error > 1e-6 * (1 + std::abs(static_cast<double>(want)));
    }
    CHECK(wrong == 0);
  }
}

template <class T>
void check_arithmetic() {
  check_broadcast<T, T>(
      BinaryOp::add, [](T a, T b) { return T(a + b); }, -50, 50);
  check_broadcast<T, T>(
      BinaryOp::sub, [](T a, T b) { return T(a - b); }, -50, 50);
  check_broadcast<T, T>(
      BinaryOp::mul, [](T a, T b) { return T(a * b); }, -50, 50);
  check_broadcast<T, T>(
      BinaryOp::maximum, [](T a, T b) { return std::max(a, b); }, -50, 50);
  check_broadcast<T, T>(
      BinaryOp::minimum, [](T a, T b) { return std::min(a, b); }, -50, 50);
  check_broadcast<T, T>(
      BinaryOp::squared_difference, [](T a, T b) { return T((a - b) * (a - b)); }, -50, 50);
}

template <class T>
void check_comparisons() {
  check_broadcast<T, uint8_t>(
      BinaryOp::equal, [](T a, T b) { return a == b; }, 0, 4);
  check_broadcast<T, uint8_t>(
      BinaryOp::not_equal, [](T a, T b) { return a != b; }, 0, 4);
  check_broadcast<T, uint8_t>(
      BinaryOp::less, [](T a, T b) { return a < b; }, 0, 4);
  check_broadcast<T, uint8_t>(
      BinaryOp::less_equal, [](T a, T b) { return a <= b; }, 0, 4);
  check_broadcast<T, uint8_t>(
      BinaryOp::greater, [](T a, T b) { return a > b; }, 0, 4);
  check_broadcast<T, uint8_t>(
      BinaryOp::greater_equal, [](T a, T b) { return a >= b; }, 0, 4);
}

template <class T>
void check_reals() {
  check_broadcast<T, T>(
      BinaryOp::real_div, [](T a, T b) { return a / b; }, 1, 9);
  check_broadcast<T, T>(
      BinaryOp::floor_div, [](T a, T b) { return std::floor(a / b); }, -9, 9);
  check_broadcast<T, T>(
      BinaryOp::trunc_div, [](T a, T b) { return std::trunc(a / b); }, -9, 9);
  check_broadcast<T, T>(
      BinaryOp::trunc_mod, [](T a, T b) { return std::fmod(a, b); }, -9, 9);
  check_broadcast<T, T>(
      BinaryOp::floor_mod,
      [](T a, T b) {
        T r = std::fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
      },
      -9, 9);
  check_broadcast<T, T>(
      BinaryOp::pow, [](T a, T b) { return std::pow(a, b); }, 0.1, 4);
  check_broadcast<T, T>(
      BinaryOp::atan2, [](T a, T b) { return std::atan2(a, b); }, -4, 4);
  check_broadcast<T, T>(
      BinaryOp::div_no_nan, [](T a, T b) { return b == 0 ? 0 : a / b; }, 0.5, 4);
  check_broadcast<T, T>(
      BinaryOp::mul_no_nan, [](T a, T b) { return b == 0 ? 0 : a * b; }, 0.5, 4);
}

float floor_mod(float a, float b) {
  const float r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

bool same_float(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Numbers of all exponents, whole numbers, multiples of each other, and what has no number.
std::vector<float> dividends_and_divisors(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> out(static_cast<size_t>(n));
  constexpr float special[] = {0.0F, -0.0F,     INFINITY, -INFINITY, NAN,
                               1.0F, 0x1p-149F, 3.4e38F,  -0x1p-127F};
  for (float& x : out)
    switch (random() % 8) {
    case 0:
      x = std::bit_cast<float>(static_cast<uint32_t>(random()));
      break;
    case 1:
      x = special[random() % std::size(special)];
      break;
    case 2:
    case 3:
      x = static_cast<float>(static_cast<int>(random() % 41) - 20);
      break;
    default:
      x = std::ldexp(static_cast<float>(random() % 0x1000000) - 0x800000,
                     static_cast<int>(random() % 12) - 20);
    }
  return out;
}

void check_remainders() {
  for (int64_t n : {1, 63, 64, 65, 1000, 20000}) {
    const auto a = dividends_and_divisors(n, 5), b = dividends_and_divisors(n, 6);
    for (const bool floors : {false, true})
      for (int mode = 0; mode < 3; ++mode) {
        const BinaryRow row =
            isa_table().binary(floors ? BinaryOp::floor_mod : BinaryOp::trunc_mod, Type::float32);
        std::vector<float> out(a.size());
        REQUIRE(row(a.data(), b.data(), out.data(), n, static_cast<RowMode>(mode)));
        int wrong = 0;
        for (size_t i = 0; i < out.size(); ++i) {
          const float x = static_cast<RowMode>(mode) == RowMode::left_scalar ? a[0] : a[i];
          const float y = static_cast<RowMode>(mode) == RowMode::right_scalar ? b[0] : b[i];
          wrong += !same_float(out[i], floors ? floor_mod(x, y) : std::fmod(x, y));
        }
        CAPTURE(n);
        CAPTURE(mode);
        CHECK(wrong == 0);
      }
  }
}

template <class T>
void check_integer_division() {
  const T low = std::numeric_limits<T>::min();
  const std::vector<T> a = {7, -7, 7, -7, 6, 0, low, 5}, b = {2, 2, -2, -2, 3, 5, -1, low};
  auto run = [&](BinaryOp op) {
    std::vector<T> out(a.size());
    CHECK(binary(op, type_of<T>())(flat_plan(8), a.data(), b.data(), out.data(), 0, 8));
    return out;
  };
  CHECK(run(BinaryOp::trunc_div) == std::vector<T>{3, -3, -3, 3, 2, 0, low, 0});
  CHECK(run(BinaryOp::floor_div) == std::vector<T>{3, -4, -4, 3, 2, 0, low, -1});
  CHECK(run(BinaryOp::trunc_mod) == std::vector<T>{1, -1, 1, -1, 0, 0, 0, 5});
  CHECK(run(BinaryOp::floor_mod) == std::vector<T>{1, 1, -1, -1, 0, 0, 0, low + 5});
  const std::vector<T> zero = {1, 1, 1, 1, 1, 1, 1, 0};
  std::vector<T> out(8);
  for (BinaryOp op :
       {BinaryOp::trunc_div, BinaryOp::floor_div, BinaryOp::trunc_mod, BinaryOp::floor_mod}) {
    CHECK_FALSE(binary(op, type_of<T>())(flat_plan(8), a.data(), zero.data(), out.data(), 0, 8));
    CHECK(binary(op, type_of<T>())(flat_plan(8), a.data(), zero.data(), out.data(), 0, 7));
  }
  const std::vector<T> base = {2, -3, 0, 10}, exponent = {10, 3, 0, 4}, negative = {1, -1, 1, 1};
  CHECK(binary(BinaryOp::pow, type_of<T>())(flat_plan(4), base.data(), exponent.data(), out.data(),
                                            0, 4));
  CHECK(out[0] == 1024);
  CHECK(out[1] == -27);
  CHECK(out[2] == 1);
  CHECK(out[3] == 10000);
  CHECK_FALSE(binary(BinaryOp::pow, type_of<T>())(flat_plan(4), base.data(), negative.data(),
                                                  out.data(), 0, 4));
}

TEST_CASE("remainders that are denormal are not lost where denormals are flushed") {
  on_each_isa([] {
    const BinaryRow row = isa_table().binary(BinaryOp::trunc_mod, Type::float32);
    const float a[] = {1.5e-38f, -1.5e-38f, 1.4e-38f}, b = 1.2e-38f;
    const std::vector<float> want = {std::fmod(a[0], b), std::fmod(a[1], b), std::fmod(a[2], b)};
    std::vector<float> out(3);
    {
      const FlushDenormals flush;
      REQUIRE(row(a, &b, out.data(), 3, RowMode::right_scalar));
    }
    CHECK(out == want);
    CHECK(std::fpclassify(out[0]) == FP_SUBNORMAL);
  });
}

TEST_CASE("remainders of floats are exact, of whatever size the quotient is") {
  on_each_isa(check_remainders);
}

TEST_CASE("binary arithmetic broadcasts like NumPy for every type it has") {
  on_each_isa([] {
    check_arithmetic<float>();
    check_arithmetic<double>();
    check_arithmetic<int32_t>();
    check_arithmetic<int64_t>();
    check_reals<float>();
    check_reals<double>();
    check_broadcast<uint8_t, uint8_t>(
        BinaryOp::add, [](uint8_t a, uint8_t b) { return uint8_t(a + b); }, 0, 250);
    check_broadcast<uint8_t, uint8_t>(
        BinaryOp::maximum, [](uint8_t a, uint8_t b) { return std::max(a, b); }, 0, 250);
    check_broadcast<int16_t, int16_t>(
        BinaryOp::mul, [](int16_t a, int16_t b) { return int16_t(a * b); }, -150, 150);
    check_broadcast<uint64_t, uint64_t>(
        BinaryOp::minimum, [](uint64_t a, uint64_t b) { return std::min(a, b); }, 0, 1e19);
    CHECK_FALSE(binary(BinaryOp::real_div, Type::int32));
    CHECK_FALSE(binary(BinaryOp::add, Type::bool_));
    CHECK_FALSE(binary(BinaryOp::less, Type::bool_));
  });
}

TEST_CASE("comparisons give booleans for every type") {
  on_each_isa([] {
    check_comparisons<float>();
    check_comparisons<double>();
    check_comparisons<int32_t>();
    check_comparisons<int64_t>();
    check_comparisons<uint8_t>();
    check_comparisons<int8_t>();
    check_comparisons<uint16_t>();
    check_comparisons<uint64_t>();
    const std::vector<uint8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
    std::vector<uint8_t> out(4);
    binary(BinaryOp::logical_and, Type::bool_)(flat_plan(4), a.data(), b.data(), out.data(), 0, 4);
    CHECK(out == std::vector<uint8_t>{0, 0, 0, 1});
    binary(BinaryOp::logical_or, Type::bool_)(flat_plan(4), a.data(), b.data(), out.data(), 0, 4);
    CHECK(out == std::vector<uint8_t>{0, 1, 1, 1});
    binary(BinaryOp::equal, Type::bool_)(flat_plan(4), a.data(), b.data(), out.data(), 0, 4);
    CHECK(out == std::vector<uint8_t>{1, 0, 0, 1});
  });
}

TEST_CASE("integer division by zero and negative powers are reported and do not crash") {
  on_each_isa([] {
    check_integer_division<int32_t>();
    check_integer_division<int64_t>();
  });
}

TEST_CASE("maximum and minimum pass NaN on from either side, comparisons with NaN are false") {
  on_each_isa([] {
    std::vector<float> a(40, 1), b(40, 2), out(40);
    a[3] = b[20] = NAN;
    for (BinaryOp op : {BinaryOp::maximum, BinaryOp::minimum}) {
      binary(op, Type::float32)(flat_plan(40), a.data(), b.data(), out.data(), 0, 40);
      CHECK(std::isnan(out[3]));
      CHECK(std::isnan(out[20]));
      CHECK(out[4] == (op == BinaryOp::maximum ? 2 : 1));
    }
    std::vector<uint8_t> answer(40);
    binary(BinaryOp::greater_equal, Type::float32)(flat_plan(40), a.data(), b.data(), answer.data(),
                                                   0, 40);
    CHECK(answer[3] == 0);
    const std::vector<float> zero(40, 0);
    binary(BinaryOp::div_no_nan, Type::float32)(flat_plan(40), a.data(), zero.data(), out.data(), 0,
                                                40);
    CHECK(out[3] == 0);
  });
}

template <class T>
void check_angles() {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const std::vector<T> numbers = {0,    T(-0.0), 1,         -1,         inf,     -inf,
                                  NAN,  3,       T(-1e-30), T(1e30),    T(0.25), T(-7),
                                  T(9), T(2e-3), T(1e-37),  T(-1.0001), 1e-3f,   T(-2e5)};
  std::vector<T> y, x;
  for (const T a : numbers)
    for (const T b : numbers) {
      y.push_back(a);
      x.push_back(b);
    }
  const auto n = static_cast<int64_t>(y.size());
  std::vector<T> out(y.size());
  binary(BinaryOp::atan2, type_of<T>())(flat_plan(n), y.data(), x.data(), out.data(), 0, n);
  for (size_t i = 0; i < y.size(); ++i) {
    CAPTURE(y[i]);
    CAPTURE(x[i]);
    const long double want = atan2l(y[i], x[i]);
    CHECK(ulp_distance(out[i], want) <= 2);
    if (!std::isnan(want))
      CHECK(std::signbit(out[i]) == std::signbit(want));
  }
}

TEST_CASE("angles are right in every quadrant, for zeros of either sign, infinities and NaN") {
  on_each_isa([] {
    check_angles<float>();
    check_angles<double>();
  });
}

TEST_CASE("powers by a common exponent of 2 or -1 equal those by an array") {
  on_each_isa([] {
    const std::vector<double> x = {-3, 0.5, 2, 1e200};
    for (double exponent : {2.0, -1.0, 3.0}) {
      BroadcastPlan plan;
      const Shape four = {4}, none = {};
      REQUIRE(make_broadcast_plan({four, none}, plan));
      std::vector<double> out(4);
      binary(BinaryOp::pow, Type::float64)(plan, x.data(), &exponent, out.data(), 0, 4);
      for (size_t i = 0; i < 4; ++i)
        CHECK(ulp_distance(out[i], static_cast<long double>(std::pow(x[i], exponent))) <= 1);
    }
  });
}

TEST_CASE("shapes that do not broadcast are refused, and alike dimensions are merged") {
  BroadcastPlan plan;
  const Shape a = {2, 3}, b = {2}, c = {4, 5, 6, 7}, d = {6, 7};
  CHECK_FALSE(make_broadcast_plan({a, b}, plan));
  std::vector<int64_t> out;
  CHECK_FALSE(broadcast_shape(a, b, out));
  REQUIRE(make_broadcast_plan({c, d}, plan));
  CHECK(plan.rank == 2);
  CHECK(plan.dims[0] == 20);
  CHECK(plan.dims[1] == 42);
  Shape even, odd;
  for (int k = 0; k < 10; ++k) {
    even.push_back(k % 2 == 0 ? 2 : 1);
    odd.push_back(k % 2 == 0 ? 1 : 2);
  }
  CHECK_FALSE(make_broadcast_plan({even, odd}, plan));
  even.resize(8);
  odd.resize(8);
  CHECK(make_broadcast_plan({even, odd}, plan));
}

TEST_CASE("select takes from either side by element size, with all three inputs broadcast") {
  on_each_isa([] {
    for (const auto& shapes : std::vector<std::vector<Shape>>{{{5, 3}, {5, 3}, {5, 3}},
                                                              {{5, 1}, {5, 3}, {3}},
                                                              {{3}, {}, {5, 3}},
                                                              {{}, {5, 3}, {5, 3}},
                                                              {{0}, {0}, {}}}) {
      Shape out_shape, first;
      REQUIRE(broadcast_shape(shapes[0], shapes[1], first));
      REQUIRE(broadcast_shape(first, shapes[2], out_shape));
      BroadcastPlan plan;
      REQUIRE(make_broadcast_plan({shapes[0], shapes[1], shapes[2]}, plan));
      const int64_t n = plan.size;
      const auto cond = random_values<uint8_t>(size_of_shape(shapes[0]), 0, 2, 5);
      for (int size : {1, 2, 4, 8, 16}) {
        const auto a = random_values<uint8_t>(size_of_shape(shapes[1]) * size, 0, 255, 6),
                   b = random_values<uint8_t>(size_of_shape(shapes[2]) * size, 0, 255, 7);
        std::vector<uint8_t> out(static_cast<size_t>(n * size)), want;
        select(size, plan, cond.data(), a.data(), b.data(), out.data(), 0, n / 2);
        select(size, plan, cond.data(), a.data(), b.data(), out.data(), n / 2, n);
        for (int64_t i = 0; i < n; ++i) {
          const bool left = cond[static_cast<size_t>(source(shapes[0], out_shape, i))] != 0;
          const int64_t at = source(left ? shapes[1] : shapes[2], out_shape, i);
          const auto from = (left ? a : b).begin() + at * size;
          want.insert(want.end(), from, from + size);
        }
        CHECK(out == want);
      }
    }
  });
}

void check_fill(int size, const std::vector<uint8_t>& value, int64_t n) {
  const auto width = static_cast<size_t>(size);
  std::vector<uint8_t> out(width * static_cast<size_t>(n + 2), 0);
  fill(size, value.data(), out.data(), 1, n + 1);
  std::vector<uint8_t> want(width, 0);
  for (int64_t i = 0; i < n; ++i)
    want.insert(want.end(), value.begin(), value.end());
  want.resize(out.size(), 0);
  CHECK(out == want);
}

TEST_CASE("fill sets only its range") {
  for (const int size : {1, 2, 4, 8, 16, -2, -4, -8, -16}) { // below 0: of equal bytes
    auto value = random_values<uint8_t>(std::abs(size), 1, 255, 8);
    if (size < 0)
      std::fill(value.begin(), value.end(), uint8_t{9});
    on_each_isa([&] {
      for (int64_t n = 0; n < 300; n = n < 20 ? n + 1 : 2 * n + 1)
        check_fill(std::abs(size), value, n);
    });
  }
}

} // namespace
} // namespace troupe::arith::binary_test
