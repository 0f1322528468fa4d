// Complex numbers on each instruction set, beside the standard library's in double.
#include <complex>
#include <cstring>

#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/test_support.hpp"

namespace troupe::arith::complex_test {
namespace {

using Wide = std::complex<double>;

template <class T>
constexpr Type complex_of = sizeof(T) == 4 ? Type::complex64 : Type::complex128;

/// Ordinary numbers of all sizes, more than one block of them, and odd ones.
template <class T>
std::vector<std::complex<T>> numbers(unsigned seed) {
  const auto parts = random_values<T>(2 * 150, -3, 3, seed);
  std::vector<std::complex<T>> out;
  for (size_t i = 0; i < parts.size(); i += 2) {
    const T scale = std::pow(T(10), static_cast<T>(i % 30) - T(15));
    out.emplace_back(parts[i] * (i % 3 == 0 ? scale : T(1)), parts[i + 1] * scale);
  }
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T most = std::numeric_limits<T>::max() / 2, least = std::numeric_limits<T>::min();
  for (T re : {T(0), T(-0.0), T(1), T(-1), inf, -inf, nan, most, -most, least})
    for (T im : {T(0), T(-0.0), T(2), -inf, nan, most, least})
      out.emplace_back(re, im);
  return out;
}

bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// To some ulp of the whole number; where either is not finite, exactly.
template <class T>
void check_near(std::complex<T> got, Wide want) {
  const Wide rounded(static_cast<T>(want.real()), static_cast<T>(want.imag()));
  CAPTURE(got.real());
  CAPTURE(got.imag());
  CAPTURE(rounded.real());
  CAPTURE(rounded.imag());
  if (std::isfinite(got.real()) && std::isfinite(got.imag()))
    CHECK(std::abs(Wide(got) - want) <=
          8 * double(std::numeric_limits<T>::epsilon()) * std::abs(want) +
              4 * double(std::numeric_limits<T>::denorm_min()));
  else
    CHECK((is_same(got.real(), rounded.real()) && is_same(got.imag(), rounded.imag())));
}

template <class T>
void check_unary(UnaryOp op) {
  const UnaryFn exact = generic_unary(op, Type::complex128);
  const auto x = numbers<T>(31);
  std::vector<std::complex<T>> y(x.size());
  const UnaryFn fn = isa_table().unary(op, complex_of<T>);
  const bool is_there = fn != nullptr;
  REQUIRE(is_there);
  fn(x.data(), y.data(), 0, static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i].real());
    CAPTURE(x[i].imag());
    const Wide from(x[i]);
    Wide want;
    exact(&from, &want, 0, 1);
    check_near<T>(y[i], want);
  }
}

template <class T>
void check_binary(BinaryOp op, RowMode mode) {
  const BinaryRow exact = generic_binary(op, Type::complex128);
  const auto a = numbers<T>(32);
  auto b = numbers<T>(33);
  std::rotate(b.begin(), b.begin() + 17, b.end()); // odd ones meet ordinary ones
  std::vector<std::complex<T>> z(a.size());
  const BinaryRow row = isa_table().binary(op, complex_of<T>);
  const bool is_there = row != nullptr;
  REQUIRE(is_there);
  CHECK(row(a.data(), b.data(), z.data(), static_cast<int64_t>(z.size()), mode));
  if (mode != RowMode::left_scalar) {
    auto in_place = a;
    row(in_place.data(), b.data(), in_place.data(), static_cast<int64_t>(z.size()), mode);
    CHECK(std::memcmp(in_place.data(), z.data(), z.size() * sizeof z[0]) == 0);
  }
  for (size_t i = 0; i < z.size(); ++i) {
    const Wide l(a[mode == RowMode::left_scalar ? 0 : i]);
    const Wide r(b[mode == RowMode::right_scalar ? 0 : i]);
    CAPTURE(l.real());
    CAPTURE(l.imag());
    CAPTURE(r.real());
    CAPTURE(r.imag());
    Wide want;
    exact(&l, &r, &want, 1, RowMode::both_rows);
    check_near<T>(z[i], want);
  }
}

TEST_CASE_TEMPLATE("complex functions are the standard library's to some ulp", T, float, double) {
  on_each_isa([] {
    for (UnaryOp op :
         {UnaryOp::neg, UnaryOp::sign, UnaryOp::reciprocal, UnaryOp::sqrt, UnaryOp::square}) {
      CAPTURE(static_cast<int>(op));
      check_unary<T>(op);
    }
    if (sizeof(T) == 4) {
      check_unary<T>(UnaryOp::log);
      check_unary<T>(UnaryOp::exp);
    }
    for (BinaryOp op : {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::real_div})
      for (RowMode mode : {RowMode::both_rows, RowMode::left_scalar, RowMode::right_scalar}) {
        CAPTURE(static_cast<int>(op));
        check_binary<T>(op, mode);
      }
  });
}

TEST_CASE_TEMPLATE("lengths and angles of complex numbers", T, float, double) {
  on_each_isa([] {
    const auto x = numbers<T>(34);
    std::vector<T> y(x.size());
    for (ComplexPart part :
         {ComplexPart::real, ComplexPart::imaginary, ComplexPart::length, ComplexPart::angle}) {
      complex_part(part, complex_of<T>)(x.data(), y.data(), 0, static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const T want = part == ComplexPart::real        ? x[i].real()
                       : part == ComplexPart::imaginary ? x[i].imag()
                       : part == ComplexPart::length    ? std::abs(x[i])
                                                        : std::arg(x[i]);
        CAPTURE(x[i].real());
        CAPTURE(x[i].imag());
        CAPTURE(static_cast<int>(part));
        if (std::isfinite(want))
          CHECK(std::abs(y[i] - want) <= 4 * std::numeric_limits<T>::epsilon() * std::abs(want));
        else
          CHECK(is_same(double(y[i]), double(want)));
      }
    }
    const bool is_there = complex_part(ComplexPart::real, Type::float32) != nullptr;
    CHECK_FALSE(is_there);
  });
}

} // namespace
} // namespace troupe::arith::complex_test
