// EuclideanNorm: the square root of the sum of |x|^2 over any axes.
#include <cmath>
#include <complex>

#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_euclidean_norm {
namespace {

using Wide = Types<float, double, std::int32_t, std::int64_t, std::uint64_t, std::complex<double>>;

/// |x|^2; integers wrap.
template <class T>
T squared(T x) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(x) * static_cast<U>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    return x * x;
  } else {
    return T(std::norm(x));
  }
}

// The squares take the input's place, so that the sum of reductions sums them.
Status compute_wide(KernelContext& c) {
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(Tensor squares, c.allocate_temp(x.dtype(), x.shape()));
  TROUPE_TRY(dispatch(Wide{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = squares.mutable_data<T>().data();
    c.parallel_for(x.num_elements(), 0.3, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] = squared(from[i]);
    });
    return {};
  }));
  c.input_entry(0).tensor = std::move(squares);
  const Status sum = reduce::reduce(c, arith::ReduceOp::sum);
  c.input_entry(0).tensor = x;
  TROUPE_TRY(sum);
  Tensor out = c.output_entry(0).tensor; // ours: the squares or their sums
  return dispatch(Wide{}, out.dtype(), [&]<class T>() -> Status {
    for (T& y : out.mutable_data<T>())
      if constexpr (std::is_arithmetic_v<T>)
        y = static_cast<T>(std::sqrt(static_cast<double>(y)));
      else
        y = T(std::sqrt(y.real()));
    return {};
  });
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
