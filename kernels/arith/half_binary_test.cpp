#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/half.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <functional>

namespace troupe::arith::half_binary_test {
namespace {

bool is_nan(uint16_t x) {
  return (x & 0x7fff) > 0x7c00;
}

/// Elements of all kinds: zeros, denormals, infinities, NaN of both kinds and any bits.
std::vector<uint16_t> elements(int64_t n, unsigned seed) {
  constexpr uint16_t special[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0xbc00,
                                  0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfd01, 0x7c01};
  std::mt19937 generator(seed);
  std::vector<uint16_t> out(static_cast<size_t>(n));
  for (uint16_t& x : out) {
    const auto word = static_cast<uint32_t>(generator());
    x = word % 3 == 0 ? special[(word >> 8) % std::size(special)]
                      : static_cast<uint16_t>(word >> 16);
  }
  return out;
}

using Reference = std::function<float(float, float)>;

void check(BinaryOp op, int64_t n, RowMode mode, const Reference& reference) {
  CAPTURE(n);
  CAPTURE(static_cast<int>(mode));
  const BinaryKernel kernel = binary(op, Type::float16);
  REQUIRE(kernel);
  const std::vector<uint16_t> a = elements(std::max<int64_t>(n, 1), 1),
                              b = elements(std::max<int64_t>(n, 1), 2);
  std::vector<uint16_t> out(static_cast<size_t>(n) + 1, 0x1234);
  CHECK(kernel.row(a.data(), b.data(), out.data(), n, mode));
  int wrong = 0;
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    const uint16_t want =
        f32_to_f16(reference(f16_to_f32(a[mode == RowMode::left_scalar ? 0 : i]),
                             f16_to_f32(b[mode == RowMode::right_scalar ? 0 : i])));
    wrong += is_nan(want) ? !is_nan(out[i]) : out[i] != want;
  }
  CHECK(wrong == 0);
  CHECK(out.back() == 0x1234);
  std::vector<uint16_t> in_place = mode == RowMode::left_scalar ? b : a;
  in_place.resize(static_cast<size_t>(n));
  if (mode == RowMode::left_scalar)
    kernel.row(a.data(), in_place.data(), in_place.data(), n, mode);
  else
    kernel.row(in_place.data(), b.data(), in_place.data(), n, mode);
  out.pop_back();
  CHECK(in_place == out);
}

TEST_CASE("f16 is computed in f32 and rounded once, in rows of any length") {
  const std::pair<BinaryOp, Reference> ops[] = {
      {BinaryOp::add, std::plus<>()},
      {BinaryOp::sub, std::minus<>()},
      {BinaryOp::mul, std::multiplies<>()},
      {BinaryOp::real_div, std::divides<>()},
      {BinaryOp::squared_difference, [](float a, float b) { return (a - b) * (a - b); }},
      {BinaryOp::maximum, [](float a, float b) { return a != a || b != b ? NAN
                                                        : a >= b         ? a
                                                                         : b; }},
      {BinaryOp::minimum, [](float a, float b) { return a != a || b != b ? NAN
                                                        : a <= b         ? a
                                                                         : b; }},
      {BinaryOp::div_no_nan, [](float a, float b) { return b == 0 ? 0 : a / b; }},
  };
  on_each_isa([&] {
    for (const auto& [op, reference] : ops) {
      CAPTURE(static_cast<int>(op));
      for (RowMode mode : {RowMode::both_rows, RowMode::left_scalar, RowMode::right_scalar})
        for (int64_t n : {0, 1, 7, 8, 15, 16, 17, 31, 33, 256, 1003})
          check(op, n, mode, reference);
    }
  });
}

TEST_CASE("the quotient of FloorDiv is rounded before its floor is taken") {
  on_each_isa([] {
    for (RowMode mode : {RowMode::both_rows, RowMode::left_scalar, RowMode::right_scalar})
      for (int64_t n : {1, 16, 33, 1003})
        check(BinaryOp::floor_div, n, mode,
              [](float a, float b) { return std::floor(f16_to_f32(f32_to_f16(a / b))); });
    const BinaryKernel kernel = binary(BinaryOp::floor_div, Type::bfloat16);
    const uint16_t a[] = {0x42a2, 0xc2a2}, b[] = {0x401e, 0x401e}; // 81 and 2.46875: 32.8
    uint16_t out[2];
    CHECK(kernel.row(a, b, out, 2, RowMode::both_rows));
    CHECK(out[0] == 0x4200); // 32
    CHECK(out[1] == 0xc204); // -33
  });
}

} // namespace
} // namespace troupe::arith::half_binary_test
