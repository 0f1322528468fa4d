// EuclideanNorm: the square root of the sum of |x|^2 over any axes.
#include <cmath>
#include <complex>

#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_euclidean_norm {
namespace {

using Reals = Types<float, double, std::int32_t, std::int64_t, std::uint64_t>;

template <class T>
void roots(const void* x, void* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i)
    static_cast<T*>(y)[i] =
        static_cast<T>(std::sqrt(static_cast<double>(static_cast<const T*>(x)[i])));
}

/// The sum of reductions, of elements that are squared on their way to it and whose root is taken
/// on the way back. Squares of integers wrap.
template <class T>
Status compute_reals(KernelContext& c) {
  constexpr auto type = static_cast<arith::Type>(dtype_of<T>);
  arith::Route route;
  route.widen = arith::unary_kernel(arith::UnaryOp::square, type).fn;
  route.narrow = roots<T>;
  if constexpr (std::is_floating_point_v<T>)
    route.narrow = arith::unary_kernel(arith::UnaryOp::sqrt, type).fn;
  route.via = type;
  route.size = route.via_size = sizeof(T);
  arith::ReduceKernel kernel = arith::reduce_kernel(arith::ReduceOp::sum, type);
  kernel.route = &route;
  return reduce::reduce(c, kernel);
}

// The squares take the input's place, so that the sum of reductions sums them.
Status compute_complex(KernelContext& c) {
  using T = std::complex<double>;
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(Tensor squares, c.allocate_temp(x.dtype(), x.shape()));
  const T* from = x.data<T>().data();
  T* to = squares.mutable_data<T>().data();
  c.parallel_for(x.num_elements(), 0.6, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      to[i] = T(std::norm(from[i]));
  });
  c.input_entry(0).tensor = std::move(squares);
  const Status sum = reduce::reduce(c, arith::ReduceOp::sum);
  c.input_entry(0).tensor = x;
  TROUPE_TRY(sum);
  Tensor out = c.output_entry(0).tensor; // ours: the squares or their sums
  for (T& y : out.mutable_data<T>())
    y = T(std::sqrt(y.real()));
  return {};
}

Status compute_wide(KernelContext& c) {
  if (is_complex(c.input(0).dtype()))
    return compute_complex(c);
  return dispatch(Reals{}, c.input(0).dtype(),
                  [&]<class T>() -> Status { return compute_reals<T>(c); });
}

Status compute(KernelContext& c) {
  if (c.input(0).kind() == MemoryKind::device)
    return reduce::reduce_on_gpu(c, gpu::Reduce::root_of_squares);
  const DType dtype = c.input(0).dtype();
  return arith::widened_dtype(dtype) == dtype ? compute_wide(c) : compute_widened(c, compute_wide);
}

// x dy / y
Status differentiate(GradContext& g) {
  const Value kept = reduce::kept_shape(g);
  const Value share = reduce::spread(g, g.op("DivNoNan", {g.output_grad(0), g.output(0)}), kept);
  return g.set_input_grad(0, g.mul(g.input(0), share));
}

} // namespace

void register_ops(OpLibrary& library) {
  reduce::add_reduction(library, "EuclideanNorm", "T: numbertype", arith::ReduceOp::sum, compute,
                        differentiate, "", "The root of the sum of squares over the axes.");
}

} // namespace troupe::reduce_euclidean_norm
