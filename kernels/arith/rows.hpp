// Row by row on dense [rows, columns] matrices: bias, sums of rows, softmax, cross entropy. f32 and
// f64, biases also i32 and i64; found by lookup.hpp. Ranges [begin, end) count rows.
#pragma once
#include "kernels/arith/elementwise.hpp"

namespace troupe::arith {

/// y[r, c] = x[r, c] + bias[c]; y may be x. f32 f64 i32 i64 bf16, and f16 where the
/// processor converts it.
using BiasAddFn = void (*)(const void* x, const void* bias, void* y, int64_t columns, int64_t begin,
                           int64_t end);

/// out[c] = sum over rows [begin, end) of dy[r, c]; overwrites out. Split by columns with
/// reduce.hpp, or give each part its own buffer and add them up (add_n). f32 f64 i32 i64.
using BiasAddGradFn = void (*)(const void* dy, void* out, int64_t columns, int64_t begin,
                               int64_t end);

/// to[c] = sum over e < count of factors[e] * matrix[rows[e], c]: a row of the product of a sparse
/// and a dense matrix. f32 f64.
using SumRowsFn = void (*)(const void* factors, const int32_t* rows, int64_t count,
                           const void* matrix, int64_t columns, void* to);

/// to[c] = `*first` joined to x[r, c] for all r < rows, one after the other; x has no other
/// columns. f32 f64 i32 i64, by add, mul, clip_above and clip_below of elementwise.hpp: a row is
/// their first operand.
using JoinRowsFn = void (*)(const void* x, const void* first, int64_t rows, int64_t columns,
                            void* to);
/// Null for another function or type.
JoinRowsFn join_rows(BinaryOp op, Type type);

/// y[r, :] = softmax or log-softmax of x[r, :]; y may be x.
using SoftmaxFn = void (*)(const void* x, void* y, int64_t columns, int64_t begin, int64_t end);

/// dx = y * (dy - sum(y * dy)) row by row, for softmax outputs y; dx may be dy.
using SoftmaxGradFn = void (*)(const void* y, const void* dy, void* dx, int64_t columns,
                               int64_t begin, int64_t end);

/// Softmax cross entropy with label distributions: loss[r] = sum_c labels * (logsumexp(logits) -
/// logits), backprop = softmax(logits) - labels. A row stride is `columns`, or 0 where one row
/// serves all (broadcast); likewise a column stride is 1 or 0. backprop may be null (the loss
/// alone) or the logits' buffer where they are dense.
struct SoftmaxXentInput {
  const void* data = nullptr;
  int64_t row_stride = 0, column_stride = 1;
};
using SoftmaxXentFn = void (*)(SoftmaxXentInput logits, SoftmaxXentInput labels, void* loss,
                               void* backprop, int64_t columns, int64_t begin, int64_t end);

/// The same for labels that name one class each, i32 or i64. A row whose label is outside [0,
/// columns) gets NaN for its loss and backprop; find such labels first with find_bad_index of
/// movement.hpp.
using SparseXentFn = void (*)(const void* logits, const void* labels, void* loss, void* backprop,
                              int64_t columns, int64_t begin, int64_t end);

} // namespace troupe::arith
