// Finds arithmetic functions by operation and dtype, in the instruction set in use. What that does
// not have is UNIMPLEMENTED "there is no CPU arithmetic …", so that no kernel calls a null pointer.
#pragma once
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/dtype.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/optimizer.hpp"
#include "kernels/arith/pool.hpp"
#include "kernels/arith/reduce.hpp"
#include "kernels/arith/rows.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::arith {

constexpr Type type_of(DType dtype) {
  return static_cast<Type>(dtype);
}

Result<UnaryKernel> unary(UnaryOp op, DType dtype);
Result<GradKernel> unary_grad(GradOp op, DType dtype);
Result<BinaryKernel> binary(BinaryOp op, DType dtype);
/// Between any two that TensorFlow casts between; quantised integers are integers.
Result<CastKernel> cast(DType from, DType to);
Result<AddNKernel> add_n(DType dtype);

Result<ReduceKernel> reduce(ReduceOp op, DType dtype);
Result<SquaresFn> sum_of_squares(DType dtype);
Result<ArgReduceKernel> arg_reduce(bool want_max, DType dtype, DType index_dtype);

/// What a kernel of an op that calls the function may be registered for.
std::vector<DType> dtypes_of(UnaryOp op);
std::vector<DType> dtypes_of(GradOp op);
std::vector<DType> dtypes_of(BinaryOp op);
std::vector<DType> dtypes_of(ReduceOp op);
std::vector<DType> dtypes_of_add_n();

/// The dtype that kernels of more than single elements compute in: float for half and bfloat16,
/// int32 or int64 for other integers (their low bits are the same), complex128 for complex64; else
/// the dtype itself.
DType computed_in(DType dtype);
/// The same, except that 64-bit integers without a sign stay what they are: for kernels that
/// compare.
DType widened_dtype(DType dtype);

Result<PoolFn> max_pool(DType dtype);
Result<PoolFn> avg_pool(DType dtype);
Result<MaxPoolGradFn> max_pool_grad(DType dtype);
Result<PoolFn> avg_pool_grad(DType dtype);

Result<BiasAddFn> bias_add(DType dtype);
Result<BiasAddGradFn> bias_add_grad(DType dtype);
Result<SumRowsFn> sum_rows(DType dtype);
Result<SoftmaxFn> softmax(DType dtype);
Result<SoftmaxFn> log_softmax(DType dtype);
Result<SoftmaxGradFn> softmax_grad(DType dtype);
Result<SoftmaxXentFn> softmax_xent(DType dtype);
Result<SparseXentFn> sparse_softmax_xent(DType dtype, DType label_dtype);

Result<GradientDescentFn> gradient_descent(DType dtype);
Result<MomentumFn> momentum(DType dtype);
Result<AdamFn> adam(DType dtype);

/// For gemm.hpp, conv.hpp, and the indices of movement.hpp, whose functions take a Type themselves.
Result<Type> gemm_type(DType dtype);
Result<Type> conv2d_type(DType dtype);
Result<Type> index_type(DType dtype);

} // namespace troupe::arith
