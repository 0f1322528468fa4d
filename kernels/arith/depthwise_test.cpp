#include "kernels/arith/depthwise.hpp"
#include "kernels/arith/internal/test_support.hpp"

namespace troupe::arith::depthwise_test {
namespace {

/// Strides, dilations and padding differ between rows and columns.
struct Case {
  int64_t batch, h, w, channels, multiplier, fh, fw;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  Padding padding = Padding::same;
  int64_t more = 0; // padding on each side beyond that
};

Conv2DShape shape_of(const Case& c) {
  Conv2DShape s;
  s.batch = c.batch;
  s.in_h = c.h;
  s.in_w = c.w;
  s.in_c = c.channels;
  s.out_c = c.channels * c.multiplier;
  s.filter_h = c.fh;
  s.filter_w = c.fw;
  s.stride_h = c.stride_h;
  s.stride_w = c.stride_w;
  s.dilation_h = c.dilation_h;
  s.dilation_w = c.dilation_w;
  REQUIRE(window_extent(c.h, c.fh, c.dilation_h, c.stride_h, c.padding, s.out_h, s.pad_top));
  REQUIRE(window_extent(c.w, c.fw, c.dilation_w, c.stride_w, c.padding, s.out_w, s.pad_left));
  s.pad_top += c.more;
  s.pad_left += c.more;
  s.out_h += 2 * c.more / c.stride_h;
  s.out_w += 2 * c.more / c.stride_w;
  return s;
}

const std::vector<Case> cases = {
    {0, 5, 5, 3, 1, 3, 3},
    {1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 5, 5},
    {2, 7, 9, 32, 1, 3, 3},
    {1, 14, 30, 16, 1, 3, 3},
    {2, 6, 5, 37, 1, 3, 3},
    {1, 5, 7, 5, 1, 3, 2, 1, 1, 1, 1, Padding::valid},
    {3, 9, 8, 24, 1, 3, 3, 2, 2},
    {1, 11, 13, 19, 1, 5, 4, 3, 2, 1, 1, Padding::valid},
    {1, 12, 15, 20, 1, 3, 3, 1, 1, 2, 3},
    {1, 13, 17, 9, 1, 3, 4, 2, 3, 3, 2}, // steps of filter and source
    {1, 14, 12, 8, 1, 3, 3, 2, 2, 2, 4}, // that have divisors in common
    {1, 9, 9, 3, 1, 2, 1, 3, 4, 1, 1},   // pixels that nothing reads
    {1, 4, 5, 17, 1, 7, 9},              // a filter larger than the image
    {2, 6, 7, 4, 1, 3, 3, 1, 2, 1, 1, Padding::valid, 2},
    {1, 3, 3, 2, 1, 2, 2, 1, 1, 1, 1, Padding::valid, 4}, // windows in the padding alone
    {2, 6, 8, 3, 2, 3, 3},
    {1, 5, 9, 20, 2, 3, 3, 2, 1},
    {1, 6, 6, 7, 3, 3, 3, 1, 2, 2, 1, Padding::valid, 1},
    {1, 7, 6, 3, 17, 2, 3},
    {1, 5, 6, 2, 40, 3, 1},
    {1, 6, 7, 1, 8, 3, 3, 2, 2},
};

/// Calls body(x position, filter position, y position) for every pair of the windows.
template <class Body>
void for_each_pair(const Conv2DShape& s, Body body) {
  for (int64_t o = 0; o < s.batch * s.out_h * s.out_w; ++o)
    for (int64_t f = 0; f < s.filter_h * s.filter_w; ++f) {
      const int64_t y = o / s.out_w % s.out_h * s.stride_h - s.pad_top +
                        f / s.filter_w * s.dilation_h,
                    x = o % s.out_w * s.stride_w - s.pad_left + f % s.filter_w * s.dilation_w;
      if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w)
        continue;
      const int64_t image = o / (s.out_h * s.out_w);
      for (int64_t c = 0; c < s.out_c; ++c)
        body(static_cast<size_t>(((image * s.in_h + y) * s.in_w + x) * s.in_c +
                                 c * s.in_c / s.out_c),
             static_cast<size_t>(f * s.out_c + c), static_cast<size_t>(o * s.out_c + c));
    }
}

template <class T>
int64_t differences(const std::vector<T>& got, const std::vector<double>& want) {
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong +=
        !(std::abs(static_cast<double>(got[i]) - want[i]) <= tolerance * (1 + std::abs(want[i])));
  return wrong;
}

/// Rows of `n` in two parts; the second begins inside an image.
template <class Run>
void in_parts(int64_t n, Run run) {
  run(0, n / 3);
  run(n / 3, n);
}

template <class T>
void check(const Conv2DShape& s) {
  const auto x = random_values<T>(s.batch * s.in_h * s.in_w * s.in_c, -1, 1, 11),
             filter = random_values<T>(s.filter_h * s.filter_w * s.out_c, -1, 1, 12),
             dy = random_values<T>(s.batch * s.out_h * s.out_w * s.out_c, -1, 1, 13);
  std::vector<double> y(dy.size()), dx(x.size()), df(filter.size()),
      largest(dy.size(), static_cast<double>(std::numeric_limits<T>::lowest()));
  for_each_pair(s, [&](size_t a, size_t b, size_t c) {
    y[c] += static_cast<double>(x[a]) * static_cast<double>(filter[b]);
    dx[a] += static_cast<double>(dy[c]) * static_cast<double>(filter[b]);
    df[b] += static_cast<double>(dy[c]) * static_cast<double>(x[a]);
    largest[c] = std::max(largest[c], static_cast<double>(x[a] + filter[b]));
  });
  const Type type = type_of<T>();
  std::vector<T> out(dy.size(), T(7)), out_x(x.size(), T(7)), part(filter.size(), T(7));
  in_parts(s.batch * s.out_h, [&](int64_t begin, int64_t end) {
    depthwise_forward(type, s, x.data(), filter.data(), out.data(), begin, end);
  });
  CHECK(differences(out, y) == 0);
  in_parts(s.batch * s.in_h, [&](int64_t begin, int64_t end) {
    depthwise_backward_input(type, s, filter.data(), dy.data(), out_x.data(), begin, end);
  });
  CHECK(differences(out_x, dx) == 0);
  std::vector<T> sum(filter.size());
  in_parts(s.batch * s.out_h, [&](int64_t begin, int64_t end) {
    depthwise_backward_filter(type, s, x.data(), dy.data(), part.data(), begin, end);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += part[i];
  });
  CHECK(differences(sum, df) == 0);
  if (s.in_c != s.out_c)
    return;
  in_parts(s.batch * s.out_h, [&](int64_t begin, int64_t end) {
    dilation_forward(type, s, x.data(), filter.data(), out.data(), begin, end);
  });
  CHECK(differences(out, largest) == 0);
}

TEST_CASE("depthwise convolutions, their gradients and dilation equal a walk over every window") {
  on_each_isa([] {
    for (const Case& c : cases) {
      CAPTURE(&c - cases.data());
      check<float>(shape_of(c));
      check<double>(shape_of(c));
    }
  });
}

TEST_CASE("a filter's infinity meets no padding, and NaN does not count in a dilation") {
  on_each_isa([] {
    for (const int64_t channels : {1, 16, 19}) {
      const Conv2DShape s = shape_of({1, 3, 6, channels, 1, 3, 3});
      const auto n = static_cast<size_t>(channels);
      // The filter's first row meets no pixel of the first row of windows.
      std::vector<float> filter(9 * n, 1.0f), x(18 * n, 1.0f), y(18 * n);
      std::fill_n(filter.begin(), 3 * n, INFINITY);
      depthwise_forward(Type::float32, s, x.data(), filter.data(), y.data(), 0, 3);
      for (size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == (i >= 6 * n ? INFINITY : i < n || i >= 5 * n ? 4.0f : 6.0f));
      std::fill(filter.begin(), filter.end(), 0.0f);
      std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(7 * n), n, NAN);
      dilation_forward(Type::float32, s, x.data(), filter.data(), y.data(), 0, 3);
      CHECK(y == std::vector<float>(18 * n, 1.0f));
      depthwise_forward(Type::float32, s, x.data(), filter.data(), y.data(), 0, 3);
      for (size_t i = 0; i < y.size(); ++i)
        CHECK(std::isnan(y[i]) == (i / n % 6 < 3));
    }
  });
}

} // namespace
} // namespace troupe::arith::depthwise_test
