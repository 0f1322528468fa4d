// Matrix products of row-major matrices. f32 and f64 by Eigen, f32 by oneDNN where that is faster,
// bf16 by oneDNN where the processor multiplies it, i32 and i64 by plain loops,
// complex numbers by four products of their parts.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// C[m, n] = op(A) * op(B); op(A) is [m, k], stored as [k, m] when transpose_a; op(B) is [k, n],
/// stored as [n, k] when transpose_b. All matrices are dense and row-major. With k = 0, C is zero.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
};

/// Whether `type` is one of f32 f64 bf16 i32 i64 complex64 complex128.
bool has_gemm(Type type);

/// Whether a product of bf16 is faster than one of its elements as f32: the processor multiplies
/// bf16, oneDNN is in use, and the product is not too small. Sums are of f32, rounded once.
bool prefers_bfloat16_gemm(const GemmShape& shape);

/// Computes rows [row_begin, row_end) of C, which the pointers a, b, c and the shape describe as a
/// whole. Two blocks of a large product need about 1.5e7 multiply-adds each to be worth a second
/// thread.
void gemm_rows(Type type, const GemmShape& shape, const void* a, const void* b, void* c,
               int64_t row_begin, int64_t row_end);

/// Computes columns [column_begin, column_end) of C: how to split a product of few rows.
void gemm_columns(Type type, const GemmShape& shape, const void* a, const void* b, void* c,
                  int64_t column_begin, int64_t column_end);

/// Products of `shape` for batch entries [begin, end), whose matrices lie one after the other.
/// a_index and b_index, where not null, say which matrix of A or B entry i takes (broadcast batch
/// dimensions).
void gemm_batch(Type type, const GemmShape& shape, const void* a, const int64_t* a_index,
                const void* b, const int64_t* b_index, void* c, int64_t begin, int64_t end);

} // namespace troupe::arith
