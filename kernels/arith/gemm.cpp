// Splits a product into blocks and chooses who computes them.
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

namespace troupe::arith {
namespace {

/// oneDNN costs 0.3 us a call and treats vectors badly; measured, it wins from about 32^3 on with
/// AVX-512.
bool prefers_onednn(Type type, const GemmBlock& g) {
  return type == Type::float32 && isa() == Isa::avx512 && g.m >= 4 && g.n >= 4 && g.k >= 4 &&
         g.m * g.n * g.k > 32 * 32 * 32 && onednn_in_use();
}

bool multiplies_bfloat16() {
  static const bool has = __builtin_cpu_supports("avx512bf16");
  return has && isa() == Isa::avx512 && onednn_in_use();
}

const char* element(Type type, const void* base, int64_t index) {
  return static_cast<const char*>(base) + index * size_of(type);
}
char* element(Type type, void* base, int64_t index) {
  return static_cast<char*>(base) + index * size_of(type);
}

struct Floats {
  std::vector<float> values;
  int64_t stride = 0;
};

Floats as_floats(const void* matrix, int64_t rows, int64_t columns, int64_t stride) {
  const UnaryFn cast = isa_table().cast(Type::bfloat16, Type::float32);
  Floats out{std::vector<float>(static_cast<size_t>(rows * columns)), columns};
  for (int64_t i = 0; i < rows; ++i)
    cast(element(Type::bfloat16, matrix, i * stride), out.values.data() + i * columns, 0, columns);
  return out;
}

/// A product of bf16 as one of f32: for what oneDNN turns out not to take.
void compute_by_floats(GemmBlock g) {
  const Floats a =
      g.transpose_a ? as_floats(g.a, g.k, g.m, g.lda) : as_floats(g.a, g.m, g.k, g.lda);
  const Floats b =
      g.transpose_b ? as_floats(g.b, g.n, g.k, g.ldb) : as_floats(g.b, g.k, g.n, g.ldb);
  std::vector<float> c(static_cast<size_t>(g.m * g.n));
  GemmBlock wide = g;
  wide.a = a.values.data(), wide.lda = a.stride;
  wide.b = b.values.data(), wide.ldb = b.stride;
  wide.c = c.data(), wide.ldc = g.n;
  isa_table().gemm(Type::float32, wide);
  const UnaryFn cast = isa_table().cast(Type::float32, Type::bfloat16);
  for (int64_t i = 0; i < g.m; ++i)
    cast(c.data() + i * g.n, element(Type::bfloat16, g.c, i * g.ldc), 0, g.n);
}

void compute(Type type, const GemmBlock& g);

template <class T>
constexpr Type part_type = sizeof(T) == 4 ? Type::float32 : Type::float64;
template <class T>
constexpr Type complex_type = sizeof(T) == 4 ? Type::complex64 : Type::complex128;

/// Real and imaginary parts, each a dense matrix of T.
template <class T>
struct Parts {
  T *re, *im;

  Parts(T*& room, int64_t size) : re(room), im(room + size) { room += 2 * size; }
  void take(const void* matrix, int64_t rows, int64_t columns, int64_t stride) const {
    for (int64_t i = 0; i < rows; ++i)
      isa_table().fourier_split(part_type<T>, element(complex_type<T>, matrix, i * stride),
                                re + i * columns, im + i * columns, columns);
  }
};

constexpr int64_t part_tile = 256; // rows and columns whose parts are kept at a time

/// A complex product of at most part_tile rows and columns as real ones: C takes what each tile of
/// k adds.
template <class T>
void compute_tile_by_parts(const GemmBlock& g) {
  const int64_t deepest = std::min(g.k, part_tile);
  const auto size = static_cast<size_t>(2 * (g.m * deepest + deepest * g.n + g.m * g.n));
  constexpr size_t most_kept = size_t{1} << 20; // bytes that a thread keeps
  std::unique_ptr<T[]> large;
  if (size * sizeof(T) > most_kept)
    large = std::make_unique_for_overwrite<T[]>(size);
  T* room = large ? large.get() : static_cast<T*>(thread_scratch(Scratch::parts, size * sizeof(T)));
  const Parts<T> a(room, g.m * deepest), b(room, deepest * g.n), c(room, g.m * g.n);
  std::fill_n(c.re, 2 * g.m * g.n, T(0));
  for (int64_t at = 0; at < g.k; at += deepest) {
    const int64_t k = std::min(deepest, g.k - at);
    const int64_t a_columns = g.transpose_a ? g.m : k, b_columns = g.transpose_b ? k : g.n;
    a.take(element(complex_type<T>, g.a, at * (g.transpose_a ? g.lda : 1)), g.transpose_a ? k : g.m,
           a_columns, g.lda);
    b.take(element(complex_type<T>, g.b, at * (g.transpose_b ? 1 : g.ldb)), g.transpose_b ? g.n : k,
           b_columns, g.ldb);
    const auto add = [&](const T* left, const T* right, T* sum) {
      compute(part_type<T>, {g.transpose_a, g.transpose_b, true, g.m, g.n, k, left, a_columns,
                             right, b_columns, sum, g.n});
    };
    add(a.re, b.re, c.re);
    add(a.re, b.im, c.im);
    add(a.im, b.re, c.im);
    std::transform(a.im, a.im + g.m * k, a.im, std::negate<>());
    add(a.im, b.im, c.re);
  }
  for (int64_t i = 0; i < g.m; ++i)
    isa_table().fourier_merge(part_type<T>, c.re + i * g.n, c.im + i * g.n, 1,
                              element(complex_type<T>, g.c, i * g.ldc), g.n);
}

/// A complex product in tiles, so that the parts of an operand never take as much memory as itself.
template <class T>
void compute_by_parts(const GemmBlock& g) {
  constexpr Type type = complex_type<T>;
  for (int64_t row = 0; row < g.m; row += part_tile)
    for (int64_t column = 0; column < g.n; column += part_tile) {
      GemmBlock tile = g;
      tile.m = std::min(part_tile, g.m - row);
      tile.n = std::min(part_tile, g.n - column);
      tile.a = element(type, g.a, row * (g.transpose_a ? 1 : g.lda));
      tile.b = element(type, g.b, column * (g.transpose_b ? g.ldb : 1));
      tile.c = element(type, g.c, row * g.ldc + column);
      compute_tile_by_parts<T>(tile);
    }
}

void compute(Type type, const GemmBlock& g) {
  if (type == Type::complex64)
    return compute_by_parts<float>(g);
  if (type == Type::complex128)
    return compute_by_parts<double>(g);
  if (type == Type::bfloat16) {
    const bool done = g.m > 0 && g.n > 0 && g.k > 0 && onednn_gemm_bfloat16(g, 1);
    if (!done)
      compute_by_floats(g);
    return;
  }
  if (prefers_onednn(type, g) && onednn_gemm(g))
    return;
  isa_table().gemm(type, g);
}

GemmBlock whole(const GemmShape& s, const void* a, const void* b, void* c) {
  return {s.transpose_a,
          s.transpose_b,
          false,
          s.m,
          s.n,
          s.k,
          a,
          s.transpose_a ? s.m : s.k,
          b,
          s.transpose_b ? s.k : s.n,
          c,
          s.n};
}

} // namespace

bool has_gemm(Type type) {
  return type == Type::float32 || type == Type::float64 || type == Type::bfloat16 ||
         type == Type::int32 || type == Type::int64 || type == Type::complex64 ||
         type == Type::complex128;
}

bool prefers_bfloat16_gemm(const GemmShape& s) {
  constexpr int64_t least = 32 * 32 * 32;
  return multiplies_bfloat16() && s.m >= 4 && s.n >= 4 && s.k >= 4 && s.m * s.n * s.k >= least;
}

void gemm_rows(Type type, const GemmShape& shape, const void* a, const void* b, void* c,
               int64_t row_begin, int64_t row_end) {
  GemmBlock block = whole(shape, a, b, c);
  block.m = row_end - row_begin;
  block.a = element(type, a, row_begin * (shape.transpose_a ? 1 : block.lda));
  block.c = element(type, c, row_begin * block.ldc);
  compute(type, block);
}

void gemm_columns(Type type, const GemmShape& shape, const void* a, const void* b, void* c,
                  int64_t column_begin, int64_t column_end) {
  GemmBlock block = whole(shape, a, b, c);
  block.n = column_end - column_begin;
  block.b = element(type, b, column_begin * (shape.transpose_b ? block.ldb : 1));
  block.c = element(type, c, column_begin);
  compute(type, block);
}

void gemm_batch(Type type, const GemmShape& shape, const void* a, const int64_t* a_index,
                const void* b, const int64_t* b_index, void* c, int64_t begin, int64_t end) {
  const int64_t a_size = shape.m * shape.k, b_size = shape.k * shape.n, c_size = shape.m * shape.n;
  const bool dense = a_index == nullptr && b_index == nullptr;
  if (type == Type::bfloat16 && dense && end - begin > 1 && a_size > 0 && b_size > 0 &&
      onednn_gemm_bfloat16(whole(shape, element(type, a, begin * a_size),
                                 element(type, b, begin * b_size),
                                 element(type, c, begin * c_size)),
                           end - begin))
    return;
  for (int64_t i = begin; i < end; ++i)
    compute(type, whole(shape, element(type, a, (a_index != nullptr ? a_index[i] : i) * a_size),
                        element(type, b, (b_index != nullptr ? b_index[i] : i) * b_size),
                        element(type, c, i * c_size)));
}

} // namespace troupe::arith
