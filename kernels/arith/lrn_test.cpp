#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/lrn.hpp"

namespace troupe::arith::lrn_test {
namespace {

/// Sums over the neighbours of each channel of each row.
std::vector<double> near(const Lrn& o, const std::vector<double>& values) {
  std::vector<double> sums(values.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto c = static_cast<int64_t>(i) % o.depth;
    for (int64_t k = -o.radius; k <= o.radius; ++k)
      if (c + k >= 0 && c + k < o.depth)
        sums[i] += values[static_cast<size_t>(static_cast<int64_t>(i) + k)];
  }
  return sums;
}

int64_t differences(const std::vector<float>& got, const std::vector<double>& want) {
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong += !(std::abs(static_cast<double>(got[i]) - want[i]) <= 1e-5 * (1 + std::abs(want[i])));
  return wrong;
}

void check(const Lrn& o, int64_t rows) {
  const auto x = random_values<float>(rows * o.depth, -3, 3, 21),
             dy = random_values<float>(rows * o.depth, -3, 3, 22);
  const double bias = static_cast<double>(o.bias), alpha = static_cast<double>(o.alpha),
               beta = static_cast<double>(o.beta);
  std::vector<double> scale(x.size()), y(x.size()), shares(x.size()), dx(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    scale[i] = static_cast<double>(x[i]) * static_cast<double>(x[i]);
  scale = near(o, scale);
  for (size_t i = 0; i < x.size(); ++i) {
    scale[i] = bias + alpha * scale[i];
    y[i] = static_cast<double>(x[i]) * std::pow(scale[i], -beta);
    shares[i] = static_cast<double>(dy[i]) * y[i] / scale[i];
  }
  shares = near(o, shares);
  for (size_t i = 0; i < x.size(); ++i)
    dx[i] = static_cast<double>(dy[i]) * std::pow(scale[i], -beta) -
            2 * alpha * beta * static_cast<double>(x[i]) * shares[i];
  std::vector<float> out(x.size(), 7.0f), out_x(x.size(), 7.0f);
  for (const auto& [begin, end] : {std::pair{int64_t{0}, rows / 3}, {rows / 3, rows}}) {
    lrn(o, x.data(), out.data(), begin, end);
    lrn_grad(o, dy.data(), x.data(), out.data(), out_x.data(), begin, end);
  }
  CHECK(differences(out, y) == 0);
  CHECK(differences(out_x, dx) == 0);
}

TEST_CASE(
    "local response normalisation and its gradient equal sums over each channel's neighbours") {
  on_each_isa([] {
    for (const float beta : {0.5f, 1.0f, 0.75f, 2.0f, 0.0f})
      for (const auto& [depth, radius, rows] : {std::array<int64_t, 3>{1, 0, 5},
                                                {1, 9, 5},
                                                {7, 2, 1},
                                                {32, 5, 150},
                                                {16, 0, 9},
                                                {17, 3, 40},
                                                {64, 200, 30},
                                                {3000, 2, 3},
                                                {50, 49, 0}}) {
        CAPTURE(beta);
        CAPTURE(depth);
        CAPTURE(radius);
        check({.depth = depth, .radius = radius, .bias = 1.5f, .alpha = 0.3f, .beta = beta}, rows);
      }
  });
}

TEST_CASE("what is not finite stays within the radius of local response normalisation") {
  on_each_isa([] {
    const Lrn options{.depth = 40, .radius = 3, .bias = 1, .alpha = 1, .beta = 0.75f};
    std::vector<float> x(80, 1.0f), y(80), dx(80);
    x[20] = INFINITY;
    x[60] = NAN;
    lrn(options, x.data(), y.data(), 0, 2);
    lrn_grad(options, x.data(), x.data(), y.data(), dx.data(), 0, 2);
    for (size_t i = 0; i < 80; ++i) {
      const size_t off = i % 40 > 20 ? i % 40 - 20 : 20 - i % 40;
      CHECK(std::isnan(y[i]) == (i >= 40 ? off <= 3 : off == 0));
      CHECK((y[i] == 0.0f) == (i < 40 && off <= 3 && off > 0));
      CHECK(std::isfinite(dx[i]) == (off > (i < 40 ? 3 : 6)));
    }
    // A negative scale has an inverse, and its gradient whole powers.
    const Lrn below{.depth = 1, .radius = 0, .bias = -5, .alpha = 1, .beta = 1};
    const float one = 1, minus_quarter = -0.25f;
    lrn(below, &one, y.data(), 0, 1);
    CHECK(y[0] == minus_quarter);
    const Lrn squared{.depth = 1, .radius = 0, .bias = -5, .alpha = 0, .beta = 2};
    lrn_grad(squared, &one, &one, y.data(), dx.data(), 0, 1);
    CHECK(dx[0] == doctest::Approx(0.04));
  });
}

} // namespace
} // namespace troupe::arith::lrn_test
