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
