// The functions that exist once for each instruction set. Everything crosses this boundary as raw
// pointers and plain structs. Sources in isa/ are compiled several times, each time with its own
// TROUPE_ISA namespace; they use no std containers or algorithms, and no inline function from a
// shared header, because the linker would keep one copy of those for all instruction sets.
#pragma once
#include "kernels/arith/batch_norm.hpp"
#include "kernels/arith/bits.hpp"
#include "kernels/arith/conv.hpp"
#include "kernels/arith/decompose.hpp"
#include "kernels/arith/depthwise.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/fake_quant.hpp"
#include "kernels/arith/flags.hpp"
#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/lrn.hpp"
#include "kernels/arith/optimizer.hpp"
#include "kernels/arith/pool.hpp"
#include "kernels/arith/reduce.hpp"
#include "kernels/arith/resize.hpp"
#include "kernels/arith/rows.hpp"
#include "kernels/arith/special.hpp"
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

/// Writes `rows` rows of n elements, one behind the other, each all of one element of `from`: of
/// the first, and of every `step`-th behind it.
using SpreadFn = void (*)(const void* from, int64_t step, int64_t rows, int64_t n, void* to);

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

/// One stage of a Fourier transform of f32 or f64, whose input has `width` columns (the signals
/// side by side times the product of the radices before), `groups` of them and `radix` times as
/// many: out[width (radix p + k) + q] = factor[k groups + p] times the sum over j of in[width (p +
/// groups j)
/// + q] exp(-2 pi i j k / radix), for p below groups, k below radix, q below width. Radices above 5
/// find exp(-2 pi i t / radix) behind the factors.
struct FourierStage {
  int64_t radix, groups, width;
  const void *factor_re, *factor_im, *in_re, *in_im;
  void *out_re, *out_im;
};

/// Between the transform of h complex numbers, in parts, and that of the 2 h real ones that they
/// are made of, h + 1 complex numbers; root[k] = exp(-pi i k / h).
struct FourierHalf {
  int64_t half;
  const void *root_re, *root_im;
  void *re, *im, *out; // `out` of fourier_real_half alone
};

/// Rows of a local response normalisation. `room` has `block_rows` rows of `pitch` elements, zeros
/// all; those of x lie behind the first `reach`, which is what a sum reaches to either side.
struct LrnCall {
  Lrn lrn;
  const float *x, *y, *dy; // the last two for the gradient
  float* out;
  int64_t begin, end, reach, pitch, block_rows;
  float* room;
};

struct IsaTable {
#define TROUPE_ISA_FUNCTION(returns, name, parameters) returns(*name) parameters;
#include "kernels/arith/internal/isa_functions.def"
#undef TROUPE_ISA_FUNCTION
};

/// The functions of decompose.hpp; no two have the same type.
template <class T>
struct EliminationTable {
  void (*lu)(T* a, int64_t n, int64_t* order);
  bool (*cholesky)(T* a, int64_t n);
  void (*triangular_solve)(const T* a, int64_t n, Triangle triangle, bool transpose, T* x,
                           int64_t columns);
};
struct DecompositionTable {
  EliminationTable<float> of_float;
  EliminationTable<double> of_double;
  decltype(arith::self_adjoint_eig)* self_adjoint_eig;
  decltype(arith::qr)* qr;
  decltype(arith::svd)* svd;
};

/// The table of the instruction set in use.
const IsaTable& isa_table();

} // namespace troupe::arith
