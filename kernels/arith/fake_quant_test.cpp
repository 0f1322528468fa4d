#include "kernels/arith/fake_quant.hpp"
#include "kernels/arith/internal/test_support.hpp"

namespace troupe::arith::fake_quant_test {
namespace {

TEST_CASE("floats go to the nearest step within their channel's bounds, and NaN stays") {
  on_each_isa([] {
    for (int64_t channels : {1, 3, 40})
      for (bool by_inverse : {false, true}) {
        CAPTURE(channels);
        CAPTURE(by_inverse);
        const int64_t rows = channels == 1 ? 37 : 5;
        std::vector<float> least, most, scale;
        for (int64_t i = 0; i < channels; ++i) {
          scale.push_back(0.25F * static_cast<float>(i % 4 + 1));
          least.push_back(-2 * scale.back());
          most.push_back(5 * scale.back());
        }
        auto x = random_values<float>(rows * channels, -4, 8, 95);
        x[0] = NAN;
        x.back() = INFINITY;
        std::vector<float> y(x.size());
        fake_quant({least.data(), most.data(), scale.data(), channels, by_inverse}, x.data(),
                   y.data(), rows);
        CHECK(std::isnan(y[0]));
        CHECK(y.back() == most.back());
        for (size_t i = 1; i < x.size(); ++i) {
          const size_t at = i % static_cast<size_t>(channels);
          const float inside = std::fmax(std::fmin(x[i], most[at]), least[at]);
          CHECK(y[i] ==
                std::floor((inside - least[at]) / scale[at] + 0.5F) * scale[at] + least[at]);
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
        fake_quant({&least, &most, &scale, 1, false}, zeros.data(), y.data(), 19);
        for (float value : y)
          CHECK(value == 0);
      }
  });
}

} // namespace
} // namespace troupe::arith::fake_quant_test
