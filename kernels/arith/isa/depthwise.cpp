// Depthwise convolution and dilation: the channels of a pixel are a row, and whole rows are
// multiplied or compared. Several pixels that see the same part of the filter share each load of
// it.
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

constexpr int together = 4; // pixels that share a load of the filter

TROUPE_INLINE int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
TROUPE_INLINE int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}
/// a / b rounded up, and at least 0.
TROUPE_INLINE int64_t up(int64_t a, int64_t b) {
  return a <= 0 ? 0 : (a + b - 1) / b;
}

/// What a target position reads along one axis: `count` elements of the filter and of the source,
/// beginning with these; `whole` if none of them is cut off by the source's ends.
struct Taps {
  int64_t count, filter, source;
  bool whole;
};

/// One axis of a convolution, seen from its output, or from its input for the gradient.
struct Axis {
  int64_t source, target, filter;   // extents
  int64_t stride, dilation, pad;    // of the convolution
  int64_t filter_step, source_step; // from one tap to the next
  int64_t period;                   // targets that far apart see the same of the filter
  int64_t advance;                  // and their sources are that far apart
  bool back;
  bool three; // neighbours, without steps: the common filter

  TROUPE_INLINE Axis forward(int64_t in, int64_t out, int64_t filter, int64_t stride,
                             int64_t dilation, int64_t pad) {
    return {in, out,      filter, stride, dilation, pad,
            1,  dilation, 1,      stride, false,    filter == 3 && stride == 1 && dilation == 1};
  }
  TROUPE_INLINE Axis backward(int64_t in, int64_t out, int64_t filter, int64_t stride,
                              int64_t dilation, int64_t pad) {
    int64_t common = stride;
    for (int64_t rest = dilation; rest != 0;) {
      const int64_t next = common % rest;
      common = rest;
      rest = next;
    }
    return {out,
            in,
            filter,
            stride,
            dilation,
            pad,
            stride / common,
            -(dilation / common),
            stride,
            1,
            true,
            filter == 3 && stride == 1 && dilation == 1};
  }

  [[gnu::noinline]] Taps at(int64_t target) const {
    return back ? backward_at(target) : forward_at(target);
  }
  [[gnu::always_inline]] inline Taps forward_at(int64_t target) const {
    const int64_t first = target * stride - pad;
    const int64_t begin = up(-first, dilation), end = least(filter, up(source - first, dilation));
    return {most(end - begin, 0), begin, first + begin * dilation, begin == 0 && end == filter};
  }
  /// Element f of the filter joined source o to this target if o * stride = target + pad - f *
  /// dilation.
  [[gnu::always_inline]] inline Taps backward_at(int64_t target) const {
    const int64_t place = target + pad;
    int64_t f = 0;
    while (f < least(filter_step, filter) && (place - f * dilation) % stride != 0)
      ++f;
    if (f >= least(filter_step, filter))
      return {0, 0, 0, true};
    const int64_t o = (place - f * dilation) / stride, down = -source_step;
    const int64_t all = up(filter - f, filter_step);
    const int64_t begin = up(o - (source - 1), down);
    const int64_t end = o < 0 ? 0 : least(all, o / down + 1);
    return {most(end - begin, 0), f + begin * filter_step, o - begin * down,
            begin == 0 && end == all};
  }
};

/// Both axes of what is computed, and how its pixels lie in memory.
struct Plan {
  Axis rows, columns;
  int64_t source_channels, filters, target_channels, multiplier;

  TROUPE_INLINE Plan forward(const Conv2DShape& s) {
    return {Axis::forward(s.in_h, s.out_h, s.filter_h, s.stride_h, s.dilation_h, s.pad_top),
            Axis::forward(s.in_w, s.out_w, s.filter_w, s.stride_w, s.dilation_w, s.pad_left),
            s.in_c,
            s.out_c,
            s.out_c,
            s.out_c / s.in_c};
  }
  TROUPE_INLINE Plan backward(const Conv2DShape& s) {
    return {Axis::backward(s.in_h, s.out_h, s.filter_h, s.stride_h, s.dilation_h, s.pad_top),
            Axis::backward(s.in_w, s.out_w, s.filter_w, s.stride_w, s.dilation_w, s.pad_left),
            s.out_c,
            s.out_c,
            s.in_c,
            s.out_c / s.in_c};
  }
};

/// Filters [begin, begin + n) and the values of the channels that they read: as many as a register
/// has lanes, or, where N is an integer, fewer.
template <class T, class N>
struct OneEach {
  int64_t begin;
  N n;

  TROUPE_INLINE OneEach of(const Plan&, int64_t begin, N n) { return {begin, n}; }
  [[gnu::always_inline]] inline Full<T> operator()(const T* pixel) const {
    return load_first<Full<T>>(pixel + begin, n, T(0));
  }
};

/// The same where a channel has several filters: lane i has the value of channel `first` +
/// place[i].
template <class T, class N>
struct SeveralEach {
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  int64_t first, count;
  Full<Place> place;

  TROUPE_INLINE SeveralEach of(const Plan& plan, int64_t begin, N n) {
    SeveralEach result = {begin / plan.multiplier, 1, {}};
    const auto lane = []<Place... number>(std::integer_sequence<Place, number...>) {
      return Full<Place>{number...};
    }
    (std::make_integer_sequence<Place, lanes<T>>());
    // A comparison that is true gives -1.
    for (int64_t next = plan.multiplier - begin % plan.multiplier; next < n;
         next += plan.multiplier, ++result.count)
      result.place -= lane >= spread<Full<Place>>(static_cast<Place>(next));
    return result;
  }
  [[gnu::always_inline]] inline Full<T> operator()(const T* pixel) const {
    const T* from = pixel + first;
#if defined(__AVX512F__)
    const auto values = __builtin_bit_cast(__m512i, load_some<Full<T>>(from, count, T(0)));
    const auto index = __builtin_bit_cast(__m512i, place);
    if constexpr (sizeof(T) == 4)
      return __builtin_bit_cast(Full<T>, _mm512_permutexvar_epi32(index, values));
    else
      return __builtin_bit_cast(Full<T>, _mm512_permutexvar_epi64(index, values));
#else
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4) {
      const auto values = __builtin_bit_cast(__m256i, load_some<Full<T>>(from, count, T(0)));
      return __builtin_bit_cast(
          Full<T>, _mm256_permutevar8x32_epi32(values, __builtin_bit_cast(__m256i, place)));
    }
#endif
    Full<T> result;
    TROUPE_UNROLL
    for (int lane = 0; lane < lanes<T>; ++lane)
      result[lane] = from[place[lane]];
    return result;
#endif
  }
};

struct Products {
  template <class T>
  static constexpr T first = T(0);
  template <class V>
  TROUPE_INLINE V step(const V& sum, const V& pixel, const V& weight) {
    return sum + pixel * weight;
  }
};
struct LargestSum {
  template <class T>
  static constexpr T first = sizeof(T) == 4 ? T(-3.40282347e+38f) : T(-1.7976931348623157e+308);
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& pixel, const V& weight) {
    const V value = pixel + weight;
    return value > best ? value : best;
  }
};

/// Values of one register for each of some pixels.
template <class T, int count>
struct Pixels {
  Full<T> of[count];
};

/// Adds to neighbouring pixels what three neighbours of the source give each of them. They share
/// loads of the source, too.
template <class F, int count, class T>
TROUPE_INLINE void step_three(Pixels<T, count>& result, const Plan& plan, const T* from,
                              const T* weights, auto n, auto values) {
  const bool back = plan.columns.back;
  Full<T> pixel[count + 2], weight[3];
  TROUPE_UNROLL
  for (int p = 0; p < count + 2; ++p)
    pixel[p] = values(from + (back ? p - 2 : p) * plan.source_channels);
  TROUPE_UNROLL
  for (int k = 0; k < 3; ++k)
    weight[k] = load_first<Full<T>>(weights + (back ? 2 - k : k) * plan.filters, n, T(0));
  TROUPE_UNROLL
  for (int k = 0; k < 3; ++k) {
    TROUPE_UNROLL
    for (int p = 0; p < count; ++p)
      result.of[p] = F::step(result.of[p], pixel[p + k], weight[k]);
  }
}

/// What F makes of the windows of `count` pixels, for the filters that `values` reads.
template <class F, int count, class T>
TROUPE_INLINE Pixels<T, count> over_windows(const Plan& plan, const Taps& rows, const Taps& columns,
                                            const T* source, const T* filter, auto n, auto values) {
  Pixels<T, count> result;
  TROUPE_UNROLL
  for (int p = 0; p < count; ++p)
    result.of[p] = spread<Full<T>>(F::template first<T>);
  const int64_t apart = plan.columns.advance * plan.source_channels;
  const int64_t next = plan.columns.source_step * plan.source_channels;
  for (int64_t a = 0; a < rows.count; ++a) {
    const int64_t y = rows.source + a * plan.rows.source_step;
    const T* from = source + (y * plan.columns.source + columns.source) * plan.source_channels;
    const int64_t fy = rows.filter + a * plan.rows.filter_step;
    const T* weights = filter + (fy * plan.columns.filter + columns.filter) * plan.filters;
    if constexpr (count > 1)
      if (plan.columns.three) {
        step_three<F>(result, plan, from, weights, n, values);
        continue;
      }
    for (int64_t b = 0; b < columns.count; ++b) {
      const auto weight = load_first<Full<T>>(weights, n, T(0));
      TROUPE_UNROLL
      for (int p = 0; p < count; ++p)
        result.of[p] = F::step(result.of[p], values(from + p * apart), weight);
      from += next;
      weights += plan.columns.filter_step * plan.filters;
    }
  }
  return result;
}

/// Adds the values of n filters to those of their channels.
template <class T>
TROUPE_INLINE void add_to_channels(const Full<T>& values, int64_t multiplier, int64_t begin,
                                   int64_t n, T* pixel) {
  T value[lanes<T>];
  store(values, value);
  int64_t channel = begin / multiplier, next = multiplier - begin % multiplier;
  for (int64_t lane = 0; lane < n; next += multiplier, ++channel) {
    T sum = value[lane];
    for (++lane; lane < least(next, n); ++lane)
      sum += value[lane];
    pixel[channel] += sum;
  }
}

/// `count` pixels, the first of which is `target`; they have the same taps, but for where the
/// sources begin.
template <class F, template <class, class> class Values, int count, class T>
void write_pixels(const Plan& plan, const Taps& rows, const Taps& columns, const T* source,
                  const T* filter, T* target) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  const int64_t apart = plan.columns.period * plan.target_channels;
  const bool joins = plan.target_channels != plan.filters;
  if (joins)
    for (int p = 0; p < count; ++p)
      for (int64_t c = 0; c < plan.target_channels; ++c)
        target[p * apart + c] = T(0);
  const auto some = [&](int64_t c, auto n) {
    const auto values = Values<T, decltype(n)>::of(plan, c, n);
    const auto result = over_windows<F, count>(plan, rows, columns, source, filter + c, n, values);
    TROUPE_UNROLL
    for (int p = 0; p < count; ++p)
      if (joins)
        add_to_channels(result.of[p], plan.multiplier, c, n, target + p * apart);
      else
        store_first(result.of[p], target + p * apart + c, n);
  };
  int64_t c = 0;
  for (; c + all <= plan.filters; c += all)
    some(c, all);
  if (c < plan.filters)
    some(c, plan.filters - c);
}

/// Every `period`th pixel of a row, from `first` on. Those of [begin, end) see the whole filter
/// from left to right.
template <class F, template <class, class> class Values, class T>
void write_row(const Plan& plan, const Taps& rows, int64_t first, int64_t begin, int64_t end,
               const T* source, const T* filter, T* target) {
  const int64_t period = plan.columns.period;
  const auto one_by_one = [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; at += period)
      write_pixels<F, Values, 1>(plan, rows, plan.columns.at(at), source, filter,
                                 target + at * plan.target_channels);
  };
  const int64_t count = (end - begin) / period;
  if (count < together)
    return one_by_one(first, plan.columns.target);
  one_by_one(first, begin);
  const Taps whole = plan.columns.at(begin);
  for (int64_t i = 0; i < count; i += together) {
    i = least(i, count - together); // the last ones are computed with some that are there already
    Taps taps = whole;
    taps.source += i * plan.columns.advance;
    write_pixels<F, Values, together>(plan, rows, taps, source, filter,
                                      target + (begin + i * period) * plan.target_channels);
  }
  one_by_one(end, plan.columns.target);
}

/// Rows [begin, end) of all images.
template <class F, template <class, class> class Values, class T>
void write_rows(const Plan& plan, const T* source, const T* filter, T* target, int64_t begin,
                int64_t end) {
  const int64_t image = plan.rows.source * plan.columns.source * plan.source_channels;
  for (int64_t first = 0; first < least(plan.columns.period, plan.columns.target); ++first) {
    int64_t whole = first, whole_end = first;
    while (whole < plan.columns.target && !plan.columns.at(whole).whole)
      whole += plan.columns.period;
    for (whole_end = whole; whole_end < plan.columns.target && plan.columns.at(whole_end).whole;)
      whole_end += plan.columns.period;
    for (int64_t row = begin; row < end; ++row)
      write_row<F, Values>(plan, plan.rows.at(row % plan.rows.target), first, whole, whole_end,
                           source + row / plan.rows.target * image, filter,
                           target + row * plan.columns.target * plan.target_channels);
  }
}

template <class T>
void forward(const Conv2DShape& s, const void* x, const void* filter, void* y, int64_t begin,
             int64_t end) {
  const Plan plan = Plan::forward(s);
  const auto run = plan.multiplier == 1 ? write_rows<Products, OneEach, T>
                                        : write_rows<Products, SeveralEach, T>;
  run(plan, static_cast<const T*>(x), static_cast<const T*>(filter), static_cast<T*>(y), begin,
      end);
}

template <class T>
void largest_sums(const Conv2DShape& s, const void* x, const void* filter, void* y, int64_t begin,
                  int64_t end) {
  write_rows<LargestSum, OneEach>(Plan::forward(s), static_cast<const T*>(x),
                                  static_cast<const T*>(filter), static_cast<T*>(y), begin, end);
}

template <class T>
void backward_input(const Conv2DShape& s, const void* dy, const void* filter, void* dx,
                    int64_t begin, int64_t end) {
  write_rows<Products, OneEach>(Plan::backward(s), static_cast<const T*>(dy),
                                static_cast<const T*>(filter), static_cast<T*>(dx), begin, end);
}

/// The pixels of an output row that have this element of the filter's row inside the input.
struct Range {
  int64_t fx, begin, end;

  TROUPE_INLINE Range of(const Conv2DShape& s, int64_t fx) {
    const int64_t first = fx * s.dilation_w - s.pad_left;
    return {fx, up(-first, s.stride_w), least(s.out_w, up(s.in_w - first, s.stride_w))};
  }
  [[gnu::always_inline]] inline int64_t source_of(const Conv2DShape& s, int64_t pixel) const {
    return pixel * s.stride_w + fx * s.dilation_w - s.pad_left;
  }
};

/// Adds, for each of `taps` neighbouring elements of a filter's row, the products of the pixels of
/// a range. Several `chains` let additions run side by side.
template <int taps, int chains, class T>
TROUPE_INLINE void add_products(const Conv2DShape& s, const T* x, const T* dy, T* sums, Range range,
                                auto n, auto values, int64_t c) {
  Full<T> sum[taps][chains] = {};
  const auto add = [&](int64_t at, int chain) {
    const auto gradient = load_first<Full<T>>(dy + at * s.out_c + c, n, T(0));
    TROUPE_UNROLL
    for (int k = 0; k < taps; ++k)
      sum[k][chain] += values(x + (range.source_of(s, at) + k * s.dilation_w) * s.in_c) * gradient;
  };
  int64_t at = range.begin;
  for (; at + chains <= range.end; at += chains) {
    TROUPE_UNROLL
    for (int chain = 0; chain < chains; ++chain)
      add(at + chain, chain);
  }
  for (; at < range.end; ++at)
    add(at, 0);
  TROUPE_UNROLL
  for (int k = 0; k < taps; ++k) {
    TROUPE_UNROLL
    for (int chain = 1; chain < chains; ++chain)
      sum[k][0] += sum[k][chain];
    T* to = sums + k * s.out_c + c;
    store_first(load_first<Full<T>>(to, n, T(0)) + sum[k][0], to, n);
  }
}

/// The same for all channels.
template <template <class, class> class Values, int taps, int chains, class T>
void add_range(const Conv2DShape& s, Range range, const T* x, const T* dy, T* sums) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  if (range.begin >= range.end)
    return;
  const Plan plan = Plan::forward(s);
  const auto some = [&](int64_t c, auto n) {
    add_products<taps, chains>(s, x, dy, sums + range.fx * s.out_c, range, n,
                               Values<T, decltype(n)>::of(plan, c, n), c);
  };
  int64_t c = 0;
  for (; c + all <= s.out_c; c += all)
    some(c, all);
  if (c < s.out_c)
    some(c, s.out_c - c);
}

/// Adds what one row of dy and one row of x, `taps` elements of a filter's row apart, give.
template <template <class, class> class Values, class T>
void add_row(const Conv2DShape& s, const T* x, const T* dy, T* sums) {
  constexpr int taps = 3;
  int64_t fx = 0;
  for (; fx + taps <= s.filter_w; fx += taps) {
    Range shared = Range::of(s, fx);
    for (int64_t k = 1; k < taps; ++k) {
      const Range other = Range::of(s, fx + k);
      shared = {fx, most(shared.begin, other.begin), least(shared.end, other.end)};
    }
    if (shared.begin >= shared.end)
      break;
    add_range<Values, taps, 3>(s, shared, x, dy, sums);
    for (int64_t k = fx; k < fx + taps; ++k) {
      const Range own = Range::of(s, k);
      add_range<Values, 1, 4>(s, {k, own.begin, shared.begin}, x, dy, sums);
      add_range<Values, 1, 4>(s, {k, shared.end, own.end}, x, dy, sums);
    }
  }
  for (; fx < s.filter_w; ++fx)
    add_range<Values, 1, 4>(s, Range::of(s, fx), x, dy, sums);
}

template <template <class, class> class Values, class T>
void sum_products(const Conv2DShape& s, const T* x, const T* dy, T* sums, int64_t begin,
                  int64_t end) {
  const Axis rows = Axis::forward(s.in_h, s.out_h, s.filter_h, s.stride_h, s.dilation_h, s.pad_top);
  const int64_t image = s.in_h * s.in_w * s.in_c;
  for (int64_t i = 0; i < s.filter_h * s.filter_w * s.out_c; ++i)
    sums[i] = T(0);
  for (int64_t row = begin; row < end; ++row) {
    const Taps taps = rows.forward_at(row % s.out_h);
    for (int64_t k = 0; k < taps.count; ++k)
      add_row<Values>(
          s, x + row / s.out_h * image + (taps.source + k * s.dilation_h) * s.in_w * s.in_c,
          dy + row * s.out_w * s.out_c, sums + (taps.filter + k) * s.filter_w * s.out_c);
  }
}

template <class T>
void backward_filter(const Conv2DShape& s, const void* x, const void* dy, void* dfilter,
                     int64_t begin, int64_t end) {
  const auto run = s.out_c == s.in_c ? sum_products<OneEach, T> : sum_products<SeveralEach, T>;
  run(s, static_cast<const T*>(x), static_cast<const T*>(dy), static_cast<T*>(dfilter), begin, end);
}

} // namespace

DepthwiseFn depthwise(Type type) {
  return type == Type::float32 ? forward<float> : type == Type::float64 ? forward<double> : nullptr;
}

DepthwiseFn depthwise_backward_input(Type type) {
  return type == Type::float32   ? backward_input<float>
         : type == Type::float64 ? backward_input<double>
                                 : nullptr;
}

DepthwiseFn depthwise_backward_filter(Type type) {
  return type == Type::float32   ? backward_filter<float>
         : type == Type::float64 ? backward_filter<double>
                                 : nullptr;
}

DepthwiseFn dilation(Type type) {
  return type == Type::float32   ? largest_sums<float>
         : type == Type::float64 ? largest_sums<double>
                                 : nullptr;
}

} // namespace troupe::arith::TROUPE_ISA
