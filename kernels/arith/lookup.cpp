#include "kernels/arith/lookup.hpp"

#include <string>

#include "kernels/arith/conv.hpp"
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {
namespace {

Status missing(DType dtype) {
  return unimplemented("there is no CPU arithmetic of this kind for elements of dtype " +
                       to_string(dtype) + "; cast them to one that has it, such as float");
}

/// As TensorFlow: integers of four bits to and from integers alone, 8-bit floats from floats alone.
bool may_cast(DType from, DType to) {
  const auto is_nibble = [](DType t) { return t == DType::int4 || t == DType::uint4; };
  const auto is_small_float = [](DType t) {
    return t == DType::float8_e5m2 || t == DType::float8_e4m3fn;
  };
  const auto is_whole = [&](DType t) {
    return !is_floating(t) && !is_complex(t) && !is_small_float(t) && t != DType::bool_;
  };
  if (is_nibble(from) || is_nibble(to))
    return is_whole(from) && is_whole(to);
  return !is_small_float(to) || is_floating(from) || is_small_float(from);
}

template <class Has>
std::vector<DType> dtypes_with(Has has) {
  std::vector<DType> out;
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  if (has(Type::name))                                                                             \
    out.push_back(DType::name);
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  return out;
}

template <class Fn>
Result<Fn> found(Fn fn, DType dtype) {
  if (!fn)
    return missing(dtype);
  return fn;
}

} // namespace

Result<UnaryKernel> unary(UnaryOp op, DType dtype) {
  return found(unary_kernel(op, type_of(dtype)), dtype);
}

Result<GradKernel> unary_grad(GradOp op, DType dtype) {
  return found(grad_kernel(op, type_of(dtype)), dtype);
}

Result<BinaryKernel> binary(BinaryOp op, DType dtype) {
  return found(binary_kernel(op, type_of(dtype)), dtype);
}

Result<CastKernel> cast(DType from, DType to) {
  const CastKernel kernel = cast_kernel(type_of(from), type_of(to));
  if (!kernel || !may_cast(from, to))
    return unimplemented("Cast " + to_string(from) + " to " + to_string(to) + " is not supported");
  return kernel;
}

Result<AddNKernel> add_n(DType dtype) {
  return found(add_n_kernel(type_of(dtype)), dtype);
}

Result<ReduceKernel> reduce(ReduceOp op, DType dtype) {
  return found(reduce_kernel(op, type_of(dtype)), dtype);
}

Result<ArgReduceKernel> arg_reduce(bool want_max, DType dtype, DType index_dtype) {
  return found(arg_reduce_kernel(want_max, type_of(dtype), type_of(index_dtype)), dtype);
}

std::vector<DType> dtypes_of(UnaryOp op) {
  return dtypes_with([op](Type type) { return bool(unary_kernel(op, type)); });
}

std::vector<DType> dtypes_of(GradOp op) {
  return dtypes_with([op](Type type) { return bool(grad_kernel(op, type)); });
}

std::vector<DType> dtypes_of(BinaryOp op) {
  return dtypes_with([op](Type type) { return bool(binary_kernel(op, type)); });
}

std::vector<DType> dtypes_of(ReduceOp op) {
  return dtypes_with([op](Type type) { return bool(reduce_kernel(op, type)); });
}

std::vector<DType> dtypes_of_add_n() {
  return dtypes_with([](Type type) { return bool(add_n_kernel(type)); });
}

DType widened_dtype(DType dtype) {
  const Route* route = route_of(type_of(dtype));
  return route != nullptr ? static_cast<DType>(route->via) : dtype;
}

DType computed_in(DType dtype) {
  return dtype == DType::uint64 ? DType::int64 : widened_dtype(dtype);
}

Result<SquaresFn> sum_of_squares(DType dtype) {
  return found(isa_table().sum_of_squares(type_of(dtype)), dtype);
}

Result<PoolFn> max_pool(DType dtype) {
  const PoolFn fn = isa_table().max_pool(type_of(dtype));
  return found(fn != nullptr ? fn : generic_max_pool(type_of(dtype)), dtype);
}

Result<PoolFn> avg_pool(DType dtype) {
  return found(isa_table().avg_pool(type_of(dtype)), dtype);
}

Result<MaxPoolGradFn> max_pool_grad(DType dtype) {
  const MaxPoolGradFn fn = isa_table().max_pool_grad(type_of(dtype));
  return found(fn != nullptr ? fn : generic_max_pool_grad(type_of(dtype)), dtype);
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

Result<SumRowsFn> sum_rows(DType dtype) {
  return found(isa_table().sum_rows(type_of(dtype)), dtype);
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
  const GradientDescentFn fn = isa_table().gradient_descent(type_of(dtype));
  return found(fn != nullptr ? fn : generic_gradient_descent(type_of(dtype)), dtype);
}

Result<MomentumFn> momentum(DType dtype) {
  const MomentumFn fn = isa_table().momentum(type_of(dtype));
  return found(fn != nullptr ? fn : generic_momentum(type_of(dtype)), dtype);
}

Result<AdamFn> adam(DType dtype) {
  const AdamFn fn = isa_table().adam(type_of(dtype));
  return found(fn != nullptr ? fn : generic_adam(type_of(dtype)), dtype);
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
