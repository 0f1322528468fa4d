// Discrete Fourier transforms of any length, of float or double, in the instruction set in use.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::arith {

/// Tables for one length; any thread may use them at once. A length of small prime factors is split
/// (Cooley and Tukey), any other becomes a convolution (Bluestein).
template <class T>
class Fourier {
public:
  using Complex = std::complex<T>;

  explicit Fourier(int64_t length); ///< at least 1
  ~Fourier();

  /// The tables of that length; the process keeps the last few that are not large.
  static std::shared_ptr<const Fourier> of(int64_t length);

  int64_t length() const { return length_; }

  /// Transforms `width` signals that lie side by side: element k of signal j is in[k * in_pitch +
  /// j]. out[k] is `scale` times the sum over j of in[j] exp(-2 pi i j k / n); with inverse, of
  /// in[j] exp(2 pi i j k / n). `out` may be `in`, if the pitches are the same.
  void transform(const Complex* in, int64_t in_pitch, Complex* out, int64_t out_pitch,
                 int64_t width, bool inverse, double scale) const;

private:
  friend class Fourier<float>; // whose chirp is computed in double
  template <class>
  friend class RealFourier;

  struct Stage {
    int64_t radix, groups;
    size_t factors; // where they begin
  };
  struct Parts {
    T *re, *im;
  };
  struct Chirp;

  void plan_stages(const std::vector<int64_t>& radices);
  void make_chirp();
  /// `width` signals in `x`, whose elements follow each other; `room` is as large. Where the result
  /// is.
  Parts run(Parts x, Parts room, int64_t width) const;
  void convolve(Parts x, int64_t width) const;

  int64_t length_;
  std::vector<Stage> stages_;
  std::vector<T> factor_re_, factor_im_;
  std::unique_ptr<Chirp> chirp_;
};

/// The same of real signals, one at a time; of the transform the half [length / 2 + 1] that tells
/// all.
template <class T>
class RealFourier {
public:
  using Complex = std::complex<T>;

  explicit RealFourier(int64_t length); ///< at least 1

  void forward(const T* in, Complex* out) const;
  /// `scale` times the inverse; what the first element, and the last of an even length, have beside
  /// their real part does not count.
  void inverse(const Complex* in, T* out, double scale) const;

private:
  int64_t length_;
  std::shared_ptr<const Fourier<T>> complex_; // of half the length, where that is even
  std::vector<T> root_re_, root_im_;
};

} // namespace troupe::arith
