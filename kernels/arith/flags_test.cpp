#include "kernels/arith/flags.hpp"
#include "kernels/arith/internal/test_support.hpp"

namespace troupe::arith::flags_test {
namespace {

TEST_CASE("flags are counted and found in order, as far as there is room") {
  on_each_isa([] {
    for (int64_t n : {0, 1, 7, 8, 63, 64, 65, 127, 128, 200, 1003, 70001})
      for (int of_ten : {0, 1, 5, 9, 10}) {
        CAPTURE(n);
        CAPTURE(of_ten);
        std::mt19937 generator(static_cast<unsigned>(n + of_ten));
        std::vector<uint8_t> flags(static_cast<size_t>(n));
        std::vector<int64_t> want;
        for (size_t i = 0; i < flags.size(); ++i) {
          const auto word = static_cast<uint32_t>(generator());
          flags[i] =
              static_cast<int>(word % 10) < of_ten ? static_cast<uint8_t>(1 + word % 255) : 0;
          if (flags[i] != 0)
            want.push_back(40 + static_cast<int64_t>(i));
        }
        const auto all = static_cast<int64_t>(want.size());
        CHECK(count_flags(flags.data(), n) == all);
        for (int64_t room : {all, all / 2, all + 100}) {
          std::vector<int64_t> out(static_cast<size_t>(room) + 1, -1);
          const int64_t found = find_flags(flags.data(), n, 40, room, out.data());
          CHECK(found == std::min(room, all));
          CHECK(out.back() == -1);
          CHECK(std::equal(want.begin(), want.begin() + found, out.begin()));
        }
      }
  });
}

} // namespace
} // namespace troupe::arith::flags_test
