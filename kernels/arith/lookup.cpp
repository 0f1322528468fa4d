#include "kernels/arith/lookup.hpp"

#include <string>

#include "kernels/arith/conv.hpp"
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {
namespace {

Status missing(DType dtype) {
  return unimplemented("there is no CPU arithmetic of this kind for elements of dtype " +
                       to_string(dtype) + "; cast them to one that has it, such as float");
}

template <class Fn>
Result<Fn> found(Fn fn, DType dtype) {
  if (!fn)
    return missing(dtype);
  return fn;
}

} // namespace

Result<UnaryFn> unary(UnaryOp op, DType dtype) {
  return found(isa_table().unary(op, type_of(dtype)), dtype);
}

Result<GradFn> unary_grad(GradOp op, DType dtype) {
  return found(isa_table().unary_grad(op, type_of(dtype)), dtype);
}

Result<BinaryKernel> binary(BinaryOp op, DType dtype) {
  return found(binary_kernel(op, type_of(dtype)), dtype);
}

Result<CastFn> cast(DType from, DType to) {
  const CastFn fn = isa_table().cast(type_of(from), type_of(to));
  if (fn == nullptr)
    return unimplemented("Cast " + to_string(from) + " to " + to_string(to) + " is not supported");
  return fn;
}

Result<AddNFn> add_n(DType dtype) {
  return found(isa_table().add_n(type_of(dtype)), dtype);
}

Result<ReduceKernel> reduce(ReduceOp op, DType dtype) {
  return found(isa_table().reduce(op, type_of(dtype)), dtype);
}

Result<ArgReduceFn> arg_reduce(bool want_max, DType dtype, DType index_dtype) {
  return found(isa_table().arg_reduce(want_max, type_of(dtype), type_of(index_dtype)), dtype);
}

Result<PoolFn> max_pool(DType dtype) {
  return found(isa_table().max_pool(type_of(dtype)), dtype);
}

Result<PoolFn> avg_pool(DType dtype) {
  return found(isa_table().avg_pool(type_of(dtype)), dtype);
}

Result<MaxPoolGradFn> max_pool_grad(DType dtype) {
  return found(isa_table().max_pool_grad(type_of(dtype)), dtype);
}

Result<PoolFn> avg_pool_grad(DType dtype) {
  return found(isa_table().avg_pool_grad(type_of(dtype)), dtype);
}

Result<BiasAddFn> bias_add(DType dtype) {
  return found(isa_table().bias_add(type_of(dtype)), dtype);
}

Result<BiasAddGradFn> bias_add_grad(DType dtype) {
  return found(isa_table().bias_add_grad(type_of(dtype)), dtype);
}

Result<SoftmaxFn> softmax(DType dtype) {
  return found(isa_table().softmax(type_of(dtype)), dtype);
}

Result<SoftmaxFn> log_softmax(DType dtype) {
  return found(isa_table().log_softmax(type_of(dtype)), dtype);
}

Result<SoftmaxGradFn> softmax_grad(DType dtype) {
  return found(isa_table().softmax_grad(type_of(dtype)), dtype);
}

Result<SoftmaxXentFn> softmax_xent(DType dtype) {
  return found(isa_table().softmax_xent(type_of(dtype)), dtype);
}

Result<SparseXentFn> sparse_softmax_xent(DType dtype, DType label_dtype) {
  return found(isa_table().sparse_softmax_xent(type_of(dtype), type_of(label_dtype)), dtype);
}

Result<GradientDescentFn> gradient_descent(DType dtype) {
  return found(isa_table().gradient_descent(type_of(dtype)), dtype);
}

Result<MomentumFn> momentum(DType dtype) {
  return found(isa_table().momentum(type_of(dtype)), dtype);
}

Result<AdamFn> adam(DType dtype) {
  return found(isa_table().adam(type_of(dtype)), dtype);
}

Result<Type> gemm_type(DType dtype) {
  if (!has_gemm(type_of(dtype)))
    return missing(dtype);
  return type_of(dtype);
}

Result<Type> conv2d_type(DType dtype) {
  if (!has_conv2d(type_of(dtype)))
    return missing(dtype);
  return type_of(dtype);
}

Result<Type> index_type(DType dtype) {
  if (dtype != DType::int32 && dtype != DType::int64)
    return unimplemented("indices are int32 or int64 here, not " + to_string(dtype));
  return type_of(dtype);
}

} // namespace troupe::arith
