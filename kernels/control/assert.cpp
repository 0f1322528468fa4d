// Assert: fails the step when its condition does not hold, showing the data.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/tensor_text.hpp"

namespace troupe::control_assert {
namespace {

Status infer_shape(ShapeContext& c) {
  return c.require_rank(0, 0);
}

Status compute(KernelContext& c) {
  const Tensor& condition = c.input(0);
  if (!condition.shape().is_scalar())
    return invalid_argument(str_cat("In[0] should be a scalar: ", condition.shape()));
  if (condition.value<bool>())
    return {};
  std::string message = "assertion failed: ";
  const std::int64_t most = c.attrs().get_or("summarize", std::int64_t{3});
  for (int i = 1; i < c.num_inputs(); ++i)
    str_append(message, i > 1 ? " " : "", "[", summarize_first(c.input(i), most), "]");
  return invalid_argument(std::move(message));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Assert")
      .input("condition: bool; data: T")
      .attr("T: list(type) >= 1; summarize: int = 3")
      .stateful()
      .roles(Role::check)
      .shape_fn(infer_shape)
      .not_differentiable("it has no outputs")
      .kernel_on_all_devices(compute, {.host_inputs = {"condition", "data"}})
      .doc("Fails the step if `condition` is false, with up to `summarize` elements of each of "
           "`data`.");
}

} // namespace troupe::control_assert
