// Cross: the vector product of vectors of three elements, in the last dimension.
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::math_cross {
namespace {

Status check(const Shape& a, const Shape& b) {
  if (a != b)
    return invalid_argument(str_cat("Both inputs must be of same shape: ", a, " vs. ", b));
  if (a.rank() < 1)
    return invalid_argument(str_cat("Input must be at least 1D", a));
  if (a[a.rank() - 1] != 3)
    return failed_precondition("Cross-products are only defined for 3-element vectors.");
  return {};
}

template <class T>
T difference_of_products(T a, T b, T c, T d) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) -
                          static_cast<U>(c) * static_cast<U>(d));
  } else {
    return a * b - c * d;
  }
}

Status compute(KernelContext& c) {
  TROUPE_TRY(check(c.input(0).shape(), c.input(1).shape()));
  TROUPE_ASSIGN(const Tensor a, widened(c, c.input(0)));
  TROUPE_ASSIGN(const Tensor b, widened(c, c.input(1)));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, a.shape()));
  TROUPE_TRY(dispatch(Numbers{}, a.dtype(), [&]<class T>() -> Status {
    const T *x = a.data<T>().data(), *y = b.data<T>().data();
    T* to = out.mutable_data<T>().data();
    c.parallel_for(a.num_elements() / 3, 6, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 3 * begin; i < 3 * end; i += 3)
        for (int k = 0; k < 3; ++k) {
          const int l = (k + 1) % 3, m = (k + 2) % 3;
          to[i + k] = difference_of_products(x[i + l], y[i + m], x[i + m], y[i + l]);
        }
    });
    return {};
  }));
  return narrow(c, 0, out);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  TROUPE_ASSIGN(PartialShape shape, shape_rules::merge_shapes(c.input(0), c.input(1)));
  if (shape.has_rank())
    TROUPE_TRY(shape_rules::merge_dims(shape.dim(shape.rank() - 1), 3).status());
  return c.set_output(0, std::move(shape));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::maximum)}};
  library.op("Cross")
      .input("a: T; b: T")
      .output("product: T")
      .attr("T: realnumbertype")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("The vector products of vectors of three elements.");
}

} // namespace troupe::math_cross
