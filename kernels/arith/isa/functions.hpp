// Declares what the sources of this folder define, in the namespace of the instruction set being
// compiled.
#pragma once
#include "kernels/arith/internal/isa_table.hpp"

#if defined(__clang__)
#define TROUPE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TROUPE_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define TROUPE_INLINE [[gnu::always_inline]] static inline

namespace troupe::arith::TROUPE_ISA {

UnaryFn unary(UnaryOp op, Type type);
UnaryFn trigonometric(UnaryOp op);
GradFn unary_grad(GradOp op, Type type);
BinaryRow binary(BinaryOp op, Type type);
SelectRow select(int size);
CastFn cast(Type from, Type to);
bool add_n(Type type, const void* const* inputs, int count, void* out, int64_t begin, int64_t end);
ReduceKernel reduce(ReduceOp op, Type type);
ArgReduceFn arg_reduce(bool want_max, Type type, Type index_type);
bool gemm(Type type, const GemmBlock& block);
void conv_forward(const ConvCall& call);
void conv_backward_input(const ConvCall& call);
void conv_backward_filter(const ConvCall& call);
/// The filter at 36 points, of input channels [begin, end): 36 * (in_c * out_c + 16) elements, each
/// point's as the products want them.
void winograd_filter(const WinogradLayout& layout, const float* filter, int64_t begin, int64_t end,
                     float* packed);
void winograd_forward(const WinogradCall& call);
void winograd_ranges(const float* x, int64_t pixels, int64_t channels, float* out);
void winograd_backward_filter(const WinogradCall& call);
PoolFn max_pool(Type type);
PoolFn avg_pool(Type type);
MaxPoolGradFn max_pool_grad(Type type);
PoolFn avg_pool_grad(Type type);
BiasAddFn bias_add(Type type);
BiasAddGradFn bias_add_grad(Type type);
SoftmaxFn softmax(Type type);
SoftmaxFn log_softmax(Type type);
SoftmaxGradFn softmax_grad(Type type);
SoftmaxXentFn softmax_xent(Type type);
SparseXentFn sparse_softmax_xent(Type type, Type label_type);
void batch_moments(const float* x, int64_t channels, int64_t begin, int64_t end, double* mean,
                   double* deviation);
void batch_normalise(const float* x, const float* mean, const float* factor, const float* offset,
                     bool relu, int64_t channels, int64_t begin, int64_t end, float* y);
void batch_norm_grad_sums(const float* dy, const float* x, const float* mean, int64_t channels,
                          int64_t begin, int64_t end, double* sum_dy, double* sum_product);
void batch_norm_grad(const float* dy, const float* x, const float* mean, const float* of_dy,
                     const float* of_x, const float* constant, int64_t channels, int64_t begin,
                     int64_t end, float* dx);
bool gradient_descent(Type type, void* var, double alpha, const void* delta, int64_t begin,
                      int64_t end);
bool momentum(Type type, void* var, void* accum, double lr, const void* grad, double momentum,
              bool nesterov, int64_t begin, int64_t end);
bool adam(Type type, void* var, void* m, void* v, const AdamRates& rates, const void* grad,
          bool nesterov, int64_t begin, int64_t end);

} // namespace troupe::arith::TROUPE_ISA
