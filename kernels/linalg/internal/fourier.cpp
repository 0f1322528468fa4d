#include "kernels/linalg/internal/fourier.hpp"

#include <algorithm>
#include <numbers>

namespace troupe::linalg {
namespace {

using Complex = Fourier::Complex;

constexpr std::int64_t largest_factor = 61;

/// exp(-2 pi i k / n), exact where it is a multiple of a quarter.
Complex root(std::int64_t k, std::int64_t n) {
  if (4 * k % n == 0) {
    constexpr Complex quarters[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
    return quarters[4 * k / n % 4];
  }
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// Without the checks for infinities that the standard library's product makes.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t p : {4, 2, 3})
    for (; n % p == 0; n /= p)
      out.push_back(p);
  for (std::int64_t p = 5; p * p <= n; p += 2)
    for (; n % p == 0; n /= p)
      out.push_back(p);
  if (n > 1)
    out.push_back(n);
  return out;
}

} // namespace

Fourier::Fourier(std::int64_t length) : length_(length), factors_(factors_of(length)) {
  if (!factors_.empty() && *std::ranges::max_element(factors_) > largest_factor) {
    make_chirp();
    return;
  }
  roots_.reserve(static_cast<std::size_t>(length));
  for (std::int64_t k = 0; k < length; ++k)
    roots_.push_back(root(k, length));
}

void Fourier::make_chirp() {
  std::int64_t padded = 1;
  while (padded < 2 * length_ - 1)
    padded *= 2;
  chirp_ = std::make_unique<Chirp>();
  chirp_->length = padded;
  chirp_->inner = std::make_unique<Fourier>(padded);
  chirp_->spectrum.assign(static_cast<std::size_t>(padded), 0);
  for (std::int64_t k = 0; k < length_; ++k) {
    const auto square = static_cast<std::int64_t>(static_cast<__int128>(k) * k % (2 * length_));
    chirp_->factors.push_back(root(square, 2 * length_));
    const Complex turned = std::conj(chirp_->factors.back());
    chirp_->spectrum[static_cast<std::size_t>(k)] = turned;
    if (k > 0)
      chirp_->spectrum[static_cast<std::size_t>(padded - k)] = turned;
  }
  chirp_->inner->transform(chirp_->spectrum.data(), false);
}

void Fourier::transform(Complex* x, bool inverse) const {
  const auto n = static_cast<std::size_t>(length_);
  if (n == 1)
    return;
  if (inverse)
    std::transform(x, x + n, x, [](Complex z) { return std::conj(z); });
  if (chirp_) {
    convolve(x);
  } else {
    const std::vector<Complex> in(x, x + n);
    split(in.data(), x, length_, 1, 0);
  }
  if (inverse)
    std::transform(x, x + n, x, [](Complex z) { return std::conj(z); });
}

// Bluestein: with jk = (j^2 + k^2 - (k-j)^2) / 2 the sum is a convolution with a chirp.
void Fourier::convolve(Complex* x) const {
  const auto n = static_cast<std::size_t>(length_);
  std::vector<Complex> padded(static_cast<std::size_t>(chirp_->length));
  for (std::size_t i = 0; i < n; ++i)
    padded[i] = times(x[i], chirp_->factors[i]);
  chirp_->inner->transform(padded.data(), false);
  for (std::size_t i = 0; i < padded.size(); ++i)
    padded[i] = times(padded[i], chirp_->spectrum[i]);
  chirp_->inner->transform(padded.data(), true);
  const double scale = 1.0 / static_cast<double>(chirp_->length);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = times(padded[i], chirp_->factors[i]) * scale;
}

void Fourier::split(const Complex* in, Complex* out, std::int64_t n, std::int64_t stride,
                    std::size_t level) const {
  if (n == 1) {
    *out = *in;
    return;
  }
  const std::int64_t parts = factors_[level], size = n / parts;
  for (std::int64_t j = 0; j < parts; ++j)
    split(in + j * stride, out + j * size, size, stride * parts, level + 1);
  join(out, n, parts);
}

void Fourier::join(Complex* out, std::int64_t n, std::int64_t parts) const {
  const std::int64_t size = n / parts, step = length_ / n, turn = length_ / parts;
  const auto at = [&](std::int64_t k) { return roots_[static_cast<std::size_t>(k)]; };
  Complex terms[largest_factor];
  for (std::int64_t k = 0; k < size; ++k) {
    for (std::int64_t j = 0; j < parts; ++j)
      terms[j] = times(out[j * size + k], at(j * k * step));
    if (parts == 2) {
      out[k] = terms[0] + terms[1];
      out[size + k] = terms[0] - terms[1];
    } else if (parts == 4) {
      const Complex a = terms[0] + terms[2], b = terms[0] - terms[2];
      const Complex c = terms[1] + terms[3], d = terms[1] - terms[3];
      out[k] = a + c;
      out[size + k] = {b.real() + d.imag(), b.imag() - d.real()};
      out[2 * size + k] = a - c;
      out[3 * size + k] = {b.real() - d.imag(), b.imag() + d.real()};
    } else {
      for (std::int64_t q = 0; q < parts; ++q) {
        Complex sum = terms[0];
        for (std::int64_t j = 1; j < parts; ++j)
          sum += times(terms[j], at(q * j % parts * turn));
        out[q * size + k] = sum;
      }
    }
  }
}

} // namespace troupe::linalg
