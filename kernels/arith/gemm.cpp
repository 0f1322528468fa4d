// Splits a product into blocks and chooses who computes them.
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/onednn.hpp"

namespace troupe::arith {
namespace {

/// oneDNN costs 0.3 us a call and treats vectors badly; measured, it wins from about 32^3 on with
/// AVX-512.
bool prefers_onednn(Type type, const GemmBlock& g) {
  return type == Type::float32 && isa() == Isa::avx512 && g.m >= 4 && g.n >= 4 && g.k >= 4 &&
         g.m * g.n * g.k > 32 * 32 * 32 && onednn_in_use();
}

const char* element(Type type, const void* base, int64_t index) {
  return static_cast<const char*>(base) + index * size_of(type);
}

void compute(Type type, const GemmBlock& g) {
  if (prefers_onednn(type, g) && onednn_gemm(g))
    return;
  if (!isa_table().gemm(type, g))
    generic_gemm(type, g);
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
  return type == Type::float32 || type == Type::float64 || type == Type::int32 ||
         type == Type::int64 || type == Type::complex128;
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
  for (int64_t i = begin; i < end; ++i)
    compute(type, whole(shape, element(type, a, (a_index != nullptr ? a_index[i] : i) * a_size),
                        element(type, b, (b_index != nullptr ? b_index[i] : i) * b_size),
                        const_cast<char*>(element(type, c, i * c_size))));
}

} // namespace troupe::arith
