// What all reductions share: axes, shapes, the loop over the compute threads, pieces of gradients.
#pragma once

#include <complex>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/reduce_op.hpp"

namespace troupe::reduce {

/// What elements are computed in: any number is one of these, or is widened to one.
using Computed = Types<float, double, std::int32_t, std::int64_t, std::complex<double>>;

/// a + b; integers wrap.
template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                          static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

/// Output 0 = op over the axes of input 1 of input 0; attr keep_dims. INVALID_ARGUMENT for an axis
/// that does not exist or is named twice.
Status reduce(KernelContext& c, arith::ReduceOp op);

/// The same by a kernel for the input's dtype, which is no complex one: with no axis of more than
/// one element, too, where an op's result is a view of its input.
Status reduce(KernelContext& c, const arith::ReduceKernel& kernel);

/// The same for a tensor in a GPU's memory.
Status reduce_on_gpu(KernelContext& c, gpu::Reduce op);

/// The output's shape where the axes are constant; otherwise what can be said.
Status infer_shape(ShapeContext& c);

/// Registers one: `types` is its attr spec of T, empty for a fixed bool.
void add_reduction(OpLibrary& library, std::string_view name, std::string_view types,
                   arith::ReduceOp function, KernelFn fn, GradientFn gradient,
                   std::string_view why_none, std::string_view doc);

/// Output 0's shape (int32) with the reduced dimensions still there, as 1.
Value kept_shape(GradContext& g);
/// `value`, of that shape or of output 0's, repeated to the shape of input 0.
Value spread(GradContext& g, Value value, Value kept);
/// bool vector, one for each dimension of input 0: whether it is reduced.
Value reduced_mask(GradContext& g);
/// The shape of `v` as an int32 vector: a constant where it is known.
Value shape_vector(GradContext& g, Value v);

} // namespace troupe::reduce
