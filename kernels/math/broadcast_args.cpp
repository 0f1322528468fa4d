// BroadcastArgs: the shape that two shapes broadcast to.
#include <vector>

#include "kernels/arith/broadcast.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_broadcast_args {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  const auto length = [&](int i) { return c.input(i).has_rank() ? c.input(i).dim(0) : -1; };
  const bool known = length(0) >= 0 && length(1) >= 0;
  return c.set_output(0, PartialShape{known ? std::max(length(0), length(1)) : -1});
}

Status compute(KernelContext& c) {
  for (int i = 0; i < 2; ++i)
    if (c.input(i).shape().rank() != 1)
      return invalid_argument(str_cat("In[", i, "] must be a vector.", c.input(i).shape()));
  return dispatch(Indices{}, c.input(0).dtype(), [&]<class T>() -> Status {
    const auto s0 = c.input(0).data<T>(), s1 = c.input(1).data<T>();
    const std::vector<std::int64_t> a(s0.begin(), s0.end()), b(s1.begin(), s1.end());
    std::vector<std::int64_t> both;
    if (!arith::broadcast_shape(a, b, both))
      return invalid_argument(
          str_cat("Incompatible shapes: [", str_join(a, ","), "] vs. [", str_join(b, ","), "]"));
    TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{static_cast<std::int64_t>(both.size())}));
    for (std::size_t i = 0; i < both.size(); ++i)
      out.mutable_data<T>()[i] = static_cast<T>(both[i]);
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("BroadcastArgs")
      .input("s0: T; s1: T")
      .output("r0: T")
      .attr("T: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("its values are dimensions")
      .cpu_kernel(compute)
      .host_kernel_on_gpu(compute)
      .doc("The shape that shapes s0 and s1 broadcast to.");
}

} // namespace troupe::math_broadcast_args
