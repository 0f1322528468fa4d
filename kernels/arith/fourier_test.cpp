#include "kernels/arith/fourier.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <algorithm>
#include <numbers>

namespace troupe::arith::fourier_test {
namespace {

using Signal = std::vector<std::complex<double>>;

/// By the sum that defines it.
Signal transformed(const Signal& x, bool inverse) {
  const auto n = static_cast<int64_t>(x.size());
  Signal out(x.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      out[static_cast<size_t>(k)] +=
          x[static_cast<size_t>(j)] *
          std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(j * k % n) /
                              static_cast<double>(n));
  return out;
}

/// The distance of what was found from what it is, by the length of the signal.
template <class T>
double error(const std::complex<T>* found, int64_t pitch, const Signal& want, double scale) {
  double difference = 0, size = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    difference +=
        std::norm(std::complex<double>(found[static_cast<int64_t>(k) * pitch]) - want[k] * scale);
    size += std::norm(want[k] * scale);
  }
  return std::sqrt(difference / size);
}

template <class T>
constexpr double tolerance = 8 * std::numeric_limits<T>::epsilon();

// Powers of two, each radix alone and together, a sum of 61 terms, and convolutions.
constexpr int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   12,  15,  16,  20,  25,
                               30, 32, 49, 60, 61, 64, 67, 100, 122, 128, 131, 256, 360, 512};

template <class T>
void check_complex() {
  for (int64_t n : lengths)
    for (int64_t width : {1, 3, 20})
      for (bool inverse : {false, true}) {
        CAPTURE(n);
        CAPTURE(width);
        CAPTURE(inverse);
        const int64_t pitch = width == 3 ? 5 : width;
        const auto parts = random_values<T>(2 * n * pitch, -1, 1, 91);
        std::vector<std::complex<T>> x(static_cast<size_t>(n * pitch));
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = {parts[2 * i], parts[2 * i + 1]};
        std::vector<std::complex<T>> y(x.size(), T(7)), in_place = x;
        const Fourier<T> fourier(n);
        fourier.transform(x.data(), pitch, y.data(), pitch, width, inverse, 0.5);
        fourier.transform(in_place.data(), pitch, in_place.data(), pitch, width, inverse, 0.5);
        for (int64_t j = 0; j < pitch; ++j) {
          Signal signal;
          for (int64_t k = 0; k < n; ++k)
            signal.emplace_back(x[static_cast<size_t>(k * pitch + j)]);
          if (j < width) {
            CHECK(error(y.data() + j, pitch, transformed(signal, inverse), 0.5) < tolerance<T>);
            CHECK(in_place[static_cast<size_t>(j)] == y[static_cast<size_t>(j)]);
          } else {
            CHECK(y[static_cast<size_t>(j)] == T(7)); // beside the signals
          }
        }
      }
}

template <class T>
void check_real() {
  for (int64_t n : lengths) {
    CAPTURE(n);
    const auto x = random_values<T>(n, -1, 1, 92);
    const Signal all = transformed({x.begin(), x.end()}, false);
    std::vector<std::complex<T>> half(static_cast<size_t>(n / 2 + 1));
    const RealFourier<T> fourier(n);
    fourier.forward(x.data(), half.data());
    CHECK(error(half.data(), 1, {all.begin(), all.begin() + n / 2 + 1}, 1) < tolerance<T>);
    half[0] += std::complex<T>(0, 3); // does not count
    if (n % 2 == 0)
      half.back() += std::complex<T>(0, 3);
    std::vector<T> back(x.size());
    fourier.inverse(half.data(), back.data(), 1.0 / static_cast<double>(n));
    double most = 0;
    for (size_t i = 0; i < x.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(back[i]) - static_cast<double>(x[i])));
    CHECK(most < 2 * tolerance<T>);
  }
}

TEST_CASE("transforms of all kinds of lengths, alone and side by side, are what their sums say") {
  on_each_isa([] {
    check_complex<float>();
    check_complex<double>();
  });
}

TEST_CASE("half of a real signal's transform tells all, and its inverse gives the signal back") {
  on_each_isa([] {
    check_real<float>();
    check_real<double>();
  });
}

TEST_CASE("tables of a length are made once, until others have taken their place") {
  const auto first = Fourier<float>::of(48);
  CHECK(Fourier<float>::of(48) == first);
  CHECK(first->length() == 48);
  for (int64_t n = 100; n < 116; ++n)
    Fourier<float>::of(n);
  CHECK(Fourier<float>::of(48) != first);
  CHECK(Fourier<float>::of(1 << 18) != Fourier<float>::of(1 << 18)); // too large to be kept
}

TEST_CASE("long signals are transformed in memory of their own, and in blocks of columns") {
  for (int64_t n : {int64_t{1} << 18, int64_t{1} << 12}) {
    const int64_t width = n > 100000 ? 1 : 40;
    std::vector<std::complex<float>> x(static_cast<size_t>(n * width)), y = x;
    for (int64_t j = 0; j < width; ++j)
      x[static_cast<size_t>(3 * width + j)] = static_cast<float>(j + 1); // an impulse at 3
    Fourier<float>(n).transform(x.data(), width, y.data(), width, width, false, 1);
    double most = 0;
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < width; ++j) {
        const auto want =
            std::polar(static_cast<double>(j + 1),
                       -2 * std::numbers::pi * static_cast<double>(3 * k) / static_cast<double>(n));
        most = std::max(
            most, std::abs(want - std::complex<double>(y[static_cast<size_t>(k * width + j)])));
      }
    CHECK(most < 1e-5 * static_cast<double>(width));
  }
}

} // namespace
} // namespace troupe::arith::fourier_test
