// The discrete Fourier transform of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::linalg {

/// Tables for one length; any thread may use them at once. Lengths of small prime factors are split
/// (Cooley and Tukey), others become a convolution (Bluestein).
class Fourier {
public:
  using Complex = std::complex<double>;

  explicit Fourier(std::int64_t length); ///< at least 1
  std::int64_t length() const { return length_; }
  /// x[k] becomes the sum over j of x[j] exp(-2 pi i j k / n); inverse: exp(2 pi i j k / n), without
  /// the division by n.
  void transform(Complex* x, bool inverse) const;

private:
  struct Chirp {
    std::int64_t length;
    std::vector<Complex> factors, spectrum;
    std::unique_ptr<Fourier> inner;
  };

  void split(const Complex* in, Complex* out, std::int64_t n, std::int64_t stride,
             std::size_t level) const;
  void join(Complex* out, std::int64_t n, std::int64_t parts) const;
  void convolve(Complex* x) const;
  void make_chirp();

  std::int64_t length_;
  std::vector<std::int64_t> factors_;
  std::vector<Complex> roots_; // exp(-2 pi i k / n)
  std::unique_ptr<Chirp> chirp_;
};

} // namespace troupe::linalg
