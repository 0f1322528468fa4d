#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/pool.hpp"

namespace troupe::arith::pool_test {
namespace {

Pool2DShape make_shape(int64_t batch, int64_t h, int64_t w, int64_t channels, int64_t window_h,
                       int64_t window_w, int64_t stride, Padding padding) {
  Pool2DShape s;
  s.batch = batch;
  s.in_h = h;
  s.in_w = w;
  s.channels = channels;
  s.window_h = window_h;
  s.window_w = window_w;
  s.stride_h = s.stride_w = stride;
  REQUIRE(window_extent(h, window_h, 1, stride, padding, s.out_h, s.pad_top));
  REQUIRE(window_extent(w, window_w, 1, stride, padding, s.out_w, s.pad_left));
  return s;
}

/// Calls body(output position, input positions in order) for each output element.
template <class Body>
void for_each_output(const Pool2DShape& s, Body body) {
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox)
        for (int64_t c = 0; c < s.channels; ++c) {
          std::vector<size_t> window;
          for (int64_t fy = 0; fy < s.window_h; ++fy)
            for (int64_t fx = 0; fx < s.window_w; ++fx) {
              const int64_t y = oy * s.stride_h - s.pad_top + fy,
                            x = ox * s.stride_w - s.pad_left + fx;
              if (y >= 0 && y < s.in_h && x >= 0 && x < s.in_w)
                window.push_back(
                    static_cast<size_t>(((n * s.in_h + y) * s.in_w + x) * s.channels + c));
            }
          body(static_cast<size_t>(((n * s.out_h + oy) * s.out_w + ox) * s.channels + c), window);
        }
}

template <class T>
int64_t differences(const std::vector<T>& got, const std::vector<double>& want) {
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong += !(std::abs(static_cast<double>(got[i]) - want[i]) <= 1e-5 * (1 + std::abs(want[i])));
  return wrong;
}

template <class T>
void check(const Pool2DShape& s) {
  const int64_t in = s.batch * s.in_h * s.in_w * s.channels,
                out = s.batch * s.out_h * s.out_w * s.channels;
  auto x = random_values<T>(in, -4, 4, 91);
  for (T& value : x)
    value = std::floor(value); // many equal maxima
  const auto dy = random_values<T>(out, -1, 1, 92);
  std::vector<double> max(dy.size()), mean(dy.size()), max_dx(x.size()), mean_dx(x.size());
  for_each_output(s, [&](size_t o, const std::vector<size_t>& window) {
    size_t best = window[0];
    double sum = 0;
    for (size_t i : window) {
      best = x[i] > x[best] ? i : best;
      sum += static_cast<double>(x[i]);
      mean_dx[i] += static_cast<double>(dy[o]) / static_cast<double>(window.size());
    }
    max[o] = static_cast<double>(x[best]);
    mean[o] = sum / static_cast<double>(window.size());
    max_dx[best] += static_cast<double>(dy[o]);
  });
  const int64_t half = s.batch / 2;
  std::vector<T> y(dy.size()), dx(x.size(), T(5));
  for (auto [from, to] : {std::pair{int64_t{0}, half}, {half, s.batch}})
    isa_table().max_pool(type_of<T>())(s, x.data(), y.data(), from, to);
  CHECK(differences(y, max) == 0);
  for (auto [from, to] : {std::pair{int64_t{0}, half}, {half, s.batch}})
    isa_table().avg_pool(type_of<T>())(s, x.data(), y.data(), from, to);
  CHECK(differences(y, mean) == 0);
  for (auto [from, to] : {std::pair{int64_t{0}, half}, {half, s.batch}})
    isa_table().max_pool_grad(type_of<T>())(s, x.data(), dy.data(), dx.data(), from, to);
  CHECK(differences(dx, max_dx) == 0);
  dx.assign(x.size(), T(5));
  for (auto [from, to] : {std::pair{int64_t{0}, half}, {half, s.batch}})
    isa_table().avg_pool_grad(type_of<T>())(s, dy.data(), dx.data(), from, to);
  CHECK(differences(dx, mean_dx) == 0);
}

TEST_CASE("pooling and its gradients equal a search of every window; the first maximum takes the "
          "gradient") {
  on_each_isa([] {
    for (const Pool2DShape& s : {make_shape(0, 4, 4, 3, 2, 2, 2, Padding::same),
                                 make_shape(1, 1, 1, 1, 1, 1, 1, Padding::valid),
                                 make_shape(3, 8, 8, 32, 2, 2, 2, Padding::valid),
                                 make_shape(2, 7, 6, 48, 2, 2, 2, Padding::valid),
                                 make_shape(2, 7, 6, 16, 2, 2, 2, Padding::same),
                                 make_shape(2, 6, 6, 24, 3, 3, 3, Padding::same),
                                 make_shape(2, 9, 7, 5, 3, 3, 2, Padding::same),
                                 make_shape(2, 9, 7, 70, 3, 2, 1, Padding::same),
                                 make_shape(1, 7, 11, 130, 2, 4, 3, Padding::valid)}) {
      check<float>(s);
      check<double>(s);
    }
  });
  CHECK((isa_table().max_pool(Type::int32) == nullptr));
}

TEST_CASE("padding never wins a maximum, and NaN does not count") {
  on_each_isa([] {
    for (const int64_t channels : {1, 16, 40}) {
      const Pool2DShape s = make_shape(1, 2, 2, channels, 3, 3, 1, Padding::same);
      const auto n = static_cast<size_t>(channels);
      std::vector<float> x(4 * n), y(4 * n);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = -5.0f - static_cast<float>(i / n);
      isa_table().max_pool(Type::float32)(s, x.data(), y.data(), 0, 1);
      CHECK(y == std::vector<float>(4 * n, -5.0f));
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = i < n ? NAN : static_cast<float>(i / n);
      isa_table().max_pool(Type::float32)(s, x.data(), y.data(), 0, 1);
      CHECK(y == std::vector<float>(4 * n, 3.0f));
    }
  });
}

} // namespace
} // namespace troupe::arith::pool_test
