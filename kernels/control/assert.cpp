// Assert: fails the step when its condition does not hold, showing the data.
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_assert {
namespace {

Status infer_shape(ShapeContext& c) {
  return c.require_rank(0, 0);
}

/// The first elements, without dtype and shape: "1 2 3...". Text is not quoted.
std::string summarize(const Tensor& tensor, std::int64_t most) {
  const std::int64_t shown =
      most < 0 ? tensor.num_elements() : std::min(most, tensor.num_elements());
  std::string out;
  for (std::int64_t i = 0; i < shown; ++i) {
    out += i > 0 ? " " : "";
    if (tensor.dtype() == DType::string) {
      out += tensor.data<std::string>()[static_cast<std::size_t>(i)];
      continue;
    }
    const std::string element =
        to_literal(tensor.reshaped(Shape{tensor.num_elements()}).rows(i, i + 1));
    out += std::string_view(element).substr(element.find(' ') + 1);
  }
  if (shown < tensor.num_elements())
    out += "...";
  return out;
}

Status compute(KernelContext& c) {
  const Tensor& condition = c.input(0);
  if (!condition.shape().is_scalar())
    return invalid_argument(str_cat("In[0] should be a scalar: ", condition.shape()));
  if (condition.value<bool>())
    return {};
  std::string message = "assertion failed: ";
  for (int i = 1; i < c.num_inputs(); ++i)
    str_append(message, i > 1 ? " " : "", "[",
               summarize(c.input(i), c.attrs().get_or("summarize", std::int64_t{3})), "]");
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
