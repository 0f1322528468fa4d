#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/resize.hpp"

namespace troupe::arith::resize_test {
namespace {

/// Pixels that come from one to three, two, or none but the first of a row of six.
struct Places {
  std::vector<int64_t> starts = {0}, at;
  std::vector<float> weights;

  Places(int64_t width, int64_t channels, bool in_pairs) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t count = in_pairs ? 2 : 1 + x % 3;
      for (int64_t k = 0; k < count; ++k) {
        at.push_back((x * 5 + k) % 6 * channels);
        weights.push_back(0.25f * static_cast<float>(k + 1) - 0.125f * static_cast<float>(x % 4));
      }
      starts.push_back(static_cast<int64_t>(at.size()));
    }
  }
};

bool near(float a, double b) {
  return std::fabs(static_cast<double>(a) - b) <= 2e-6 * (1 + std::fabs(b));
}

constexpr int64_t channel_counts[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 33};

TEST_CASE("columns are weighed, blended and spread as one by one") {
  on_each_isa([] {
    for (int64_t channels : channel_counts)
      for (int64_t width : {0, 1, 9})
        for (bool in_pairs : {false, true}) {
          CAPTURE(channels);
          CAPTURE(width);
          const Places places(width, channels, in_pairs);
          const ResizeColumns columns{width, channels, places.starts.data(), places.at.data(),
                                      places.weights.data()};
          const auto row = random_values<float>(6 * channels, -2, 2, 1);
          const auto grads = random_values<float>(width * channels + 1, -2, 2, 2);
          std::vector<float> weighed(static_cast<size_t>(width * channels) + 1, 99),
              blended = weighed;
          std::vector<float> spread(static_cast<size_t>(6 * channels) + 1, 1);
          std::vector<double> spread_want(spread.size(), 1);
          weigh_columns(columns, row.data(), weighed.data());
          if (in_pairs)
            blend_columns(columns, row.data(), blended.data());
          spread_columns(columns, grads.data(), 0.5f, spread.data());
          int wrong = 0;
          for (int64_t x = 0; x < width; ++x)
            for (int64_t c = 0; c < channels; ++c) {
              const auto to = static_cast<size_t>(x * channels + c);
              const auto value = [&](int64_t k) {
                return static_cast<double>(
                    row[static_cast<size_t>(places.at[static_cast<size_t>(k)] + c)]);
              };
              double sum = 0;
              for (int64_t k = columns.starts[x]; k < columns.starts[x + 1]; ++k) {
                sum += value(k) * static_cast<double>(columns.weights[k]);
                spread_want[static_cast<size_t>(columns.at[k] + c)] +=
                    static_cast<double>(grads[to]) * 0.5 * static_cast<double>(columns.weights[k]);
              }
              wrong += !near(weighed[to], sum);
              if (in_pairs)
                wrong += !near(blended[to],
                               value(2 * x) + (value(2 * x + 1) - value(2 * x)) *
                                                  static_cast<double>(columns.weights[2 * x + 1]));
            }
          for (size_t i = 0; i < spread.size(); ++i)
            wrong += !near(spread[i], spread_want[i]);
          CHECK(wrong == 0);
          CHECK(weighed.back() == 99);
          CHECK(blended.back() == 99);
        }
  });
}

TEST_CASE("rows are weighed and blended as one by one") {
  on_each_isa([] {
    for (int64_t n : {0, 1, 3, 4, 15, 16, 17, 63, 64, 65, 300})
      for (size_t count : {1, 2, 4, 7}) {
        CAPTURE(n);
        CAPTURE(count);
        std::vector<std::vector<float>> rows;
        std::vector<const float*> pointers;
        std::vector<float> weights;
        for (size_t k = 0; k < count; ++k) {
          rows.push_back(random_values<float>(n, -2, 2, static_cast<unsigned>(k)));
          weights.push_back(0.5f - 0.25f * static_cast<float>(k));
        }
        for (const auto& row : rows)
          pointers.push_back(row.data());
        std::vector<float> weighed(static_cast<size_t>(n) + 1, 99), blended = weighed;
        weigh_rows(pointers.data(), weights.data(), static_cast<int64_t>(count), 3.0f, n,
                   weighed.data());
        blend_rows(pointers.front(), pointers.back(), 0.25f, n, blended.data());
        int wrong = 0;
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
          double sum = 0;
          for (size_t k = 0; k < count; ++k)
            sum += static_cast<double>(rows[k][i]) * static_cast<double>(weights[k]);
          wrong += !near(weighed[i], 3 * sum);
          const auto top = static_cast<double>(rows.front()[i]);
          wrong += !near(blended[i], top + (static_cast<double>(rows.back()[i]) - top) * 0.25);
        }
        CHECK(wrong == 0);
        CHECK(weighed.back() == 99);
        CHECK(blended.back() == 99);
      }
  });
}

} // namespace
} // namespace troupe::arith::resize_test
