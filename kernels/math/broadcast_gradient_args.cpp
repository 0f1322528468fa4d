// BroadcastGradientArgs: for two shapes, the axes along which the gradient of each must be summed
// to undo their broadcasting.
#include <algorithm>
#include <vector>

#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_broadcast_gradient_args {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.set_output(0, PartialShape{-1}));
  return c.set_output(1, PartialShape{-1});
}

template <class T>
Status compute_as(KernelContext& c) {
  const auto s0 = c.input(0).data<T>(), s1 = c.input(1).data<T>();
  std::vector<T> axes[2];
  const std::size_t rank = std::max(s0.size(), s1.size());
  const bool equal = std::equal(s0.begin(), s0.end(), s1.begin(), s1.end());
  for (std::size_t i = 0; i < rank && !equal; ++i) {
    const T x = i + s0.size() < rank ? T{1} : s0[i + s0.size() - rank];
    const T y = i + s1.size() < rank ? T{1} : s1[i + s1.size() - rank];
    if (x != y && x != 1 && y != 1)
      return invalid_argument(
          str_cat("Incompatible shapes: [", str_join(s0, ","), "] vs. [", str_join(s1, ","), "]"));
    if (x == 1)
      axes[0].push_back(static_cast<T>(i));
    if (y == 1)
      axes[1].push_back(static_cast<T>(i));
  }
  for (int k = 0; k < 2; ++k) {
    TROUPE_ASSIGN(Tensor out,
                  c.allocate_output(k, Shape{static_cast<std::int64_t>(axes[k].size())}));
    std::ranges::copy(axes[k], out.mutable_data<T>().begin());
  }
  return {};
}

Status compute(KernelContext& c) {
  for (int i = 0; i < 2; ++i)
    if (c.input(i).shape().rank() != 1)
      return invalid_argument(str_cat("In[", i, "] must be a vector.", c.input(i).shape()));
  return dispatch(Indices{}, c.input(0).dtype(),
                  [&]<class T>() -> Status { return compute_as<T>(c); });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("BroadcastGradientArgs")
      .input("s0: T; s1: T")
      .output("r0: T; r1: T")
      .attr("T: {int32, int64} = DT_INT32")
      .roles(Role::flat)
      .shape_fn(infer_shape)
      .not_differentiable("its values are axes")
      .cpu_kernel(compute)
      .host_kernel_on_gpu(compute)
      .doc("The axes to sum over to undo the broadcasting of shapes s0 and s1.");
}

} // namespace troupe::math_broadcast_gradient_args
