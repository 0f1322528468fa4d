#include "kernels/arith/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>

#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/scratch.hpp"

namespace troupe::arith {
namespace {

constexpr int64_t largest_radix = 61;

/// exp(-2 pi i k / n), exact where it is a multiple of a quarter.
std::complex<double> root(int64_t k, int64_t n) {
  if (4 * k % n == 0) {
    constexpr std::complex<double> quarters[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
    return quarters[4 * k / n % 4];
  }
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// Fours first: the first stage of a single signal then works on neighbours.
std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t p : {4, 2, 3})
    for (; n % p == 0; n /= p)
      out.push_back(p);
  for (int64_t p = 5; p * p <= n; p += 2)
    for (; n % p == 0; n /= p)
      out.push_back(p);
  if (n > 1)
    out.push_back(n);
  return out;
}

template <class T>
constexpr Type type_of_parts = std::is_same_v<T, float> ? Type::float32 : Type::float64;

/// Memory for a transform: this thread's, or where that would keep too much of it, its own.
template <class T>
class Room {
public:
  explicit Room(int64_t elements) {
    const size_t bytes = static_cast<size_t>(elements) * sizeof(T);
    if (bytes > kept_bytes)
      own_ = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(elements));
    first_ = own_ ? own_.get() : static_cast<T*>(thread_scratch(Scratch::fourier, bytes));
  }
  T* at(int64_t i) { return first_ + i; }

private:
  static constexpr size_t kept_bytes = size_t{4} << 20;
  std::unique_ptr<T[]> own_;
  T* first_;
};

} // namespace

template <class T>
struct Fourier<T>::Chirp {
  std::unique_ptr<Fourier> inner; // of a power of two
  std::vector<T> factor_re, factor_im, spectrum_re, spectrum_im;
};

template <class T>
Fourier<T>::Fourier(int64_t length) : length_(length) {
  const std::vector<int64_t> radices = radices_of(length);
  if (!radices.empty() && *std::ranges::max_element(radices) > largest_radix)
    make_chirp();
  else
    plan_stages(radices);
}

template <class T>
Fourier<T>::~Fourier() = default;

template <class T>
void Fourier<T>::plan_stages(const std::vector<int64_t>& radices) {
  const auto add = [&](std::complex<double> factor) {
    factor_re_.push_back(static_cast<T>(factor.real()));
    factor_im_.push_back(static_cast<T>(factor.imag()));
  };
  int64_t left = length_;
  for (int64_t radix : radices) {
    stages_.push_back({radix, left / radix, factor_re_.size()});
    for (int64_t k = 0; k < radix; ++k)
      for (int64_t p = 0; p < left / radix; ++p)
        add(root(k * p % left, left));
    for (int64_t k = 0; radix > 5 && k < radix; ++k)
      add(root(k, radix));
    left /= radix;
  }
}

// With jk = (j^2 + k^2 - (k-j)^2) / 2 the sum is a convolution with a chirp.
template <class T>
void Fourier<T>::make_chirp() {
  int64_t padded = 1;
  while (padded < 2 * length_ - 1)
    padded *= 2;
  chirp_ = std::make_unique<Chirp>();
  chirp_->inner = std::make_unique<Fourier>(padded);
  std::vector<std::complex<double>> spectrum(static_cast<size_t>(padded));
  for (int64_t k = 0; k < length_; ++k) {
    const auto square = static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * length_));
    const std::complex<double> factor = root(square, 2 * length_);
    chirp_->factor_re.push_back(static_cast<T>(factor.real()));
    chirp_->factor_im.push_back(static_cast<T>(factor.imag()));
    spectrum[static_cast<size_t>(k)] = std::conj(factor);
    if (k > 0)
      spectrum[static_cast<size_t>(padded - k)] = std::conj(factor);
  }
  Fourier<double>(padded).transform(spectrum.data(), 1, spectrum.data(), 1, 1, false,
                                    1.0 / static_cast<double>(padded));
  for (std::complex<double> x : spectrum) {
    chirp_->spectrum_re.push_back(static_cast<T>(x.real()));
    chirp_->spectrum_im.push_back(static_cast<T>(x.imag()));
  }
}

template <class T>
std::shared_ptr<const Fourier<T>> Fourier<T>::of(int64_t length) {
  constexpr size_t kept = 16;
  constexpr int64_t large = 1 << 17;
  if (length > large)
    return std::make_shared<Fourier>(length);
  static std::mutex mutex;
  static std::list<std::shared_ptr<const Fourier>> last; // the latest first
  {
    std::lock_guard lock(mutex);
    for (auto it = last.begin(); it != last.end(); ++it)
      if ((*it)->length() == length) {
        last.splice(last.begin(), last, it);
        return last.front();
      }
  }
  auto made = std::make_shared<const Fourier>(length);
  std::lock_guard lock(mutex);
  last.push_front(made);
  if (last.size() > kept)
    last.pop_back();
  return made;
}

template <class T>
typename Fourier<T>::Parts Fourier<T>::run(Parts x, Parts room, int64_t width) const {
  if (chirp_) {
    convolve(x, width);
    return x;
  }
  int64_t columns = width;
  for (const Stage& stage : stages_) {
    const T *re = factor_re_.data() + stage.factors, *im = factor_im_.data() + stage.factors;
    isa_table().fourier_stage(type_of_parts<T>, {stage.radix, stage.groups, columns, re, im, x.re,
                                                 x.im, room.re, room.im});
    std::swap(x, room);
    columns *= stage.radix;
  }
  return x;
}

template <class T>
void Fourier<T>::convolve(Parts x, int64_t width) const {
  const int64_t padded = chirp_->inner->length(), all = padded * width;
  const auto memory = std::make_unique<T[]>(static_cast<size_t>(4 * all));
  // (a_re + i a_im) (b_re + i b_im), the same b for a row of `width`.
  const auto multiply = [&](Parts from, Parts to, const std::vector<T>& b_re,
                            const std::vector<T>& b_im) {
    for (size_t k = 0; k < b_re.size(); ++k)
      for (int64_t at = static_cast<int64_t>(k) * width; at < (static_cast<int64_t>(k) + 1) * width;
           ++at) {
        const T re = from.re[at], im = from.im[at];
        to.re[at] = re * b_re[k] - im * b_im[k];
        to.im[at] = re * b_im[k] + im * b_re[k];
      }
  };
  const Parts first = {memory.get(), memory.get() + all};
  const Parts second = {memory.get() + 2 * all, memory.get() + 3 * all};
  multiply(x, first, chirp_->factor_re, chirp_->factor_im);
  Parts found = chirp_->inner->run(first, second, width);
  multiply(found, found, chirp_->spectrum_re, chirp_->spectrum_im);
  // The inverse: with the parts exchanged.
  const Parts other = found.re == first.re ? second : first;
  found = chirp_->inner->run({found.im, found.re}, other, width);
  multiply({found.im, found.re}, x, chirp_->factor_re, chirp_->factor_im);
}

template <class T>
void Fourier<T>::transform(const Complex* in, int64_t in_pitch, Complex* out, int64_t out_pitch,
                           int64_t width, bool inverse, double scale) const {
  // Signals at once: as many as leave their elements in a second-level cache, but whole lines of
  // it.
  constexpr int64_t cached = (int64_t{1} << 16) / sizeof(T), line = 128 / sizeof(T);
  const int64_t block = std::min(width, std::max(cached / length_, line));
  const int64_t all = length_ * block;
  Room<T> room(4 * all);
  const auto& isa = isa_table();
  for (int64_t begin = 0; begin < width; begin += block) {
    const int64_t n = std::min(block, width - begin);
    const Parts x = {room.at(0), room.at(all)}, y = {room.at(2 * all), room.at(3 * all)};
    const bool row_alone = n == 1 && in_pitch == 1;
    for (int64_t k = 0; k < (row_alone ? 1 : length_); ++k)
      isa.fourier_split(type_of_parts<T>, in + k * in_pitch + begin, x.re + k * n, x.im + k * n,
                        row_alone ? length_ : n);
    // With the parts exchanged, before and after, a transform is the inverse one.
    Parts found = run(inverse ? Parts{x.im, x.re} : x, y, n);
    if (inverse)
      std::swap(found.re, found.im);
    const bool merges_all = n == 1 && out_pitch == 1;
    for (int64_t k = 0; k < (merges_all ? 1 : length_); ++k)
      isa.fourier_merge(type_of_parts<T>, found.re + k * n, found.im + k * n, scale,
                        out + k * out_pitch + begin, merges_all ? length_ : n);
  }
}

template <class T>
RealFourier<T>::RealFourier(int64_t length) : length_(length) {
  const bool even = length % 2 == 0;
  complex_ = Fourier<T>::of(even ? length / 2 : length);
  for (int64_t k = 0; even && k < length / 2; ++k) {
    const std::complex<double> r = root(k, length);
    root_re_.push_back(static_cast<T>(r.real()));
    root_im_.push_back(static_cast<T>(r.imag()));
  }
}

template <class T>
void RealFourier<T>::forward(const T* in, Complex* out) const {
  const int64_t n = complex_->length();
  Room<T> room(4 * n);
  typename Fourier<T>::Parts x = {room.at(0), room.at(n)}, y = {room.at(2 * n), room.at(3 * n)};
  if (length_ % 2 != 0) {
    std::copy(in, in + n, x.re);
    std::fill(x.im, x.im + n, T(0));
    x = complex_->run(x, y, 1);
    return isa_table().fourier_merge(type_of_parts<T>, x.re, x.im, 1, out, n / 2 + 1);
  }
  isa_table().fourier_split(type_of_parts<T>, in, x.re, x.im, n);
  x = complex_->run(x, y, 1);
  isa_table().fourier_real_half(type_of_parts<T>,
                                {n, root_re_.data(), root_im_.data(), x.re, x.im, out});
}

template <class T>
void RealFourier<T>::inverse(const Complex* in, T* out, double scale) const {
  const int64_t n = complex_->length();
  Room<T> room(4 * n);
  typename Fourier<T>::Parts x = {room.at(0), room.at(n)}, y = {room.at(2 * n), room.at(3 * n)};
  if (length_ % 2 != 0) {
    x.re[0] = in[0].real();
    x.im[0] = 0;
    for (int64_t k = 1; k <= n / 2; ++k) {
      x.re[k] = x.re[n - k] = in[k].real();
      x.im[k] = in[k].imag();
      x.im[n - k] = -in[k].imag();
    }
    x = complex_->run({x.im, x.re}, y, 1);
    std::transform(x.im, x.im + n, out, [&](T value) { return value * static_cast<T>(scale); });
    return;
  }
  isa_table().fourier_real_whole(type_of_parts<T>,
                                 {n, root_re_.data(), root_im_.data(), x.re, x.im, nullptr},
                                 reinterpret_cast<const T*>(in));
  x = complex_->run({x.im, x.re}, y, 1);
  isa_table().fourier_merge(type_of_parts<T>, x.im, x.re, scale, out, n);
}

template class Fourier<float>;
template class Fourier<double>;
template class RealFourier<float>;
template class RealFourier<double>;

} // namespace troupe::arith
