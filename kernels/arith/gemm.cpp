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
    cast(c.data() + i * g.n, const_cast<char*>(element(Type::bfloat16, g.c, i * g.ldc)), 0, g.n);
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

/// A complex product as four real ones.
template <class T>
void compute_by_parts(const GemmBlock& g) {
  const int64_t a_columns = g.transpose_a ? g.m : g.k, b_columns = g.transpose_b ? g.k : g.n;
  const auto size = static_cast<size_t>(2 * (g.m * g.k + g.k * g.n + g.m * g.n));
  constexpr size_t most_kept = size_t{1} << 20; // bytes that a thread keeps
  std::unique_ptr<T[]> large;
  if (size * sizeof(T) > most_kept)
    large = std::make_unique_for_overwrite<T[]>(size);
  T* room = large ? large.get() : static_cast<T*>(thread_scratch(Scratch::parts, size * sizeof(T)));
  const Parts<T> a(room, g.m * g.k), b(room, g.k * g.n), c(room, g.m * g.n);
  a.take(g.a, g.transpose_a ? g.k : g.m, a_columns, g.lda);
  b.take(g.b, g.transpose_b ? g.n : g.k, b_columns, g.ldb);
  const auto add = [&](const T* left, const T* right, T* sum, bool accumulate) {
    compute(part_type<T>, {g.transpose_a, g.transpose_b, accumulate, g.m, g.n, g.k, left, a_columns,
                           right, b_columns, sum, g.n});
  };
  add(a.re, b.re, c.re, false);
  add(a.re, b.im, c.im, false);
  add(a.im, b.re, c.im, true);
  std::transform(a.im, a.im + g.m * g.k, a.im, std::negate<>());
  add(a.im, b.im, c.re, true);
  for (int64_t i = 0; i < g.m; ++i)
    isa_table().fourier_merge(part_type<T>, c.re + i * g.n, c.im + i * g.n, 1,
                              const_cast<char*>(element(complex_type<T>, g.c, i * g.ldc)), g.n);
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
  block.c = const_cast<char*>(element(type, c, row_begin * block.ldc));
  compute(type, block);
}

void gemm_columns(Type type, const GemmShape& shape, const void* a, const void* b, void* c,
                  int64_t column_begin, int64_t column_end) {
  GemmBlock block = whole(shape, a, b, c);
  block.n = column_end - column_begin;
  block.b = element(type, b, column_begin * (shape.transpose_b ? block.ldb : 1));
  block.c = const_cast<char*>(element(type, c, column_begin));
  compute(type, block);
}

void gemm_batch(Type type, const GemmShape& shape, const void* a, const int64_t* a_index,
                const void* b, const int64_t* b_index, void* c, int64_t begin, int64_t end) {
  const int64_t a_size = shape.m * shape.k, b_size = shape.k * shape.n, c_size = shape.m * shape.n;
  const bool dense = a_index == nullptr && b_index == nullptr;
  if (type == Type::bfloat16 && dense && end - begin > 1 && a_size > 0 && b_size > 0 &&
      onednn_gemm_bfloat16(whole(shape, element(type, a, begin * a_size),
                                 element(type, b, begin * b_size),
                                 const_cast<char*>(element(type, c, begin * c_size))),
                           end - begin))
    return;
  for (int64_t i = begin; i < end; ++i)
    compute(type, whole(shape, element(type, a, (a_index != nullptr ? a_index[i] : i) * a_size),
                        element(type, b, (b_index != nullptr ? b_index[i] : i) * b_size),
                        const_cast<char*>(element(type, c, i * c_size))));
}

} // namespace troupe::arith
