// ApproximateEqual: whether numbers differ by no more than a tolerance.
#include <cmath>

#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::math_approximate_equal {
namespace {

Status compute(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  if (x.shape() != y.shape())
    return invalid_argument(str_cat("x and y must be of the same shape. x shape: ", x.shape(),
                                    ". y shape: ", y.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  bool* to = out.mutable_data<bool>().data();
  return dispatch(Floats{}, x.dtype(), [&]<class T>() -> Status {
    const T tolerance = static_cast<T>(c.prepared<float>());
    const T *a = x.data<T>().data(), *b = y.data<T>().data();
    c.parallel_for(x.num_elements(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] = std::abs(a[i] - b[i]) <= tolerance;
    });
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = keep_attr<float, "tolerance">;
  library.op("ApproximateEqual")
      .input("x: T; y: T")
      .output("z: bool")
      .attr("T: numbertype; tolerance: float = 0.00001")
      .commutative()
      .shape_fn(shape_merge_inputs)
      .not_differentiable("its values are true or false")
      .cpu_kernel(compute, options)
      .doc("Whether |x - y| is at most the tolerance.");
}

} // namespace troupe::math_approximate_equal
