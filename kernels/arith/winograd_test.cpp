#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/internal/winograd.hpp"
#include <algorithm>
#include <array>

namespace troupe::arith::winograd_test {
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
    conv2d_forward(Type::float64, s, x.data(), filter.data(), y.data(), 0, s.batch);
    conv2d_backward_input(Type::float64, s, filter.data(), dy.data(), dx.data(), 0, s.batch);
    conv2d_backward_filter(Type::float64, s, x.data(), dy.data(), df.data(), 0, s.batch);
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
      conv2d_backward_filter(Type::float32, s, v.x.data(), v.dy.data(), df.data(), 0, half);
      conv2d_backward_filter(Type::float32, s, v.x.data(), v.dy.data(), more.data(), half, s.batch);
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
    conv2d_forward(Type::float32, s, v.x.data(), v.filter.data(), direct.data(), 0, s.batch);
    Packed filter(ConvDirection::forward, s, v.filter);
    fused_conv2d(s, v.x.data(), filter.view(), {}, fewer.data(), 0, s.batch);
    CHECK(error(fewer, want.y) < 4 * error(direct, want.y));
    direct.resize(input_size(s));
    fewer.resize(input_size(s));
    conv2d_backward_input(Type::float32, s, v.filter.data(), v.dy.data(), direct.data(), 0,
                          s.batch);
    Packed turned(ConvDirection::backward_input, s, v.filter);
    conv2d_backward_input(s, turned.view(), v.dy.data(), fewer.data(), 0, s.batch);
    CHECK(error(fewer, want.dx) < 4 * error(direct, want.dx));
    direct.resize(filter_size(s));
    fewer.resize(filter_size(s));
    use_winograd(false);
    conv2d_backward_filter(Type::float32, s, v.x.data(), v.dy.data(), direct.data(), 0, s.batch);
    use_winograd(true);
    conv2d_backward_filter(Type::float32, s, v.x.data(), v.dy.data(), fewer.data(), 0, s.batch);
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

/// The largest error of each image's outputs, as a share of the largest value below the output's
/// window times the largest of the filter: what plain sums keep whatever the rest of the image is.
double error_by_window(const Conv2DShape& s, const std::vector<float>& x,
                       const std::vector<float>& got, const std::vector<double>& want) {
  double worst = 0;
  for (int64_t at = 0; at < s.batch * s.out_h * s.out_w; ++at) {
    const int64_t image = at / (s.out_h * s.out_w), row = at / s.out_w % s.out_h,
                  column = at % s.out_w;
    double scale = 0;
    for (int64_t i = 0; i < s.filter_h; ++i)
      for (int64_t j = 0; j < s.filter_w; ++j) {
        const int64_t h = row + i - s.pad_top, w = column + j - s.pad_left;
        for (int64_t c = 0; c < s.in_c && h >= 0 && h < s.in_h && w >= 0 && w < s.in_w; ++c)
          scale = std::max(
              scale,
              std::abs(static_cast<double>(
                  x[static_cast<size_t>(((image * s.in_h + h) * s.in_w + w) * s.in_c + c)])));
      }
    for (int64_t q = 0; q < s.out_c; ++q) {
      const auto i = static_cast<size_t>(at * s.out_c + q);
      const double wrong = std::abs(static_cast<double>(got[i]) - want[i]);
      worst = std::max(worst, wrong > 0 ? wrong / scale : 0);
    }
  }
  return worst;
}

TEST_CASE("a convolution with fewer products is as exact where its window sees small values alone, "
          "however large others are") {
  on_each_isa_and_library([] {
    for (const Conv2DShape& s : {shapes()[0], shapes()[4], shapes()[7], shapes()[9]})
      for (const float large : {30.0f, 1e4f, 1e6f, 1e20f}) {
        CAPTURE(s.filter_h);
        CAPTURE(large);
        Values v(s);
        v.x[v.x.size() / 2] = v.x[3] = large; // in two images; the others have none
        v.dy[v.dy.size() / 3] = -large;
        const Expected want(s, v);
        Packed forward(ConvDirection::forward, s, v.filter);
        std::vector<float> y(output_size(s), 7), dx(input_size(s), 7);
        fused_conv2d(s, v.x.data(), forward.view(), {}, y.data(), 0, s.batch);
        CHECK(error_by_window(s, v.x, y, want.y) < 2e-4);
        Packed backward(ConvDirection::backward_input, s, v.filter);
        conv2d_backward_input(s, backward.view(), v.dy.data(), dx.data(), 0, s.batch);
        Conv2DShape t = s;
        std::swap(t.in_h, t.out_h);
        std::swap(t.in_w, t.out_w);
        std::swap(t.in_c, t.out_c);
        t.pad_top = s.filter_h - 1 - s.pad_top;
        t.pad_left = s.filter_w - 1 - s.pad_left;
        CHECK(error_by_window(t, v.dy, dx, want.dx) < 2e-4);
      }
  });
}

TEST_CASE(
    "a convolution with fewer products gives NaN and infinity where plain sums do, and nowhere "
    "else, and so do its gradients") {
  const float infinity = std::numeric_limits<float>::infinity();
  on_each_isa_and_library([&] {
    for (const Conv2DShape& s : {shapes()[0], shapes()[7]})
      for (const float odd : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
        CAPTURE(s.filter_h);
        CAPTURE(odd);
        Values v(s);
        v.x[v.x.size() - 5] = odd;
        v.dy[v.dy.size() / 2] = odd;
        // A zero of the padding times infinity is NaN, or is left out: as the sums in use do it.
        const auto run = [&](bool by_fewer_products) {
          use_winograd(by_fewer_products);
          std::array<std::vector<float>, 3> out = {std::vector<float>(output_size(s)),
                                                   std::vector<float>(input_size(s)),
                                                   std::vector<float>(filter_size(s))};
          Packed forward(ConvDirection::forward, s, v.filter);
          fused_conv2d(s, v.x.data(), forward.view(), {}, out[0].data(), 0, s.batch);
          Packed backward(ConvDirection::backward_input, s, v.filter);
          conv2d_backward_input(s, backward.view(), v.dy.data(), out[1].data(), 0, s.batch);
          conv2d_backward_filter(Type::float32, s, v.x.data(), v.dy.data(), out[2].data(), 0,
                                 s.batch);
          use_winograd(true);
          return out;
        };
        const auto want = run(false), got = run(true);
        for (size_t which : {0, 1, 2}) {
          CAPTURE(which);
          size_t differing = 0, num_odd = 0;
          for (size_t i = 0; i < got[which].size(); ++i) {
            const float a = got[which][i], b = want[which][i];
            num_odd += !std::isfinite(a);
            differing += std::isnan(a) != std::isnan(b) || std::isinf(a) != std::isinf(b) ||
                         (std::isinf(a) && std::signbit(a) != std::signbit(b));
          }
          CHECK(differing == 0);
          CHECK(num_odd > 0);
          CHECK((num_odd < got[which].size() || which == 2));
        }
        std::vector<float> df(filter_size(s));
        CHECK_FALSE(winograd_backward_filter(s, v.x.data(), v.dy.data(), df.data(), 0, s.batch));
      }
  });
}

TEST_CASE("a run of images ends where the next one's values are of other sizes") {
  on_each_isa([] {
    const Conv2DShape s = shapes()[0];
    Values v(s);
    const size_t image = input_size(s) / static_cast<size_t>(s.batch);
    v.x[3 * image + 5] = 1e5f;
    Packed filter(ConvDirection::forward, s, v.filter);
    if (filter.packing.winograd.size == 0)
      return; // without vectors nothing is computed so
    const auto run = [&](int64_t begin) {
      return winograd_run(ConvDirection::forward, s, v.x.data(), filter.view(), begin, s.batch);
    };
    CHECK(run(0).is_even);
    CHECK(run(0).end == 3);
    CHECK_FALSE(run(3).is_even);
    CHECK(run(3).end == 4);
    CHECK(run(4).is_even);
    CHECK(run(4).end == s.batch);
    std::fill_n(v.x.begin(), static_cast<std::ptrdiff_t>(image), 0.0f);
    CHECK(run(0).is_even); // nothing but zeros
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
} // namespace troupe::arith::winograd_test
