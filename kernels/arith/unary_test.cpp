#include "kernels/arith/elementwise.hpp"
#include <complex>

#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/lookup.hpp"
#include <functional>

namespace troupe::arith::unary_test {
namespace {

using Reference = std::function<long double(long double)>;

struct Case {
  UnaryOp op;
  std::string name;
  Reference reference;
  double low, high;
  double ulp;
};

const std::vector<Case>& real_cases() {
  static const std::vector<Case> cases = {
      {UnaryOp::neg, "neg", [](long double x) { return -x; }, -9, 9, 0},
      {UnaryOp::abs, "abs", [](long double x) { return fabsl(x); }, -9, 9, 0},
      {UnaryOp::sign, "sign",
       [](long double x) {
         return std::isnan(x) ? x : x > 0 ? 1.0L : x < 0 ? -1.0L : 0.0L;
       },
       -9, 9, 0},
      {UnaryOp::square, "square", [](long double x) { return x * x; }, -9, 9, 0.5},
      {UnaryOp::relu, "relu", [](long double x) { return x < 0 ? 0 : x; }, -9, 9, 0},
      {UnaryOp::relu6, "relu6", [](long double x) { return x < 0   ? 0
                                                           : x > 6 ? 6
                                                                   : x; }, -9, 9, 0},
      {UnaryOp::sqrt, "sqrt", [](long double x) { return sqrtl(x); }, 0, 100, 0.5},
      {UnaryOp::rsqrt, "rsqrt", [](long double x) { return 1 / sqrtl(x); }, 0.001, 100, 1.5},
      {UnaryOp::reciprocal, "reciprocal", [](long double x) { return 1 / x; }, 0.001, 100, 0.5},
      {UnaryOp::exp, "exp", [](long double x) { return expl(x); }, -87, 88, 2},
      {UnaryOp::exp, "exp near 0", [](long double x) { return expl(x); }, -0.5, 0.5, 1},
      {UnaryOp::expm1, "expm1", [](long double x) { return expm1l(x); }, -20, 80, 3},
      {UnaryOp::expm1, "expm1 near 0", [](long double x) { return expm1l(x); }, -0.7, 0.7, 3},
      {UnaryOp::log, "log", [](long double x) { return logl(x); }, 0.001, 100, 2},
      {UnaryOp::log, "log near 1", [](long double x) { return logl(x); }, 0.9, 1.1, 2},
      {UnaryOp::log1p, "log1p", [](long double x) { return log1pl(x); }, -0.9, 10, 3},
      {UnaryOp::log1p, "log1p near 0", [](long double x) { return log1pl(x); }, -0.001, 0.001, 3},
      {UnaryOp::tanh, "tanh", [](long double x) { return tanhl(x); }, -25, 25, 5},
      {UnaryOp::tanh, "tanh near 0", [](long double x) { return tanhl(x); }, -0.01, 0.01, 4},
      {UnaryOp::sigmoid, "sigmoid", [](long double x) { return 1 / (1 + expl(-x)); }, -80, 80, 4},
      {UnaryOp::sin, "sin", [](long double x) { return sinl(x); }, -100, 100, 3},
      {UnaryOp::cos, "cos", [](long double x) { return cosl(x); }, -100, 100, 3},
      {UnaryOp::floor, "floor", [](long double x) { return floorl(x); }, -9, 9, 0},
      {UnaryOp::ceil, "ceil", [](long double x) { return ceill(x); }, -9, 9, 0},
      {UnaryOp::round, "round", [](long double x) { return rintl(x); }, -9, 9, 0},
      {UnaryOp::elu, "elu", [](long double x) { return x < 0 ? expm1l(x) : x; }, -30, 30, 3},
      {UnaryOp::softplus, "softplus",
       [](long double x) { return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x)); }, -80, 80, 4},
      {UnaryOp::erf, "erf", [](long double x) { return erfl(x); }, -4, 4, 2},
      {UnaryOp::erf, "erf far", [](long double x) { return erfl(x); }, -30, 30, 2},
      {UnaryOp::erf, "erf near 1", [](long double x) { return erfl(x); }, 0.9, 1.1, 2},
      {UnaryOp::erf, "erf near 0", [](long double x) { return erfl(x); }, -0.001, 0.001, 2},
  };
  return cases;
}

template <class T>
void check_reals() {
  for (const Case& c : real_cases()) {
    CAPTURE(c.name);
    UnaryFn fn = unary(c.op, type_of<T>());
    REQUIRE((fn != nullptr));
    for (int64_t n : {0, 1, 3, 17, 20011}) {
      std::vector<T> x = random_values<T>(n + 2, c.low, c.high, 7);
      std::vector<T> y(x.size(), T(-77));
      fn(x.data(), y.data(), 1, n + 1);
      double worst = 0;
      for (size_t i = 1; i <= static_cast<size_t>(n); ++i)
        worst = std::max(worst, ulp_distance(y[i], c.reference(x[i])));
      CHECK(worst <= c.ulp);
      CHECK(y.front() == T(-77));
      CHECK(y.back() == T(-77));
    }
  }
}

template <class T>
void check_special_values() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::min() / 4;
  const std::vector<T> x = {0,        T(-0.0), inf,     -inf,    nan,      1,   -1,  tiny,
                            T(1e-30), 1000,    -1000,   T(-90),  89,       0.5, 1.5, 2.5,
                            T(-0.5),  T(88.7), T(-104), T(-746), T(709.7), 3,   -3,  T(1e20)};
  for (const Case& c : real_cases()) {
    CAPTURE(c.name);
    std::vector<T> y(x.size());
    unary(c.op, type_of<T>())(x.data(), y.data(), 0, static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i]);
      CAPTURE(y[i]);
      const bool huge_angle =
          (c.op == UnaryOp::sin || c.op == UnaryOp::cos) && std::fabs(x[i]) > 1e6;
      if (!huge_angle)
        CHECK(ulp_distance(y[i], c.reference(x[i])) <= std::max(c.ulp, 1.0));
    }
  }
}

template <class T>
void check_integers() {
  const T lowest = std::numeric_limits<T>::min();
  const std::vector<T> x = {0, 1, -1, 5, 6, 7, -7, 1000, lowest};
  auto run = [&](UnaryOp op) {
    std::vector<T> y(x.size());
    unary(op, type_of<T>())(x.data(), y.data(), 0, static_cast<int64_t>(x.size()));
    return y;
  };
  CHECK(run(UnaryOp::neg) == std::vector<T>{0, -1, 1, -5, -6, -7, 7, -1000, lowest});
  CHECK(run(UnaryOp::abs) == std::vector<T>{0, 1, 1, 5, 6, 7, 7, 1000, lowest});
  CHECK(run(UnaryOp::sign) == std::vector<T>{0, 1, -1, 1, 1, 1, -1, 1, -1});
  CHECK(run(UnaryOp::square) == std::vector<T>{0, 1, 1, 25, 36, 49, 49, 1000000, 0});
  CHECK(run(UnaryOp::relu) == std::vector<T>{0, 1, 0, 5, 6, 7, 0, 1000, 0});
  CHECK(run(UnaryOp::relu6) == std::vector<T>{0, 1, 0, 5, 6, 6, 0, 6, 0});
  CHECK((unary(UnaryOp::exp, type_of<T>()) == nullptr));
}

/// Products in TensorFlow's order: where they vanish or overflow, and the sign of 0.
void check_extreme_gradients() {
  const float dy[] = {1, -1, 1, 1e-30F, 1e30F, 0}, y[] = {0, -0.0F, 1e-30F, 1e-30F, 0, INFINITY};
  float dx[6];
  unary_grad(GradOp::rsqrt, Type::float32)(dy, y, dx, 0, 6);
  for (int i : {0, 1, 3, 4, 5}) {
    CHECK(dx[i] == 0);
    CHECK(!std::signbit(dx[i]));
  }
  CHECK(std::signbit(dx[2]));
  const float small[] = {1e-30F, INFINITY}, extreme[] = {1e30F, 1e-30F};
  unary_grad(GradOp::reciprocal, Type::float32)(small, extreme, dx, 0, 2);
  CHECK(dx[0] == -INFINITY);
  CHECK(std::isnan(dx[1]));
}

template <class T>
void check_gradients() {
  struct Row {
    GradOp op;
    std::function<double(double, double)> reference;
  };
  const std::vector<Row> rows = {
      {GradOp::relu, [](double g, double x) { return x > 0 ? g : 0; }},
      {GradOp::relu6, [](double g, double x) { return x > 0 && x < 6 ? g : 0; }},
      {GradOp::elu, [](double g, double y) { return y < 0 ? g * (y + 1) : g; }},
      {GradOp::softplus, [](double g, double x) { return g / (1 + std::exp(-x)); }},
      {GradOp::tanh, [](double g, double y) { return g * (1 - y * y); }},
      {GradOp::sigmoid, [](double g, double y) { return g * y * (1 - y); }},
      {GradOp::sqrt, [](double g, double y) { return g * 0.5 / y; }},
      {GradOp::rsqrt, [](double g, double y) { return -0.5 * g * y * y * y; }},
      {GradOp::reciprocal, [](double g, double y) { return -g * y * y; }},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.op));
    std::vector<T> dy = random_values<T>(1003, -2, 2, 3), y = random_values<T>(1003, -8, 8, 4);
    y[5] = 0;
    y[6] = 6;
    std::vector<T> dx = dy;
    unary_grad(row.op, type_of<T>())(dx.data(), y.data(), dx.data(), 0, 1003);
    for (size_t i = 0; i < dx.size(); ++i) {
      const double want = row.reference(dy[i], y[i]);
      const double tolerance = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
      if (std::isinf(want))
        CHECK(static_cast<double>(dx[i]) == want);
      else
        CHECK(std::abs(static_cast<double>(dx[i]) - want) <= tolerance * (1 + std::abs(want)));
    }
  }
}

TEST_CASE("unary functions of floats are within a few units of libm on every instruction set") {
  on_each_isa([] {
    check_reals<float>();
    check_reals<double>();
  });
}

TEST_CASE("unary functions treat zeros, infinities, NaN and subnormal numbers as libm does") {
  on_each_isa([] {
    check_special_values<float>();
    check_special_values<double>();
  });
}

TEST_CASE("gradients of 16-bit floats are those of f32, rounded once, in place too") {
  on_each_isa([] {
    for (Type type : {Type::float16, Type::bfloat16})
      for (GradOp op : {GradOp::relu, GradOp::relu6, GradOp::elu, GradOp::softplus, GradOp::tanh,
                        GradOp::sigmoid, GradOp::sqrt, GradOp::rsqrt, GradOp::reciprocal})
        for (int64_t n : {0, 1, 7, 31, 32, 33, 64, 100, 1003}) {
          const CastKernel narrow = cast_kernel(Type::float32, type);
          const CastKernel widen = cast_kernel(type, Type::float32);
          const auto size = static_cast<size_t>(n);
          std::vector<uint16_t> dy(size), x(size);
          const auto dy_values = random_values<float>(n, -3, 3, 71);
          const auto x_values = random_values<float>(n, -7, 7, 72);
          narrow(dy_values.data(), dy.data(), 0, n);
          narrow(x_values.data(), x.data(), 0, n);
          std::vector<float> wide_dy(size), wide_x(size), wide(size);
          widen(dy.data(), wide_dy.data(), 0, n);
          widen(x.data(), wide_x.data(), 0, n);
          unary_grad(op, Type::float32)(wide_dy.data(), wide_x.data(), wide.data(), 0, n);
          std::vector<uint16_t> want(size);
          narrow(wide.data(), want.data(), 0, n);
          const int64_t middle = n / 3;
          const GradKernel kernel = grad_kernel(op, type);
          kernel(dy.data(), x.data(), dy.data(), middle, n);
          kernel(dy.data(), x.data(), dy.data(), 0, middle);
          CAPTURE(static_cast<int>(op));
          CAPTURE(n);
          CHECK(dy == want);
        }
  });
}

TEST_CASE("what has come to its bound is the bound itself, so that gradients there are 0") {
  on_each_isa([] {
    const float x[] = {9.5f, 20, 1e30f, INFINITY, -9.5f, -20, -1e30f, -INFINITY};
    for (UnaryOp op : {UnaryOp::tanh, UnaryOp::erf}) {
      float y[8];
      unary(op, Type::float32)(x, y, 0, 8);
      for (int i = 0; i < 8; ++i)
        CHECK(y[i] == (i < 4 ? 1.0f : -1.0f));
    }
  });
}

TEST_CASE("unary functions of integers wrap round and refuse what only floats have") {
  on_each_isa([] {
    check_integers<int32_t>();
    check_integers<int64_t>();
  });
}

TEST_CASE("gradients of unary functions follow their formulas, in place too") {
  on_each_isa([] {
    check_gradients<float>();
    check_gradients<double>();
    check_extreme_gradients();
    const std::vector<int32_t> dy = {3, 4, 5}, x = {-1, 0, 2};
    std::vector<int32_t> dx(3);
    unary_grad(GradOp::relu, Type::int32)(dy.data(), x.data(), dx.data(), 0, 3);
    CHECK(dx == std::vector<int32_t>{0, 0, 5});
  });
}

TEST_CASE("questions about floats answer with booleans") {
  on_each_isa([] {
    std::vector<float> x(37, 1.5f);
    x[3] = NAN;
    x[4] = -INFINITY;
    x[36] = INFINITY;
    std::vector<uint8_t> y(37);
    auto count = [&](UnaryOp op) {
      unary(op, Type::float32)(x.data(), y.data(), 0, 37);
      int set = 0;
      for (uint8_t b : y)
        set += b;
      return set;
    };
    CHECK(count(UnaryOp::is_nan) == 1);
    CHECK(y[3] == 1);
    CHECK(count(UnaryOp::is_inf) == 2);
    CHECK(y[36] == 1);
    CHECK(count(UnaryOp::is_finite) == 34);
    const std::vector<uint8_t> b = {0, 1, 1, 0};
    std::vector<uint8_t> c(4);
    unary(UnaryOp::logical_not, Type::bool_)(b.data(), c.data(), 0, 4);
    CHECK(c == std::vector<uint8_t>{1, 0, 0, 1});
  });
}

TEST_CASE("many arrays are added in order, into the first of them too") {
  on_each_isa([] {
    std::vector<float> a = random_values<float>(1001, -1, 1, 1),
                       b = random_values<float>(1001, -1, 1, 2),
                       c = random_values<float>(1001, -1, 1, 3);
    std::vector<float> want(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      want[i] = a[i] + b[i] + c[i];
    const void* inputs[] = {a.data(), b.data(), c.data()};
    add_n(Type::float32)(inputs, 3, a.data(), 0, 1001);
    CHECK(a == want);
    CHECK((add_n(Type::bool_) == nullptr));
  });
}

} // namespace

/// All numbers of 16 bits: as in f32, rounded once.
void check_narrow(Type type, UnaryOp op) {
  const UnaryFn fn = isa_table().unary_narrow(op, type);
  if (fn == nullptr)
    return;
  constexpr int64_t all = 0x10000;
  std::vector<uint16_t> x(all), want(all), got(all);
  std::iota(x.begin(), x.end(), uint16_t{0});
  std::vector<float> wide(all);
  isa_table().cast(type, Type::float32)(x.data(), wide.data(), 0, all);
  isa_table().unary(op, Type::float32)(wide.data(), wide.data(), 0, all);
  isa_table().cast(Type::float32, type)(wide.data(), want.data(), 0, all);
  fn(x.data(), got.data(), 0, 1000);
  fn(x.data(), got.data(), 1000, 1001);
  fn(x.data(), got.data(), 1001, all);
  std::vector<float> back(all);
  isa_table().cast(type, Type::float32)(got.data(), back.data(), 0, all);
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i)
    wrong += std::isnan(wide[i]) ? !std::isnan(back[i]) : got[i] != want[i];
  CAPTURE(static_cast<int>(op));
  CHECK(wrong == 0);
}

TEST_CASE("functions of 16-bit floats are those of f32, rounded once") {
  on_each_isa([] {
    int found = 0;
    for (const Type type : {Type::float16, Type::bfloat16})
      for (int op = 0; op <= static_cast<int>(UnaryOp::is_finite); ++op) {
        found += isa_table().unary_narrow(static_cast<UnaryOp>(op), type) != nullptr ? 1 : 0;
        check_narrow(type, static_cast<UnaryOp>(op));
      }
    CHECK(found >= 12);
  });
}

TEST_CASE("unary: the negative of a complex number has the signs of its zeros changed") {
  auto kernel = arith::unary(UnaryOp::neg, DType::complex128);
  REQUIRE(kernel.ok());
  const std::complex<double> x[] = {{1, 0}, {0, -2}, {-0.0, 3}};
  std::complex<double> y[3];
  kernel->fn(x, y, 0, 3);
  CHECK(y[0].real() == -1);
  CHECK(std::signbit(y[0].imag()));
  CHECK(std::signbit(y[1].real()));
  CHECK(y[1].imag() == 2);
  CHECK_FALSE(std::signbit(y[2].real()));
}

} // namespace troupe::arith::unary_test
