#include "kernels/arith/bits.hpp"
#include "kernels/arith/internal/test_support.hpp"

namespace troupe::arith::bits_test {
namespace {

TEST_CASE("bits are combined byte by byte, of arrays and of patterns") {
  on_each_isa([] {
    for (int64_t n : {0, 1, 63, 64, 65, 200, 4097})
      for (BitOp op : {BitOp::and_, BitOp::or_, BitOp::xor_})
        for (bool repeats_a : {false, true})
          for (bool repeats_b : {false, true}) {
            CAPTURE(n);
            CAPTURE(static_cast<int>(op));
            const auto size = static_cast<size_t>(n + bit_pattern_bytes);
            const auto a = random_values<uint8_t>(static_cast<int64_t>(size), 0, 255, 1);
            const auto b = random_values<uint8_t>(static_cast<int64_t>(size), 0, 255, 2);
            std::vector<uint8_t> out(size, 7), want(size, 7);
            for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
              const int x = a[repeats_a ? i % bit_pattern_bytes : i];
              const int y = b[repeats_b ? i % bit_pattern_bytes : i];
              want[i] = static_cast<uint8_t>(op == BitOp::and_  ? x & y
                                             : op == BitOp::or_ ? x | y
                                                                : x ^ y);
            }
            combine_bits(op, a.data(), repeats_a, b.data(), repeats_b, out.data(), n);
            CHECK(out == want);
          }
  });
}

} // namespace
} // namespace troupe::arith::bits_test
