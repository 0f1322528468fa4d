// The functions that exist once for each instruction set. Everything crosses this boundary as raw
// pointers and plain structs. Sources in isa/ are compiled several times, each time with its own
// TROUPE_ISA namespace; they use no std containers or algorithms, and no inline function from a
// shared header, because the linker would keep one copy of those for all instruction sets.
#pragma once
#include "kernels/arith/batch_norm.hpp"
#include "kernels/arith/conv.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/optimizer.hpp"
#include "kernels/arith/pool.hpp"
#include "kernels/arith/reduce.hpp"
#include "kernels/arith/rows.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// C[m, n] (row length ldc) = op(A) * op(B), or += with accumulate. op(A) is [m, k]; lda and ldb
/// are row lengths as stored.
struct GemmBlock {
  bool transpose_a, transpose_b, accumulate;
  int64_t m, n, k;
  const void* a;
  int64_t lda;
  const void* b;
  int64_t ldb;
  void* c;
  int64_t ldc;
};

/// Selects one row: n outputs from a condition and two values, each stepping by 0 or 1 element.
using SelectRow = void (*)(const void* cond, int cond_step, const void* a, int a_step,
                           const void* b, int b_step, void* out, int64_t n);

/// Convolutions through im2col; `scratch` has block_rows patches of filter_h * filter_w * in_c
/// elements.
struct ConvCall {
  Type type;
  const Conv2DShape* shape;
  const void* x;      // input, or null
  const void* filter; // filter, or null
  const void* dy;     // output gradient, or null
  void* out;
  int64_t begin, end; // images
  void* scratch;
  int64_t block_rows; // output pixels for one patch matrix
};

/// Convolutions through tiles of tile x tile outputs (4 for filters of 3 x 3, 2 for 5 x 5),
/// numbered over all images, row by row; the channels are multiples of 16. `scratch` has
/// room for `block` tiles: 36 * (block * (in_c + out_c) + 32) elements. The filter's gradient takes
/// `channels` input channels at a time: 36 * (block * (channels + out_c) + channels * out_c + 48).
struct WinogradCall {
  const Conv2DShape* shape;
  int64_t tile, begin, end, block, channels;
  const float* x;
  const float* packed; // filter, from winograd_filter, or null
  const float* dy;     // output gradient, or null
  float* out;
  ConvEpilogue epilogue;
  float* scratch;
};

struct IsaTable {
  UnaryFn (*unary)(UnaryOp, Type);
  GradFn (*unary_grad)(GradOp, Type);
  BinaryRow (*binary)(BinaryOp, Type);
  SelectRow (*select)(int size);
  CastFn (*cast)(Type from, Type to);
  bool (*add_n)(Type, const void* const*, int, void*, int64_t, int64_t);
  ReduceKernel (*reduce)(ReduceOp, Type);
  ArgReduceFn (*arg_reduce)(bool, Type, Type);
  bool (*gemm)(Type, const GemmBlock&);
  void (*conv_forward)(const ConvCall&);
  void (*conv_backward_input)(const ConvCall&);
  void (*conv_backward_filter)(const ConvCall&);
  void (*winograd_filter)(const WinogradLayout&, const float* filter, int64_t begin, int64_t end,
                          float* packed);
  void (*winograd_forward)(const WinogradCall&);
  /// The largest absolute value of each pixel; infinity where a channel is NaN. `channels` is a
  /// multiple of 16.
  void (*winograd_ranges)(const float* x, int64_t pixels, int64_t channels, float* out);
  void (*winograd_backward_filter)(const WinogradCall&);
  PoolFn (*max_pool)(Type);
  PoolFn (*avg_pool)(Type);
  MaxPoolGradFn (*max_pool_grad)(Type);
  PoolFn (*avg_pool_grad)(Type);
  BiasAddFn (*bias_add)(Type);
  BiasAddGradFn (*bias_add_grad)(Type);
  SoftmaxFn (*softmax)(Type);
  SoftmaxFn (*log_softmax)(Type);
  SoftmaxGradFn (*softmax_grad)(Type);
  SoftmaxXentFn (*softmax_xent)(Type);
  SparseXentFn (*sparse_softmax_xent)(Type, Type);
  void (*batch_moments)(const float*, int64_t, int64_t, int64_t, double*, double*);
  void (*batch_normalise)(const float*, const float*, const float*, const float*, bool, int64_t,
                          int64_t, int64_t, float*);
  void (*batch_norm_grad_sums)(const float*, const float*, const float*, int64_t, int64_t, int64_t,
                               double*, double*);
  void (*batch_norm_grad)(const float*, const float*, const float*, const float*, const float*,
                          const float*, int64_t, int64_t, int64_t, float*);
  bool (*gradient_descent)(Type, void*, double, const void*, int64_t, int64_t);
  bool (*momentum)(Type, void*, void*, double, const void*, double, bool, int64_t, int64_t);
  bool (*adam)(Type, void*, void*, void*, const AdamRates&, const void*, bool, int64_t, int64_t);
};

/// The table of the instruction set in use.
const IsaTable& isa_table();

} // namespace troupe::arith
