#include "kernels/arith/conv.hpp"
#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <algorithm>
#include <array>
#include <functional>
#include <thread>

namespace troupe::arith::conv_test {
namespace {

int64_t input_size(const Conv2DShape& s) {
  return s.batch * s.in_h * s.in_w * s.in_c;
}

int64_t output_size(const Conv2DShape& s) {
  return s.batch * s.out_h * s.out_w * s.out_c;
}

int64_t filter_size(const Conv2DShape& s) {
  return s.filter_h * s.filter_w * s.in_c * s.out_c;
}

/// Calls body(x position, filter position, y position) for every product of the convolution.
template <class Body>
void for_each_product(const Conv2DShape& s, Body body) {
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox)
        for (int64_t fy = 0; fy < s.filter_h; ++fy)
          for (int64_t fx = 0; fx < s.filter_w; ++fx) {
            const int64_t y = oy * s.stride_h - s.pad_top + fy * s.dilation_h;
            const int64_t x = ox * s.stride_w - s.pad_left + fx * s.dilation_w;
            if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w)
              continue;
            for (int64_t i = 0; i < s.in_c; ++i)
              for (int64_t o = 0; o < s.out_c; ++o)
                body(((n * s.in_h + y) * s.in_w + x) * s.in_c + i,
                     ((fy * s.filter_w + fx) * s.in_c + i) * s.out_c + o,
                     ((n * s.out_h + oy) * s.out_w + ox) * s.out_c + o);
          }
}

Conv2DShape make_shape(int64_t batch, int64_t h, int64_t w, int64_t in_c, int64_t fh, int64_t fw,
                       int64_t out_c, int64_t stride, int64_t dilation, Padding padding) {
  Conv2DShape s;
  s.batch = batch;
  s.in_h = h;
  s.in_w = w;
  s.in_c = in_c;
  s.filter_h = fh;
  s.filter_w = fw;
  s.out_c = out_c;
  s.stride_h = s.stride_w = stride;
  s.dilation_h = s.dilation_w = dilation;
  REQUIRE(window_extent(h, fh, dilation, stride, padding, s.out_h, s.pad_top));
  REQUIRE(window_extent(w, fw, dilation, stride, padding, s.out_w, s.pad_left));
  return s;
}

std::vector<Conv2DShape> shapes() {
  std::vector<Conv2DShape> result = {
      make_shape(0, 5, 5, 2, 3, 3, 4, 1, 1, Padding::same),
      make_shape(1, 1, 1, 1, 1, 1, 1, 1, 1, Padding::valid),
      make_shape(3, 7, 6, 5, 1, 1, 9, 1, 1, Padding::same),
      make_shape(2, 8, 7, 16, 1, 1, 8, 2, 1, Padding::valid),
      make_shape(3, 9, 8, 3, 3, 3, 16, 1, 1, Padding::same),
      make_shape(2, 9, 11, 8, 3, 3, 16, 2, 1, Padding::same),
      make_shape(2, 10, 9, 16, 5, 4, 8, 3, 1, Padding::valid),
      make_shape(2, 12, 12, 8, 3, 3, 8, 1, 2, Padding::same),
      make_shape(1, 12, 13, 7, 3, 2, 5, 1, 3, Padding::valid),
      make_shape(4, 14, 14, 32, 5, 5, 16, 1, 1, Padding::same),
      make_shape(2, 4, 4, 3, 2, 2, 3, 3, 1, Padding::same),
      make_shape(2, 12, 14, 8, 9, 9, 16, 1, 1, Padding::same), // wide padding
      make_shape(2, 15, 13, 16, 11, 9, 16, 2, 1, Padding::same),
      make_shape(2, 20, 21, 8, 3, 3, 8, 1, 5, Padding::same),
      make_shape(2, 28, 28, 32, 1, 1, 33, 1, 1, Padding::same),
      make_shape(3, 9, 8, 32, 3, 3, 40, 2, 1, Padding::same),
      make_shape(6, 90, 90, 32, 1, 1, 32, 2, 1, Padding::valid),
  };
  Conv2DShape padded = result[4]; // explicit padding, more on one side
  padded.pad_top = 2;
  padded.pad_left = 1;
  padded.out_h = 10;
  padded.out_w = 9;
  result.push_back(padded);
  return result;
}

template <class T>
int64_t differences(const std::vector<T>& got, const std::vector<double>& want) {
  const double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-11;
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong +=
        !(std::abs(static_cast<double>(got[i]) - want[i]) <= tolerance * (1 + std::abs(want[i])));
  return wrong;
}

template <class T>
void check(const Conv2DShape& s) {
  const auto x = random_values<T>(input_size(s), -1, 1, 81),
             filter = random_values<T>(filter_size(s), -1, 1, 82),
             dy = random_values<T>(output_size(s), -1, 1, 83);
  std::vector<double> y(dy.size()), dx(x.size()), df(filter.size());
  for_each_product(s, [&](int64_t xi, int64_t fi, int64_t yi) {
    const auto a = static_cast<size_t>(xi), b = static_cast<size_t>(fi),
               c = static_cast<size_t>(yi);
    y[c] += static_cast<double>(x[a]) * static_cast<double>(filter[b]);
    dx[a] += static_cast<double>(dy[c]) * static_cast<double>(filter[b]);
    df[b] += static_cast<double>(dy[c]) * static_cast<double>(x[a]);
  });
  const int64_t half = s.batch / 2;
  std::vector<T> out(dy.size(), T(7)), out_x(x.size(), T(7)), part1(filter.size(), T(7)),
      part2(filter.size(), T(7));
  const Type type = type_of<T>();
  conv2d_forward(type, s, x.data(), filter.data(), out.data(), 0, half);
  conv2d_forward(type, s, x.data(), filter.data(), out.data(), half, s.batch);
  CHECK(differences(out, y) == 0);
  conv2d_backward_input(type, s, filter.data(), dy.data(), out_x.data(), 0, half);
  conv2d_backward_input(type, s, filter.data(), dy.data(), out_x.data(), half, s.batch);
  CHECK(differences(out_x, dx) == 0);
  conv2d_backward_filter(type, s, x.data(), dy.data(), part1.data(), 0, half);
  conv2d_backward_filter(type, s, x.data(), dy.data(), part2.data(), half, s.batch);
  for (size_t i = 0; i < part1.size(); ++i)
    part1[i] += part2[i];
  CHECK(differences(part1, df) == 0);
}

TEST_CASE("convolutions and both gradients equal the sum over all products, with every library") {
  on_each_isa_and_library([] {
    for (const Conv2DShape& s : shapes()) {
      CAPTURE(s.in_h);
      CAPTURE(s.in_c);
      CAPTURE(s.filter_h);
      CAPTURE(s.stride_h);
      CAPTURE(s.dilation_h);
      check<float>(s);
      check<double>(s);
    }
  });
}

TEST_CASE("several threads convolve at once and get what one gets") {
  const Conv2DShape s = make_shape(8, 12, 12, 16, 3, 3, 24, 1, 1, Padding::same);
  const auto x = random_values<float>(input_size(s), -1, 1, 84),
             filter = random_values<float>(filter_size(s), -1, 1, 85);
  on_each_isa_and_library([&] {
    std::vector<float> one(static_cast<size_t>(output_size(s))), many(one.size());
    conv2d_forward(Type::float32, s, x.data(), filter.data(), one.data(), 0, 8);
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        conv2d_forward(Type::float32, s, x.data(), filter.data(), many.data(), t * 2, t * 2 + 2);
      });
    for (std::thread& thread : threads)
      thread.join();
    CHECK(differences(many, std::vector<double>(one.begin(), one.end())) == 0);
  });
}

/// Gradients of one image in bands of rows against those of the whole.
void check_bands(const Conv2DShape& s, int64_t bands) {
  const auto x = random_values<float>(input_size(s), -1, 1, 95),
             dy = random_values<float>(output_size(s), -1, 1, 96),
             filter = random_values<float>(filter_size(s), -1, 1, 97);
  std::vector<float> dx(x.size()), dx_bands(x.size(), 7), dw(filter.size()), part(filter.size());
  std::vector<double> dw_bands(filter.size());
  conv2d_backward_input(Type::float32, s, filter.data(), dy.data(), dx.data(), 0, 1);
  conv2d_backward_filter(Type::float32, s, x.data(), dy.data(), dw.data(), 0, 1);
  for (int64_t k = 0; k < bands; ++k) {
    const ConvRows out = rows_of_conv(s, k * s.out_h / bands, (k + 1) * s.out_h / bands);
    if (out.shape.out_h > 0) {
      conv2d_backward_filter(Type::float32, out.shape, x.data() + out.x_offset,
                             dy.data() + out.y_offset, part.data(), 0, 1);
      std::transform(part.begin(), part.end(), dw_bands.begin(), dw_bands.begin(), std::plus<>());
    }
    const ConvRows in = input_rows_of_conv(s, k * s.in_h / bands, (k + 1) * s.in_h / bands);
    if (in.shape.in_h > 0 && s.stride_h == 1)
      conv2d_backward_input(Type::float32, in.shape, filter.data(), dy.data() + in.y_offset,
                            dx_bands.data() + in.x_offset, 0, 1);
  }
  CAPTURE(s.in_h);
  CAPTURE(s.filter_h);
  CAPTURE(s.pad_top);
  CAPTURE(bands);
  int wrong = 0;
  for (size_t i = 0; i < dw.size(); ++i)
    wrong += !(std::abs(dw[i] - dw_bands[i]) < 1e-3);
  for (size_t i = 0; i < dx.size() && s.stride_h == 1; ++i)
    wrong += !(std::abs(dx[i] - dx_bands[i]) < 1e-3);
  CHECK(wrong == 0);
}

TEST_CASE("gradients of one image are those of its bands of rows") {
  on_each_isa_and_library([] {
    for (const Padding padding : {Padding::valid, Padding::same})
      for (const int64_t stride : {1, 2})
        for (const int64_t bands : {2, 3, 5}) {
          check_bands(make_shape(1, 5, 9, 3, 5, 2, 4, stride, 1, padding), bands);
          check_bands(make_shape(1, 11, 6, 16, 3, 3, 16, stride, 1, padding), bands);
          check_bands(make_shape(1, 12, 8, 8, 1, 1, 16, stride, 1, padding), bands);
          check_bands(make_shape(1, 17, 8, 4, 3, 3, 4, 1, 3, padding), bands);
          check_bands(make_shape(1, 15, 16, 8, 9, 9, 8, stride, 1, padding), bands);
        }
    Conv2DShape wide = make_shape(1, 6, 6, 2, 3, 3, 4, 1, 1, Padding::same); // padding of its own
    wide.pad_top = 4;
    wide.out_h = 11;
    check_bands(wide, 3);
  });
}

TEST_CASE("windows: same and valid padding follow TensorFlow") {
  int64_t out = 0, pad = 0;
  REQUIRE(window_extent(28, 5, 1, 1, Padding::same, out, pad));
  CHECK(out == 28);
  CHECK(pad == 2);
  REQUIRE(window_extent(224, 7, 1, 2, Padding::same, out, pad));
  CHECK(out == 112);
  CHECK(pad == 2);
  REQUIRE(window_extent(10, 3, 2, 3, Padding::valid, out, pad));
  CHECK(out == 2);
  CHECK(pad == 0);
  REQUIRE(window_extent(4, 4, 1, 1, Padding::valid, out, pad));
  CHECK(out == 1);
  CHECK_FALSE(window_extent(2, 5, 1, 1, Padding::valid, out, pad));
}

TEST_CASE("a filter's gradient over a million pixels keeps its digits") {
  // One image, cut into rows, and many, cut into runs of images.
  for (const auto [batch, height, width] :
       {std::array<int64_t, 3>{1, 1000, 1000}, {1000, 25, 40}}) {
    Conv2DShape s;
    s.batch = batch;
    s.in_h = s.out_h = height;
    s.in_w = s.out_w = width;
    s.in_c = 2;
    s.out_c = 3;
    s.filter_h = s.filter_w = 1;
    const auto x = random_values<float>(2'000'000, 0, 1, 61),
               dy = random_values<float>(3'000'000, 0, 1, 62);
    double want[6] = {};
    for (size_t p = 0; p < 1'000'000; ++p)
      for (size_t i = 0; i < 2; ++i)
        for (size_t o = 0; o < 3; ++o)
          want[i * 3 + o] += static_cast<double>(x[p * 2 + i]) * static_cast<double>(dy[p * 3 + o]);
    on_each_isa_and_library([&] {
      float got[6];
      conv2d_backward_filter(Type::float32, s, x.data(), dy.data(), got, 0, batch);
      for (size_t i = 0; i < 6; ++i)
        CHECK(std::abs(static_cast<double>(got[i]) / want[i] - 1) < 3e-6);
    });
  }
}

} // namespace
} // namespace troupe::arith::conv_test
