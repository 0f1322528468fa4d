#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/special.hpp"
#include <algorithm>

namespace troupe::arith::special_test {
namespace {

using Fn = void (*)(const float*, float*, int64_t, int64_t);

std::vector<float> applied(Fn fn, std::vector<float> x) {
  std::vector<float> y(x.size() + 2, 99);
  const auto n = static_cast<int64_t>(x.size());
  x.insert(x.begin(), 0.25f);
  fn(x.data(), y.data(), 1, n + 1);
  CHECK(y.front() == 99);
  CHECK(y.back() == 99);
  fn(x.data(), x.data(), 1, n + 1);
  x.erase(x.begin());
  y.pop_back();
  y.erase(y.begin());
  CHECK(std::ranges::equal(
      x, y, [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
  return y;
}

/// 1/2 - quantile's distribution, without lost digits where it is small.
double normal_tail(double x) {
  return 0.5 * std::erfc(x / std::sqrt(2.0));
}

TEST_CASE("erfinv and ndtri are the inverses of erf and of the normal distribution") {
  on_each_isa([] {
    std::vector<float> x, p;
    for (int i = 1; i < 4000; ++i) {
      x.push_back(static_cast<float>(i - 2000) / 2000.0f);
      x.push_back(1 - std::ldexp(1.0f, -1 - i % 23));
      p.push_back(static_cast<float>(i) / 4000.0f);
      p.push_back(std::exp(-0.02f * static_cast<float>(i)));
    }
    int wrong = 0;
    std::vector<float> y = applied(erfinv, x);
    for (size_t i = 0; i < x.size(); ++i) {
      // What an error of y means for erf, by its derivative.
      const auto at = static_cast<double>(y[i]), from = static_cast<double>(x[i]);
      const double slope = 2 / std::sqrt(M_PI) * std::exp(-at * at);
      const double miss = from > 0 ? (1 - from) - std::erfc(at) : std::erfc(-at) - (1 + from);
      wrong += !(std::fabs(miss) <= 6e-7 * std::fabs(at) * slope);
    }
    CHECK(wrong == 0);
    y = applied(ndtri, p);
    for (size_t i = 0; i < p.size(); ++i) {
      const auto at = static_cast<double>(y[i]), from = static_cast<double>(p[i]);
      const double slope = std::exp(-at * at / 2) / std::sqrt(2 * M_PI);
      const double miss = from > 0.5 ? (1 - from) - normal_tail(at) : normal_tail(-at) - from;
      wrong += !(std::fabs(miss) <= 6e-7 * std::fabs(at) * slope);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("erfinv and ndtri at their ends and outside") {
  on_each_isa([] {
    const float inf = INFINITY, nan = NAN;
    const std::vector<float> e = applied(erfinv, {1, -1, 0.0f, -0.0f, 1.5f, -2, nan, inf, -inf});
    CHECK(e[0] == inf);
    CHECK(e[1] == -inf);
    CHECK(e[2] == 0);
    CHECK(std::signbit(e[3]));
    CHECK(std::all_of(e.begin() + 4, e.end(), [](float v) { return std::isnan(v); }));
    const std::vector<float> q = applied(ndtri, {0, 1, 0.5f, -0.5f, 1.5f, nan, inf, -inf});
    CHECK(q[0] == -inf);
    CHECK(q[1] == inf);
    CHECK(q[2] == 0);
    CHECK(std::all_of(q.begin() + 3, q.end(), [](float v) { return std::isnan(v); }));
    CHECK(applied(ndtri, {}).empty());
  });
}

/// Applied to numbers that fill no vector, and in place.
template <class T>
std::vector<T> applied(Special which, std::vector<T> x) {
  const UnaryKernel kernel = special_kernel(which, sizeof(T) == 4 ? Type::float32 : Type::float64);
  const bool is_there = static_cast<bool>(kernel);
  REQUIRE(is_there);
  std::vector<T> y(x.size() + 2, 99);
  const auto n = static_cast<int64_t>(x.size());
  x.insert(x.begin(), T(0.25));
  kernel(x.data(), y.data(), 1, n + 1);
  CHECK(y.front() == 99);
  CHECK(y.back() == 99);
  kernel(x.data(), x.data(), 1, n + 1);
  const std::vector<T> out(y.begin() + 1, y.end() - 1);
  CHECK(std::equal(out.begin(), out.end(), x.begin() + 1,
                   [](T a, T b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
  return out;
}

/// How many results are farther from `want` than so many times the distance of numbers of T.
template <class T, class Want>
int far_off(Special which, const std::vector<T>& x, double times, Want want) {
  const std::vector<T> y = applied(which, x);
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = want(static_cast<double>(x[i]));
    const double least = std::numeric_limits<T>::min(); // below it digits are lost
    const double room =
        times * double(std::numeric_limits<T>::epsilon()) * std::max(std::fabs(exact), least);
    wrong += !(std::fabs(static_cast<double>(y[i]) - exact) <= room);
  }
  return wrong;
}

TEST_CASE_TEMPLATE("angles are those of the standard library to some ulp", T, float, double) {
  on_each_isa([] {
    std::vector<T> x, any;
    for (int i = -3000; i <= 3000; ++i) {
      x.push_back(static_cast<T>(i) / T(3000));
      any.push_back(static_cast<T>(i) / T(64));
      x.push_back(std::ldexp(T(i % 2 == 0 ? 1 : -1), -(i + 3000) / 60));
      any.push_back(std::ldexp(T(i % 2 == 0 ? 1 : -1), i / 60));
    }
    CHECK(far_off(Special::asin, x, 4, [](double v) { return std::asin(v); }) == 0);
    CHECK(far_off(Special::acos, x, 4, [](double v) { return std::acos(v); }) == 0);
    CHECK(far_off(Special::atan, any, 4, [](double v) { return std::atan(v); }) == 0);
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (Special which : {Special::asin, Special::acos}) {
      const auto y = applied<T>(which, {T(1.5), T(-2), nan, inf, -inf});
      CHECK(std::all_of(y.begin(), y.end(), [](T v) { return std::isnan(v); }));
    }
    const auto y = applied<T>(Special::atan, {T(0), T(-0.0), inf, -inf, nan});
    CHECK(!std::signbit(y[0]));
    CHECK(std::signbit(y[1]));
    CHECK(y[2] == static_cast<T>(M_PI_2));
    CHECK(y[3] == static_cast<T>(-M_PI_2));
    CHECK(std::isnan(y[4]));
    CHECK(std::signbit(applied<T>(Special::asin, {T(-0.0)})[0]));
    CHECK(applied<T>(Special::acos, {T(1)})[0] == 0);
  });
}

TEST_CASE("erfc keeps its digits where it is small") {
  on_each_isa([] {
    std::vector<float> x;
    for (int i = -600; i <= 940; ++i)
      x.push_back(static_cast<float>(i) / 100.0f + 0.003f);
    CHECK(far_off(Special::erfc, x, 4, [](double v) { return std::erfc(v); }) == 0);
    const auto y = applied<float>(Special::erfc, {0, INFINITY, -INFINITY, 40, -40, NAN});
    CHECK(y[0] == 1);
    CHECK(y[1] == 0);
    CHECK(y[2] == 2);
    CHECK(y[3] == 0);
    CHECK(y[4] == 2);
    CHECK(std::isnan(y[5]));
    CHECK(!special_kernel(Special::erfc, Type::float64));
  });
}

TEST_CASE_TEMPLATE("modified Bessel functions are the standard library's", T, float, double) {
  on_each_isa([] {
    // The library's own are not exact either.
    const double times = sizeof(T) == 4 ? 1 : 64;
    std::vector<T> x;
    for (int i = 1; i < 3000; ++i) {
      x.push_back(static_cast<T>(i) / T(100));
      x.push_back(std::ldexp(T(1), -i / 100));
    }
    const auto i_of = [](double n) { return [n](double v) { return std::cyl_bessel_i(n, v); }; };
    const auto k_of = [](double n) { return [n](double v) { return std::cyl_bessel_k(n, v); }; };
    const auto times_exp = [](auto f, double sign) {
      return [f, sign](double v) { return f(v) * std::exp(sign * v); };
    };
    CHECK(far_off(Special::bessel_i0, x, times, i_of(0)) == 0);
    CHECK(far_off(Special::bessel_i1, x, times, i_of(1)) == 0);
    CHECK(far_off(Special::bessel_i0e, x, times, times_exp(i_of(0), -1)) == 0);
    CHECK(far_off(Special::bessel_i1e, x, times, times_exp(i_of(1), -1)) == 0);
    CHECK(far_off(Special::bessel_k0, x, times, k_of(0)) == 0);
    CHECK(far_off(Special::bessel_k1, x, times, k_of(1)) == 0);
    CHECK(far_off(Special::bessel_k0e, x, times, times_exp(k_of(0), 1)) == 0);
    CHECK(far_off(Special::bessel_k1e, x, times, times_exp(k_of(1), 1)) == 0);
  });
}

TEST_CASE("modified Bessel functions at their ends") {
  on_each_isa([] {
    for (Special which :
         {Special::bessel_i0, Special::bessel_i0e, Special::bessel_i1, Special::bessel_i1e,
          Special::bessel_k0, Special::bessel_k0e, Special::bessel_k1, Special::bessel_k1e})
      CHECK(std::isnan(applied<float>(which, {NAN})[0]));
    for (Special which :
         {Special::bessel_k0, Special::bessel_k0e, Special::bessel_k1, Special::bessel_k1e}) {
      const auto y = applied<float>(which, {0, -0.0f, -1, -INFINITY, INFINITY});
      CHECK(std::all_of(y.begin(), y.end() - 1, [](float v) { return v == INFINITY; }));
      CHECK(y.back() == 0);
    }
    const auto i0 = applied<float>(Special::bessel_i0e, {0, -3, 3, INFINITY, -INFINITY});
    CHECK(i0[0] == 1);
    CHECK(i0[1] == i0[2]);
    CHECK(i0[3] == 0);
    CHECK(i0[4] == 0);
    const auto i1 = applied<float>(Special::bessel_i1e, {0, -0.0f, -3, 3, -INFINITY});
    CHECK(i1[0] == 0);
    CHECK(std::signbit(i1[1]));
    CHECK(i1[2] == -i1[3]);
    CHECK(i1[4] == 0);
    CHECK(std::isnan(applied<float>(Special::bessel_i0, {INFINITY})[0]));
    CHECK(applied<float>(Special::bessel_i0, {100})[0] == INFINITY);
  });
}

TEST_CASE("digamma is the slope of log gamma") {
  on_each_isa([] {
    std::vector<float> x;
    for (int i = -4000; i < 8000; ++i)
      x.push_back(static_cast<float>(i) / 256.0f + 1.0f / 512);
    const std::vector<float> y = applied(digamma, x);
    int wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      // By its recurrence from far away, where log has nearly all of it.
      double at = static_cast<double>(x[i]), want = 0;
      for (; at < 1000; at += 1)
        want -= 1 / at;
      want += std::log(at) - 0.5 / at - 1 / (12 * at * at);
      wrong += !(std::fabs(static_cast<double>(y[i]) - want) <= 2e-7 * std::fabs(want) + 1e-10);
    }
    CHECK(wrong == 0);
    const std::vector<float> ends = applied(digamma, {0, -0.0f, -3, NAN, -INFINITY, INFINITY});
    CHECK(std::all_of(ends.begin(), ends.end() - 1, [](float v) { return std::isnan(v); }));
    CHECK(ends.back() == INFINITY);
  });
}

} // namespace
} // namespace troupe::arith::special_test
