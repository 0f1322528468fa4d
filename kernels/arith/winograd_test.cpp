#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/internal/winograd.hpp"
#include <algorithm>

namespace troupe::arith {
namespace {

struct Case {
  int64_t batch, h, w, in_c, size, out_c, pad_top, pad_left, out_h, out_w;
};

Conv2DShape shape_of(const Case& c) {
  Conv2DShape s;
  s.batch = c.batch;
  s.in_h = c.h;
  s.in_w = c.w;
  s.in_c = c.in_c;
  s.filter_h = s.filter_w = c.size;
  s.out_c = c.out_c;
  s.pad_top = c.pad_top;
  s.pad_left = c.pad_left;
  s.out_h = c.out_h;
  s.out_w = c.out_w;
  return s;
}

/// Tiles that fit, and such as reach beyond; paddings of none, one and several pixels on each side;
/// numbers of channels of each width of panel.
std::vector<Conv2DShape> shapes() {
  std::vector<Conv2DShape> out;
  for (const Case& c : std::vector<Case>{{8, 8, 8, 64, 3, 64, 1, 1, 8, 8},
                                         {4, 9, 11, 32, 3, 48, 1, 1, 9, 11},
                                         {5, 10, 8, 48, 3, 32, 0, 0, 8, 6},
                                         {4, 6, 6, 32, 3, 80, 2, 2, 8, 8},
                                         {6, 7, 6, 32, 3, 32, 0, 1, 7, 6},
                                         {13, 7, 7, 32, 3, 64, 1, 1, 7, 7},
                                         {8, 8, 8, 256, 3, 192, 1, 1, 8, 8},
                                         {2, 14, 14, 32, 5, 64, 2, 2, 14, 14},
                                         {2, 10, 9, 64, 5, 32, 0, 0, 6, 5},
                                         {3, 6, 5, 48, 5, 96, 4, 3, 10, 9},
                                         {2, 5, 8, 32, 5, 32, 1, 2, 4, 8}})
    out.push_back(shape_of(c));
  return out;
}

size_t input_size(const Conv2DShape& s) {
  return static_cast<size_t>(s.batch * s.in_h * s.in_w * s.in_c);
}

size_t output_size(const Conv2DShape& s) {
  return static_cast<size_t>(s.batch * s.out_h * s.out_w * s.out_c);
}

size_t filter_size(const Conv2DShape& s) {
  return static_cast<size_t>(s.filter_h * s.filter_w * s.in_c * s.out_c);
}

struct Values {
  explicit Values(const Conv2DShape& s)
      : x(random(input_size(s), 91)), filter(random(filter_size(s), 92)),
        dy(random(output_size(s), 93)) {}

  static std::vector<float> random(size_t count, unsigned seed) {
    return random_values<float>(static_cast<int64_t>(count), -1, 1, seed);
  }

  std::vector<float> x, filter, dy;
};

/// By products and sums in f64; what they are of f32 is exact in the way that counts here.
struct Expected {
  std::vector<double> y, dx, df;

  Expected(const Conv2DShape& s, const Values& v)
      : y(output_size(s)), dx(input_size(s)), df(filter_size(s)) {
    const std::vector<double> x(v.x.begin(), v.x.end()), filter(v.filter.begin(), v.filter.end()),
        dy(v.dy.begin(), v.dy.end());
    use_winograd(false);
    conv2d_forward(Type::f64, s, x.data(), filter.data(), y.data(), 0, s.batch);
    conv2d_backward_input(Type::f64, s, filter.data(), dy.data(), dx.data(), 0, s.batch);
    conv2d_backward_filter(Type::f64, s, x.data(), dy.data(), df.data(), 0, s.batch);
    use_winograd(true);
  }
};

/// The largest error, as a share of the largest value.
double error(const std::vector<float>& got, const std::vector<double>& want) {
  double largest = 0, scale = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(got[i]) - want[i]));
    scale = std::max(scale, std::abs(want[i]));
  }
  return largest / scale;
}

constexpr double tolerance = 1e-5;

/// A filter laid out part by part.
struct Packed {
  Packed(ConvDirection direction, const Conv2DShape& s, const std::vector<float>& filter,
         const ConvEpilogue& epilogue = {})
      : packing(filter_packing(direction, s, s.batch, epilogue)), plain(filter.data()),
        memory(packing.bytes / sizeof(float) + 16) {
    if (packing.bytes > 0)
      for (int64_t i = 0; i < packing.parts(); i += 5)
        pack_filter(packing, plain, aligned(), i, std::min(i + 5, packing.parts()));
  }
  float* aligned() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (64 - at % 64) % 64 / sizeof(float);
  }
  ConvFilter view() {
    return {plain, packing.bytes > 0 ? &packing : nullptr, packing.bytes > 0 ? aligned() : nullptr};
  }

  FilterPacking packing;
  const float* plain;
  std::vector<float> memory;
};

TEST_CASE("convolutions with fewer products and their gradients equal the sums over all products") {
  on_each_isa_and_library([] {
    for (const Conv2DShape& s : shapes()) {
      CAPTURE(s.in_h);
      CAPTURE(s.in_w);
      CAPTURE(s.filter_h);
      CAPTURE(s.in_c);
      CAPTURE(s.out_c);
      const Values v(s);
      const Expected want(s, v);
      std::vector<float> y(output_size(s), 7), dx(input_size(s), 7), df(filter_size(s), 7),
          more(filter_size(s), 7);
      const int64_t half = s.batch / 2;
      Packed forward(ConvDirection::forward, s, v.filter);
      CHECK((forward.packing.winograd.size > 0) == (isa() != Isa::base));
      fused_conv2d(s, v.x.data(), forward.view(), {}, y.data(), 0, half);
      fused_conv2d(s, v.x.data(), forward.view(), {}, y.data(), half, s.batch);
      CHECK(error(y, want.y) < tolerance);
      Packed backward(ConvDirection::backward_input, s, v.filter);
      CHECK((backward.packing.winograd.size > 0) == (isa() != Isa::base));
      conv2d_backward_input(s, backward.view(), v.dy.data(), dx.data(), 0, half);
      conv2d_backward_input(s, backward.view(), v.dy.data(), dx.data(), half, s.batch);
      CHECK(error(dx, want.dx) < tolerance);
      conv2d_backward_filter(Type::f32, s, v.x.data(), v.dy.data(), df.data(), 0, half);
      conv2d_backward_filter(Type::f32, s, v.x.data(), v.dy.data(), more.data(), half, s.batch);
      for (size_t i = 0; i < df.size(); ++i)
        df[i] += more[i];
      CHECK(error(df, want.df) < tolerance);
      const bool done = winograd_backward_filter(s, v.x.data(), v.dy.data(), df.data(), 0, s.batch);
      CHECK(done == (isa() != Isa::base));
      CHECK(error(df, want.df) < tolerance);
    }
  });
}

TEST_CASE("what follows a convolution with fewer products is done to its results") {
  on_each_isa_and_library([] {
    for (const Conv2DShape& s : shapes()) {
      const Values v(s);
      const Expected want(s, v);
      const auto factor = Values::random(static_cast<size_t>(s.out_c), 94),
                 offset = Values::random(static_cast<size_t>(s.out_c), 95),
                 addend = Values::random(output_size(s), 96);
      for (int which = 0; which < 16; ++which) {
        ConvEpilogue e;
        e.offset = which & 1 ? offset.data() : nullptr;
        e.factor = which & 1 && which & 2 ? factor.data() : nullptr;
        e.addend = which & 4 ? addend.data() : nullptr;
        e.relu = which & 8;
        std::vector<double> expected = want.y;
        for (size_t i = 0; i < expected.size(); ++i) {
          const size_t channel = i % static_cast<size_t>(s.out_c);
          expected[i] = expected[i] * (e.factor ? static_cast<double>(factor[channel]) : 1.0) +
                        (e.offset ? static_cast<double>(offset[channel]) : 0.0) +
                        (e.addend ? static_cast<double>(addend[i]) : 0.0);
          if (e.relu)
            expected[i] = std::max(expected[i], 0.0);
        }
        Packed filter(ConvDirection::forward, s, v.filter, e);
        std::vector<float> y(output_size(s), 7);
        fused_conv2d(s, v.x.data(), filter.view(), e, y.data(), 0, s.batch);
        CAPTURE(which);
        CHECK(error(y, expected) < tolerance);
      }
    }
  });
}

TEST_CASE("errors of convolutions with fewer products are a few times those of sums in f32") {
  for (const Case& c :
       {Case{2, 16, 16, 64, 3, 64, 1, 1, 16, 16}, Case{2, 16, 16, 64, 5, 64, 2, 2, 16, 16}}) {
    const Conv2DShape s = shape_of(c);
    CAPTURE(s.filter_h);
    const Values v(s);
    const Expected want(s, v);
    std::vector<float> direct(output_size(s)), fewer(output_size(s));
    conv2d_forward(Type::f32, s, v.x.data(), v.filter.data(), direct.data(), 0, s.batch);
    Packed filter(ConvDirection::forward, s, v.filter);
    fused_conv2d(s, v.x.data(), filter.view(), {}, fewer.data(), 0, s.batch);
    CHECK(error(fewer, want.y) < 4 * error(direct, want.y));
    direct.resize(input_size(s));
    fewer.resize(input_size(s));
    conv2d_backward_input(Type::f32, s, v.filter.data(), v.dy.data(), direct.data(), 0, s.batch);
    Packed turned(ConvDirection::backward_input, s, v.filter);
    conv2d_backward_input(s, turned.view(), v.dy.data(), fewer.data(), 0, s.batch);
    CHECK(error(fewer, want.dx) < 4 * error(direct, want.dx));
    direct.resize(filter_size(s));
    fewer.resize(filter_size(s));
    use_winograd(false);
    conv2d_backward_filter(Type::f32, s, v.x.data(), v.dy.data(), direct.data(), 0, s.batch);
    use_winograd(true);
    conv2d_backward_filter(Type::f32, s, v.x.data(), v.dy.data(), fewer.data(), 0, s.batch);
    // Pixels of a filter are interpolated with higher powers of the points than pixels of a tile.
    CHECK(error(fewer, want.df) < (s.filter_h == 3 ? 10 : 20) * error(direct, want.df));
  }
}

TEST_CASE("a convolution with fewer products keeps NaN where its windows see one") {
  on_each_isa([] {
    const Conv2DShape s = shapes()[0];
    Values v(s);
    v.x[0] = std::numeric_limits<float>::quiet_NaN();
    ConvEpilogue e;
    e.relu = true;
    Packed filter(ConvDirection::forward, s, v.filter, e);
    std::vector<float> y(output_size(s), 7);
    fused_conv2d(s, v.x.data(), filter.view(), e, y.data(), 0, s.batch);
    for (int64_t row : {0, 1})
      for (int64_t column : {0, 1})
        CHECK(std::isnan(y[static_cast<size_t>((row * s.out_w + column) * s.out_c)]));
    CHECK_FALSE(std::isnan(y.back()));
  });
}

TEST_CASE("switched off, and for sizes it does not know, nothing is laid out for fewer products") {
  Conv2DShape s = shapes()[0];
  const auto is_used = [&] {
    return filter_packing(ConvDirection::forward, s, s.batch).winograd.size > 0;
  };
  use_winograd(false);
  CHECK_FALSE(is_used());
  use_winograd(true);
  CHECK(is_used() == (isa() != Isa::base));
  s.stride_w = 2;
  CHECK_FALSE(is_used());
  s.stride_w = 1;
  s.in_c = 40;
  CHECK_FALSE(is_used());
  s.in_c = 64;
  s.filter_w = 2;
  CHECK_FALSE(is_used());
}

} // namespace
} // namespace troupe::arith
