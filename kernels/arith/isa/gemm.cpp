// Matrix products by Eigen (f32, f64) and, of integers, by strips of the result that lie in
// registers.
#include "kernels/arith/isa/lanes.hpp"
#include <Eigen/Core>

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class M>
using Strided = Eigen::Map<M, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T, class A, class B>
void multiply(const GemmBlock& g) {
  Strided<const A> a(static_cast<const T*>(g.a), g.m, g.k, Eigen::OuterStride<>(g.lda));
  Strided<const B> b(static_cast<const T*>(g.b), g.k, g.n, Eigen::OuterStride<>(g.ldb));
  Strided<RowMajor<T>> c(static_cast<T*>(g.c), g.m, g.n, Eigen::OuterStride<>(g.ldc));
  // Sums begin with 0, so that one of negative zeros is 0, also where Eigen would begin with the
  // first product.
  if (!g.accumulate)
    c.setZero();
  c.noalias() += a * b;
}

struct Added {
  template <class V>
  TROUPE_INLINE V step(const V& a, const V& b) {
    return a + b;
  }
};

template <class T>
TROUPE_INLINE T dot(const T* a, const T* b, int64_t n) {
  constexpr int chains = 4;
  constexpr int64_t width = lanes<T>;
  Full<T> sum[chains] = {};
  int64_t i = 0;
  for (; i + chains * width <= n; i += chains * width) {
    TROUPE_UNROLL
    for (int k = 0; k < chains; ++k)
      sum[k] += load<Full<T>>(a + i + k * width) * load<Full<T>>(b + i + k * width);
  }
  for (; i + width <= n; i += width)
    sum[0] += load<Full<T>>(a + i) * load<Full<T>>(b + i);
  if (i < n)
    sum[1] += load_some<Full<T>>(a + i, n - i, T(0)) * load_some<Full<T>>(b + i, n - i, T(0));
  return fold<Added, T>((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

constexpr int64_t few = 4; // rows, and columns, of a product that Eigen's blocks are too large for
constexpr int64_t few_steps = 256; // of the inner dimension at once

/// Rows of an operand along the inner dimension: as they lie, or turned in `room`.
template <class T>
struct FewRows {
  const T* first;
  int64_t stride;
};
template <class T>
TROUPE_INLINE FewRows<T> few_rows(bool turn, const T* x, int64_t length, int64_t rows,
                                  int64_t begin, int64_t end, int64_t all,
                                  T (&room)[few * few_steps]) {
  if (!turn)
    return {x + begin, length};
  const T* from = x + begin * length;
  const int64_t n = end - begin, last = (all - 1 - begin) * length + rows;
  int64_t k = 0;
  // Four steps of four rows in registers, as long as that reads nothing behind the operand.
  for (; k + few <= n && (k + few - 1) * length + few <= last; k += few) {
    Vector<T, few> step[few], row[few];
    TROUPE_UNROLL
    for (int64_t i = 0; i < few; ++i)
      __builtin_memcpy(&step[i], from + (k + i) * length, sizeof step[i]);
    const auto low01 = __builtin_shufflevector(step[0], step[1], 0, 4, 1, 5),
               low23 = __builtin_shufflevector(step[2], step[3], 0, 4, 1, 5),
               high01 = __builtin_shufflevector(step[0], step[1], 2, 6, 3, 7),
               high23 = __builtin_shufflevector(step[2], step[3], 2, 6, 3, 7);
    row[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    row[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    row[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
    TROUPE_UNROLL
    for (int64_t i = 0; i < few; ++i)
      __builtin_memcpy(room + i * few_steps + k, &row[i], sizeof row[i]);
  }
  for (; k < n; ++k)
    for (int64_t i = 0; i < rows; ++i)
      room[i * few_steps + k] = from[k * length + i];
  return {room, few_steps};
}

/// Products of few rows and few columns, as scalar products.
template <class T>
void multiply_few(const GemmBlock& g) {
  T sums[few * few] = {};
  for (int64_t begin = 0; begin < g.k; begin += few_steps) {
    const int64_t end = g.k - begin < few_steps ? g.k : begin + few_steps;
    T room_a[few * few_steps], room_b[few * few_steps];
    const FewRows<T> a =
        few_rows(g.transpose_a, static_cast<const T*>(g.a), g.lda, g.m, begin, end, g.k, room_a);
    const FewRows<T> b =
        few_rows(!g.transpose_b, static_cast<const T*>(g.b), g.ldb, g.n, begin, end, g.k, room_b);
    for (int64_t i = 0; i < g.m; ++i)
      for (int64_t j = 0; j < g.n; ++j)
        sums[i * few + j] += dot(a.first + i * a.stride, b.first + j * b.stride, end - begin);
  }
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      T& c = static_cast<T*>(g.c)[i * g.ldc + j];
      c = g.accumulate ? c + sums[i * few + j] : sums[i * few + j];
    }
}

/// A column by a row. A zero is added, so that a product of negative zeros is 0, as in a sum.
template <class T>
void multiply_outer(const GemmBlock& g) {
  const auto *a = static_cast<const T*>(g.a), *b = static_cast<const T*>(g.b);
  const int64_t a_step = g.transpose_a ? 1 : g.lda;
  for (int64_t i = 0; i < g.m; ++i) {
    const T factor = a[i * a_step];
    T* out = static_cast<T*>(g.c) + i * g.ldc;
    TROUPE_INDEPENDENT
    for (int64_t j = 0; j < g.n; ++j)
      out[j] = factor * b[j] + T(0);
  }
}

template <class T>
void multiply_real(const GemmBlock& g) {
  if (g.k == 1 && !g.transpose_b && !g.accumulate)
    return multiply_outer<T>(g);
  if (g.m > 1 && g.m <= few && g.n > 1 && g.n <= few && g.k >= 32)
    return multiply_few<T>(g);
  if (g.transpose_a && g.transpose_b)
    multiply<T, ColumnMajor<T>, ColumnMajor<T>>(g);
  else if (g.transpose_a)
    multiply<T, ColumnMajor<T>, RowMajor<T>>(g);
  else if (g.transpose_b)
    multiply<T, RowMajor<T>, ColumnMajor<T>>(g);
  else
    multiply<T, RowMajor<T>, RowMajor<T>>(g);
}

constexpr int strip_rows = 4, strip_vectors = 2; // of a result that lies in registers
constexpr int64_t strip_steps = 128;             // of the inner dimension at once
template <class T>
constexpr int64_t strip_columns = strip_vectors* lanes<T>;

/// Integers of A, addressed by row and step.
template <class T>
struct Factors {
  const T* first;
  int64_t row, step;
  Factors(const GemmBlock& g)
      : first(static_cast<const T*>(g.a)), row(g.transpose_a ? 1 : g.lda),
        step(g.transpose_a ? g.lda : 1) {}
};

/// Adds the products of `steps` steps to a strip of C, `rows` high and strip_columns wide.
template <int rows, class T>
TROUPE_INLINE void add_strip(const T* a, const Factors<T>& of_a, const T* b, int64_t ldb,
                             int64_t steps, T* c, int64_t ldc) {
  Full<T> sum[rows][strip_vectors];
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    TROUPE_UNROLL
    for (int v = 0; v < strip_vectors; ++v)
      sum[r][v] = load<Full<T>>(c + r * ldc + v * lanes<T>);
  }
  for (int64_t k = 0; k < steps; ++k) {
    TROUPE_UNROLL
    for (int v = 0; v < strip_vectors; ++v) {
      const auto in = load<Full<T>>(b + k * ldb + v * lanes<T>);
      TROUPE_UNROLL
      for (int r = 0; r < rows; ++r)
        sum[r][v] += spread<Full<T>>(a[r * of_a.row + k * of_a.step]) * in;
    }
  }
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    TROUPE_UNROLL
    for (int v = 0; v < strip_vectors; ++v)
      store(sum[r][v], c + r * ldc + v * lanes<T>);
  }
}

/// All rows of C's columns [begin, begin + columns). What is narrower than a strip, or lies turned,
/// is copied into one first.
template <class T>
void multiply_strips(const GemmBlock& g, int64_t begin, int64_t columns) {
  constexpr int64_t width = strip_columns<T>;
  const Factors<T> of_a(g);
  const auto* b = static_cast<const T*>(g.b);
  auto* c = static_cast<T*>(g.c) + begin;
  const bool is_narrow = columns < width;
  T turned[strip_steps * width], room[strip_rows * width];
  for (int64_t first = 0; first < g.k; first += strip_steps) {
    const int64_t steps = g.k - first < strip_steps ? g.k - first : strip_steps;
    const T* in = b + first * g.ldb + begin;
    int64_t in_step = g.ldb;
    if (g.transpose_b || is_narrow) {
      for (int64_t k = 0; k < steps; ++k)
        for (int64_t j = 0; j < width; ++j)
          turned[k * width + j] = j >= columns    ? T(0)
                                  : g.transpose_b ? b[(begin + j) * g.ldb + first + k]
                                                  : in[k * g.ldb + j];
      in = turned, in_step = width;
    }
    for (int64_t i = 0; i < g.m; i += strip_rows) {
      const int64_t rows = g.m - i < strip_rows ? g.m - i : strip_rows;
      T* out = c + i * g.ldc;
      int64_t out_row = g.ldc;
      if (is_narrow) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t j = 0; j < columns; ++j)
            room[r * width + j] = out[r * g.ldc + j];
        out = room, out_row = width;
      }
      const T* factors = of_a.first + i * of_a.row + first * of_a.step;
      if (rows == strip_rows)
        add_strip<strip_rows>(factors, of_a, in, in_step, steps, out, out_row);
      else
        for (int64_t r = 0; r < rows; ++r)
          add_strip<1>(factors + r * of_a.row, of_a, in, in_step, steps, out + r * out_row,
                       out_row);
      if (is_narrow)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t j = 0; j < columns; ++j)
            c[(i + r) * g.ldc + j] = room[r * width + j];
    }
  }
}

template <class T>
void multiply_integer(const GemmBlock& g) {
  const Factors<T> of_a(g);
  auto* c = static_cast<T*>(g.c);
  // Few columns that lie whole, as rows of A do.
  const bool are_whole =
      of_a.step == 1 && g.n <= few && (g.transpose_b || (g.n == 1 && g.ldb == 1));
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      T& out = c[i * g.ldc + j];
      if (!g.accumulate)
        out = 0;
      if (are_whole)
        out += dot(of_a.first + i * of_a.row, static_cast<const T*>(g.b) + j * g.ldb, g.k);
    }
  for (int64_t j = 0; j < g.n && !are_whole; j += strip_columns<T>)
    multiply_strips<T>(g, j, g.n - j < strip_columns<T> ? g.n - j : strip_columns<T>);
}

} // namespace

bool gemm(Type type, const GemmBlock& block) {
  if (block.m == 0 || block.n == 0)
    return true;
  switch (type) {
  case Type::float32:
    multiply_real<float>(block);
    return true;
  case Type::float64:
    multiply_real<double>(block);
    return true;
  case Type::int32:
    multiply_integer<int32_t>(block);
    return true;
  case Type::int64:
    multiply_integer<int64_t>(block);
    return true;
  default:
    return false;
  }
}

} // namespace troupe::arith::TROUPE_ISA
