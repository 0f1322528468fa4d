#include "kernels/arith/fake_quant.hpp"
#include "kernels/arith/internal/test_support.hpp"

namespace troupe::arith::fake_quant_test {
namespace {

TEST_CASE("floats go to the nearest step within their channel's bounds, and NaN stays") {
  on_each_isa([] {
    for (int64_t channels : {1, 3, 40})
      for (bool by_product : {false, true}) {
        CAPTURE(channels);
        CAPTURE(by_product);
        const int64_t rows = channels == 1 ? 37 : 5;
        std::vector<float> least, most, scale, inverse;
        for (int64_t i = 0; i < channels; ++i) {
          scale.push_back(0.25F * static_cast<float>(i % 4 + 1));
          inverse.push_back(1 / scale.back());
          least.push_back(-2 * scale.back());
          most.push_back(5 * scale.back());
        }
        auto x = random_values<float>(rows * channels, -4, 8, 95);
        x[0] = NAN;
        x.back() = INFINITY;
        std::vector<float> y(x.size());
        fake_quant({least.data(), most.data(), scale.data(), by_product ? inverse.data() : nullptr,
                    channels},
                   x.data(), y.data(), rows);
        CHECK(std::isnan(y[0]));
        CHECK(y.back() == most.back());
        for (size_t i = 1; i < x.size(); ++i) {
          const size_t at = i % static_cast<size_t>(channels);
          const float inside = std::fmax(std::fmin(x[i], most[at]), least[at]);
          CHECK(y[i] == std::floor((inside - least[at]) / scale[at] -
                                   std::floor(-least[at] / scale[at] + 0.5F) + 0.5F) *
                            scale[at]);
        }
      }
  });
}

TEST_CASE("zero, where it is a step, stays zero whatever the scale is") {
  on_each_isa([] {
    for (int steps : {3, 15, 255})
      for (float width : {0.9F, 1.7F, 0.3F, 12.1F}) {
        CAPTURE(steps);
        CAPTURE(width);
        const float scale = width / static_cast<float>(steps);
        const float least = -static_cast<float>(steps) * scale, most = 0;
        const std::vector<float> zeros(19, 0.0F);
        std::vector<float> y(19, 1.0F);
        fake_quant({&least, &most, &scale, nullptr, 1}, zeros.data(), y.data(), 19);
        for (float value : y)
          CHECK(value == 0);
      }
  });
}

template <class Q>
void check_quantized(Type type, const Quantize& line, const std::vector<float>& x) {
  std::vector<Q> q(x.size());
  REQUIRE(quantize(type, line, x.data(), q.data(), static_cast<int64_t>(x.size())));
  for (size_t i = 0; i < x.size(); ++i) {
    const float inside = std::isnan(x[i]) ? x[i] : std::fmax(std::fmin(x[i], line.high), line.low);
    const float step = (inside - line.origin) * line.scale - line.before;
    const double whole = (line.rounding == Rounding::half_away      ? std::round(step)
                          : line.rounding == Rounding::half_to_even ? std::nearbyint(step)
                                                                    : step) -
                         line.after;
    const double lowest = std::numeric_limits<Q>::min();
    const double highest = sizeof(Q) == 4 ? 2147483520.0 : std::numeric_limits<Q>::max();
    CAPTURE(x[i]);
    CHECK(q[i] == static_cast<Q>(whole > lowest ? std::fmin(whole, highest) : lowest));
  }
}

TEST_CASE("floats become the nearest integers of a type, NaN the lowest one") {
  on_each_isa([] {
    auto x = random_values<float>(67, -400, 400, 96);
    const float odd[] = {NAN,         INFINITY, -INFINITY, 0.5F, -0.5F, 1.5F,  -1.5F,       2.5F,
                         0.49999997F, 254.5F,   255.5F,    3e9F, -3e9F, -0.0F, -0.49999997F};
    x.insert(x.end(), std::begin(odd), std::end(odd));
    constexpr float none = INFINITY;
    for (Rounding rounding : {Rounding::none, Rounding::half_away, Rounding::half_to_even})
      for (const Quantize& line : {Quantize{-none, none, 0, 1, 0, 0, rounding},
                                   Quantize{-100, 150, -100, 1, -0.5F, 0, rounding},
                                   Quantize{-128, 127, 0, 0.25F, 128, -3, rounding},
                                   Quantize{-none, none, 0, 1e7F, 0, 0, rounding}}) {
        check_quantized<int8_t>(Type::int8, line, x);
        check_quantized<uint8_t>(Type::uint8, line, x);
        check_quantized<int16_t>(Type::int16, line, x);
        check_quantized<uint16_t>(Type::uint16, line, x);
        check_quantized<int32_t>(Type::int32, line, x);
      }
    float one = 1;
    int64_t wide = 0;
    CHECK_FALSE(quantize(Type::int64, {0, 1, 0, 1, 0, 0, Rounding::none}, &one, &wide, 1));
  });
}

} // namespace
} // namespace troupe::arith::fake_quant_test
