// Convolutions that move by one pixel with fewer products, by Winograd's minimal filtering: for a
// tile of m x m outputs the m + r - 1 = 6 x 6 pixels below it and the r x r pixels of the filter
// are evaluated at 6 x 6 points, multiplied there, and the outputs interpolated. Of 100 products
// for m = 2, r = 5, or 144 for m = 4, r = 3, 36 are left, and those of many tiles and channels are
// one matrix product for each point.
//
// The points are 0, +-a, +-b and infinity. With a = 5/8 and b = 3/2 the error was measured to be
// at most twice that of plain sums in f32; that of the filter's gradient is several times as large
// (winograd_test.cpp). It is a part of the tile's largest value, also in outputs that do not see
// that value; images where this matters are not computed so (../winograd.cpp).
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

constexpr int side = 6, points = side * side;

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
typedef float Vec __attribute__((vector_size(lanes * sizeof(float))));
typedef float Loose __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));

TROUPE_INLINE Vec load(const float* from) {
  return *reinterpret_cast<const Loose*>(from);
}

TROUPE_INLINE void store(float* to, Vec v) {
  *reinterpret_cast<Loose*>(to) = v;
}

#if defined(__clang__)
#define TROUPE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TROUPE_UNROLL _Pragma("GCC unroll 12")
#endif
#define TROUPE_ALWAYS_INLINE __attribute__((always_inline))

// ---- the transforms of one line; those of a square are the same along rows, then columns

constexpr float a = 0.625f, a2 = a * a, a3 = a2 * a, a4 = a2 * a2;
constexpr float b = 1.5f, b2 = b * b, b3 = b2 * b, b4 = b2 * b2;
constexpr float at_zero = 1 / (a2 * b2), at_a = 1 / (2 * a2 * (a2 - b2)),
                at_b = 1 / (2 * b2 * (b2 - a2));

/// Six pixels of the input at the points.
struct FromInput {
  TROUPE_INLINE void apply(const Vec* d, Vec* out) {
    const Vec even_a = d[4] - b2 * d[2], odd_a = a * (d[3] - b2 * d[1]);
    const Vec even_b = d[4] - a2 * d[2], odd_b = b * (d[3] - a2 * d[1]);
    out[0] = d[4] - (a2 + b2) * d[2] + a2 * b2 * d[0];
    out[1] = even_a + odd_a;
    out[2] = even_a - odd_a;
    out[3] = even_b + odd_b;
    out[4] = even_b - odd_b;
    out[5] = d[5] - (a2 + b2) * d[3] + a2 * b2 * d[1];
  }
};

/// `count` pixels of a filter at the points.
template <int count>
struct FromFilter {
  TROUPE_INLINE void apply(const Vec* g, Vec* out) {
    Vec even_a = g[0] + a2 * g[2], even_b = g[0] + b2 * g[2];
    Vec odd_a = a * g[1], odd_b = b * g[1];
    if constexpr (count == 5) {
      even_a += a4 * g[4];
      even_b += b4 * g[4];
      odd_a += a3 * g[3];
      odd_b += b3 * g[3];
    }
    out[0] = at_zero * g[0];
    out[1] = at_a * (even_a + odd_a);
    out[2] = at_a * (even_a - odd_a);
    out[3] = at_b * (even_b + odd_b);
    out[4] = at_b * (even_b - odd_b);
    out[5] = g[count - 1];
  }
};

/// The products at the points to `count` outputs.
template <int count>
struct ToOutput {
  TROUPE_INLINE void apply(const Vec* p, Vec* out) {
    const Vec even_a = p[1] + p[2], odd_a = p[1] - p[2];
    const Vec even_b = p[3] + p[4], odd_b = p[3] - p[4];
    out[0] = p[0] + even_a + even_b;
    out[1] = a * odd_a + b * odd_b;
    if constexpr (count == 4) {
      out[2] = a2 * even_a + b2 * even_b;
      out[3] = a3 * odd_a + b3 * odd_b;
    }
    out[count - 1] += p[5];
  }
};

/// The gradient of ToOutput: of `count` outputs to that of the products.
template <int count>
struct FromGradient {
  TROUPE_INLINE void apply(const Vec* dy, Vec* out) {
    Vec even_a = dy[0], even_b = dy[0], odd_a = a * dy[1], odd_b = b * dy[1];
    if constexpr (count == 4) {
      even_a += a2 * dy[2];
      even_b += b2 * dy[2];
      odd_a += a3 * dy[3];
      odd_b += b3 * dy[3];
    }
    out[0] = dy[0];
    out[1] = even_a + odd_a;
    out[2] = even_a - odd_a;
    out[3] = even_b + odd_b;
    out[4] = even_b - odd_b;
    out[5] = dy[count - 1];
  }
};

/// The gradient of FromFilter.
template <int count>
struct ToFilter {
  TROUPE_INLINE void apply(const Vec* p, Vec* out) {
    const Vec even_a = at_a * (p[1] + p[2]), odd_a = at_a * (p[1] - p[2]);
    const Vec even_b = at_b * (p[3] + p[4]), odd_b = at_b * (p[3] - p[4]);
    out[0] = at_zero * p[0] + even_a + even_b;
    out[1] = a * odd_a + b * odd_b;
    out[2] = a2 * even_a + b2 * even_b;
    if constexpr (count == 5) {
      out[3] = a3 * odd_a + b3 * odd_b;
      out[4] = a4 * even_a + b4 * even_b;
    }
    out[count - 1] += p[5];
  }
};

/// store(i, j, value) for each of out x out results of in x in values load(i, j).
template <int in, int out, class Line, class Load, class Store>
TROUPE_INLINE void transform(Load load, Store store) {
  Vec half[in][out];
  TROUPE_UNROLL
  for (int i = 0; i < in; ++i) {
    Vec row[in];
    TROUPE_UNROLL
    for (int j = 0; j < in; ++j)
      row[j] = load(i, j);
    Line::apply(row, half[i]);
  }
  TROUPE_UNROLL
  for (int j = 0; j < out; ++j) {
    Vec column[in], done[out];
    TROUPE_UNROLL
    for (int i = 0; i < in; ++i)
      column[i] = half[i][j];
    Line::apply(column, done);
    TROUPE_UNROLL
    for (int i = 0; i < out; ++i)
      store(i, j, done[i]);
  }
}

// ---- products

/// C[rows, vecs * lanes] = A * B or += A * B, A stored as [rows, depth] or, turned, as [depth,
/// rows].
struct Product {
  int64_t depth;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
};

template <int rows, int vecs, bool turned, bool accumulate>
TROUPE_INLINE void multiply_block(const Product& p, int64_t row, int64_t column) {
  const float* left = p.a + (turned ? row : row * p.lda);
  const float* right = p.b;
  float* to = p.c + row * p.ldc + column;
  Vec sum[rows][vecs];
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r)
    TROUPE_UNROLL
  for (int v = 0; v < vecs; ++v)
    sum[r][v] = accumulate ? load(to + r * p.ldc + v * lanes) : Vec{};
  for (int64_t d = 0; d < p.depth; ++d, left += turned ? p.lda : 1, right += p.ldb) {
    Vec factor[vecs];
    TROUPE_UNROLL
    for (int v = 0; v < vecs; ++v)
      factor[v] = load(right + v * lanes);
    TROUPE_UNROLL
    for (int r = 0; r < rows; ++r)
      TROUPE_UNROLL
    for (int v = 0; v < vecs; ++v)
      sum[r][v] += left[turned ? r : r * p.lda] * factor[v];
  }
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r)
    TROUPE_UNROLL
  for (int v = 0; v < vecs; ++v)
    store(to + r * p.ldc + v * lanes, sum[r][v]);
}

template <int vecs, bool turned, bool accumulate>
[[gnu::noinline]] void multiply(const Product& p, int64_t rows, int64_t column) {
  constexpr int most = vecs == 4 ? 6 : lanes == 16 ? 12 : 6; // as many sums as there are registers
  int64_t row = 0;
  for (; row + most <= rows; row += most)
    multiply_block<most, vecs, turned, accumulate>(p, row, column);
  if (most > 8 && row + 8 <= rows) {
    multiply_block<8, vecs, turned, accumulate>(p, row, column);
    row += 8;
  }
  if (row + 4 <= rows) {
    multiply_block<4, vecs, turned, accumulate>(p, row, column);
    row += 4;
  }
  for (; row < rows; ++row)
    multiply_block<1, vecs, turned, accumulate>(p, row, column);
}

/// How many columns are multiplied at once: 16, 32 or 64.
TROUPE_INLINE int64_t panel_width(int64_t columns) {
  const int64_t wide = lanes == 16 ? 64 : lanes == 8 ? 16 : 8;
  if (lanes < 16 || columns % wide == 0)
    return wide;
  return columns % 32 == 0 ? 32 : 16;
}

/// All columns. B lies in panels one after the other, or, not packed, as rows.
template <bool turned, bool accumulate>
TROUPE_INLINE void multiply_all(Product p, int64_t rows, int64_t columns, bool packed) {
  const int64_t width = panel_width(columns);
  const float* first = p.b;
  for (int64_t column = 0; column < columns; column += width) {
    p.b = first + (packed ? column * p.depth : column);
    p.ldb = packed ? width : columns;
    if (width == 4 * lanes)
      multiply<4, turned, accumulate>(p, rows, column);
    else if (width == 2 * lanes)
      multiply<2, turned, accumulate>(p, rows, column);
    else
      multiply<1, turned, accumulate>(p, rows, column);
  }
}

// ---- tiles

struct Tile {
  int64_t image, y, x;
};

TROUPE_INLINE Tile tile_at(const WinogradCall& c, int64_t number) {
  const int64_t down = (c.shape->out_h + c.tile - 1) / c.tile;
  const int64_t across = (c.shape->out_w + c.tile - 1) / c.tile;
  return {number / (down * across), number / across % down * c.tile, number % across * c.tile};
}

/// What lies between the values of two points; not a multiple of a page, because all points of a
/// tile are written together.
TROUPE_INLINE int64_t stride_of(int64_t tiles, int64_t channels) {
  return tiles * channels + 16;
}

/// `channels` channels, from `channel` on, of the pixels below tiles [first, first + count) at the
/// points: [point][tile][channel].
void evaluate_input(const WinogradCall& c, int64_t first, int64_t count, int64_t channel,
                    int64_t channels, float* out) {
  const Conv2DShape& s = *c.shape;
  const int64_t stride = stride_of(c.block, channels), line = s.in_w * s.in_c;
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = tile_at(c, first + t);
    const int64_t y = tile.y - s.pad_top, x = tile.x - s.pad_left;
    const float* corner = c.x + (tile.image * s.in_h + y) * line + x * s.in_c + channel;
    float* to = out + t * channels;
    const auto write = [&](int64_t k) TROUPE_ALWAYS_INLINE {
      return [=](int i, int j, Vec v)
                 TROUPE_ALWAYS_INLINE { store(to + (i * side + j) * stride + k, v); };
    };
    if (y >= 0 && x >= 0 && y + side <= s.in_h && x + side <= s.in_w) {
      for (int64_t k = 0; k < channels; k += lanes)
        transform<side, side, FromInput>(
            [&](int i, int j)
                TROUPE_ALWAYS_INLINE { return load(corner + i * line + j * s.in_c + k); },
            write(k));
      continue;
    }
    for (int64_t k = 0; k < channels; k += lanes)
      transform<side, side, FromInput>(
          [&](int i, int j) TROUPE_ALWAYS_INLINE {
            const bool inside = y + i >= 0 && y + i < s.in_h && x + j >= 0 && x + j < s.in_w;
            return inside ? load(corner + i * line + j * s.in_c + k) : Vec{};
          },
          write(k));
  }
}

/// Factor, offset and addend of one result, then relu, which keeps NaN.
TROUPE_INLINE Vec finish(const ConvEpilogue& e, Vec v, int64_t at, int64_t channel) {
  if (e.factor != nullptr)
    v *= load(e.factor + channel);
  if (e.offset != nullptr)
    v += load(e.offset + channel);
  if (e.addend != nullptr)
    v += load(e.addend + at + channel);
  return e.relu ? (v <= 0 ? Vec{} : v) : v;
}

template <int size>
void interpolate_output(const WinogradCall& c, int64_t first, int64_t count,
                        const float* products) {
  const Conv2DShape& s = *c.shape;
  const int64_t stride = stride_of(c.block, s.out_c);
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = tile_at(c, first + t);
    const int64_t corner = ((tile.image * s.out_h + tile.y) * s.out_w + tile.x) * s.out_c;
    const int64_t rows = s.out_h - tile.y, columns = s.out_w - tile.x;
    for (int64_t q = 0; q < s.out_c; q += lanes)
      transform<side, size, ToOutput<size>>(
          [&](int i, int j) TROUPE_ALWAYS_INLINE {
            return load(products + (i * side + j) * stride + t * s.out_c + q);
          },
          [&](int i, int j, Vec v) TROUPE_ALWAYS_INLINE {
            if (i < rows && j < columns) {
              const int64_t at = corner + (i * s.out_w + j) * s.out_c;
              store(c.out + at + q, finish(c.epilogue, v, at, q));
            }
          });
  }
}

/// The gradients of tiles at the points; outputs beyond the image have none.
template <int size>
void evaluate_gradient(const WinogradCall& c, int64_t first, int64_t count, float* out) {
  const Conv2DShape& s = *c.shape;
  const int64_t stride = stride_of(c.block, s.out_c);
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = tile_at(c, first + t);
    const float* corner = c.dy + ((tile.image * s.out_h + tile.y) * s.out_w + tile.x) * s.out_c;
    const int64_t rows = s.out_h - tile.y, columns = s.out_w - tile.x;
    for (int64_t q = 0; q < s.out_c; q += lanes)
      transform<size, side, FromGradient<size>>(
          [&](int i, int j) TROUPE_ALWAYS_INLINE {
            return i < rows && j < columns ? load(corner + (i * s.out_w + j) * s.out_c + q) : Vec{};
          },
          [&](int i, int j, Vec v)
              TROUPE_ALWAYS_INLINE { store(out + (i * side + j) * stride + t * s.out_c + q, v); });
  }
}

template <int size>
void filter_at_points(const float* filter, int64_t in_c, int64_t out_c, int64_t begin, int64_t end,
                      float* packed) {
  const int64_t width = panel_width(out_c), stride = stride_of(in_c, out_c);
  for (int64_t panel = 0; panel < out_c; panel += width)
    for (int64_t at = begin * width; at < end * width; at += lanes)
      transform<size, side, FromFilter<size>>(
          [&](int i, int j) TROUPE_ALWAYS_INLINE {
            return load(filter + ((i * size + j) * in_c + at / width) * out_c + panel + at % width);
          },
          [&](int i, int j, Vec v) TROUPE_ALWAYS_INLINE {
            store(packed + (i * side + j) * stride + panel * in_c + at, v);
          });
}

/// The same of a filter given as [size, size, out_c, in_c], its pixels from the last to the first.
template <int size>
void turned_filter_at_points(const float* filter, int64_t in_c, int64_t out_c, int64_t begin,
                             int64_t end, float* packed) {
  const int64_t width = panel_width(out_c), stride = stride_of(in_c, out_c);
  for (int64_t q = 0; q < out_c; q += lanes)
    for (int64_t first = begin; first < end; first += lanes) {
      const int64_t count = end - first < lanes ? end - first : lanes;
      float square[size * size][lanes][lanes]; // [input channel][output channel]
      for (int pixel = 0; pixel < size * size; ++pixel)
        for (int64_t lane = 0; lane < lanes; ++lane) {
          const float* from =
              filter + ((size * size - 1 - pixel) * out_c + q + lane) * in_c + first;
          for (int64_t k = 0; k < count; ++k)
            square[pixel][k][lane] = from[k];
        }
      float* to = packed + q / width * width * in_c + q % width;
      for (int64_t k = 0; k < count; ++k)
        transform<size, side, FromFilter<size>>(
            [&](int i, int j) TROUPE_ALWAYS_INLINE { return load(square[i * size + j][k]); },
            [&](int i, int j, Vec v) TROUPE_ALWAYS_INLINE {
              store(to + (i * side + j) * stride + (first + k) * width, v);
            });
    }
}

template <int tile>
void forward(const WinogradCall& c) {
  const Conv2DShape& s = *c.shape;
  const int64_t in_stride = stride_of(c.block, s.in_c), out_stride = stride_of(c.block, s.out_c);
  float *in = c.scratch, *products = c.scratch + points * in_stride;
  for (int64_t first = c.begin; first < c.end; first += c.block) {
    const int64_t count = c.end - first < c.block ? c.end - first : c.block;
    evaluate_input(c, first, count, 0, s.in_c, in);
    for (int64_t p = 0; p < points; ++p)
      multiply_all<false, false>({s.in_c, in + p * in_stride, s.in_c,
                                  c.packed + p * stride_of(s.in_c, s.out_c), 0,
                                  products + p * out_stride, s.out_c},
                                 count, s.out_c, true);
    interpolate_output<tile>(c, first, count, products);
  }
}

template <int tile, int size>
void backward_filter(const WinogradCall& c) {
  const Conv2DShape& s = *c.shape;
  const int64_t out_stride = stride_of(c.block, s.out_c);
  float *gradient = c.scratch, *in = gradient + points * out_stride;
  float* sums = in + points * stride_of(c.block, c.channels);
  for (int64_t channel = 0; channel < s.in_c; channel += c.channels) {
    const int64_t channels = s.in_c - channel < c.channels ? s.in_c - channel : c.channels;
    const int64_t in_stride = stride_of(c.block, channels), stride = stride_of(channels, s.out_c);
    for (int64_t first = c.begin; first < c.end; first += c.block) {
      const int64_t count = c.end - first < c.block ? c.end - first : c.block;
      evaluate_input(c, first, count, channel, channels, in);
      if (channel == 0 || c.end - c.begin > c.block)
        evaluate_gradient<tile>(c, first, count, gradient);
      for (int64_t p = 0; p < points; ++p) {
        const Product product = {count,   in + p * in_stride, channels, gradient + p * out_stride,
                                 s.out_c, sums + p * stride,  s.out_c};
        if (first == c.begin)
          multiply_all<true, false>(product, channels, s.out_c, false);
        else
          multiply_all<true, true>(product, channels, s.out_c, false);
      }
    }
    for (int64_t at = 0; at < channels * s.out_c; at += lanes)
      transform<side, size, ToFilter<size>>(
          [&](int i, int j)
              TROUPE_ALWAYS_INLINE { return load(sums + (i * side + j) * stride + at); },
          [&](int i, int j, Vec v) TROUPE_ALWAYS_INLINE {
            store(c.out + ((i * size + j) * s.in_c + channel) * s.out_c + at, v);
          });
  }
}

} // namespace

void winograd_ranges(const float* x, int64_t pixels, int64_t channels, float* out) {
  typedef int Bits __attribute__((vector_size(lanes * sizeof(int))));
  constexpr int infinity = 0x7f800000;
  for (int64_t p = 0; p < pixels; ++p, x += channels) {
    Bits most = {}; // without their signs, floats are in the order of their bits, NaN last
    for (int64_t k = 0; k < channels; k += lanes) {
      const Bits v = reinterpret_cast<Bits>(load(x + k)) & 0x7fffffff;
      most = v > most ? v : most;
    }
    int largest = 0;
    TROUPE_UNROLL
    for (int lane = 0; lane < lanes; ++lane)
      largest = most[lane] > largest ? most[lane] : largest;
    largest = largest > infinity ? infinity : largest;
    __builtin_memcpy(out + p, &largest, sizeof largest);
  }
}

void winograd_filter(const WinogradLayout& layout, const float* filter, int64_t begin, int64_t end,
                     float* packed) {
  if (layout.turned && layout.size == 3)
    turned_filter_at_points<3>(filter, layout.in_c, layout.out_c, begin, end, packed);
  else if (layout.turned)
    turned_filter_at_points<5>(filter, layout.in_c, layout.out_c, begin, end, packed);
  else if (layout.size == 3)
    filter_at_points<3>(filter, layout.in_c, layout.out_c, begin, end, packed);
  else
    filter_at_points<5>(filter, layout.in_c, layout.out_c, begin, end, packed);
}

void winograd_forward(const WinogradCall& call) {
  if (call.tile == 4)
    forward<4>(call);
  else
    forward<2>(call);
}

void winograd_backward_filter(const WinogradCall& call) {
  if (call.tile == 4)
    backward_filter<4, 3>(call);
  else
    backward_filter<2, 5>(call);
}

} // namespace troupe::arith::TROUPE_ISA
