// CountUpTo, ResourceCountUpTo: gives a variable's value and adds one to it, up to a limit.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/state/internal/change.hpp"

namespace troupe::state_count_up_to {
namespace {

Status count(KernelContext& c) {
  const auto limit = c.attrs().get_or("limit", std::int64_t{0});
  TROUPE_ASSIGN(auto variable, state::variable_to_change(c, 0));
  const DType dtype = c.output_type(0);
  if (variable->dtype() != dtype)
    return invalid_argument(str_cat("Trying to count in a variable with wrong dtype. Expected ",
                                    to_string(variable->dtype()), " got ", to_string(dtype)));
  return variable->update([&](Tensor& value) -> Status {
    if (!value.shape().is_scalar())
      return invalid_argument(str_cat("input is not a scalar: ", value.shape()));
    return dispatch(Indices{}, dtype, [&]<class T>() -> Status {
      T& counter = value.mutable_data<T>()[0];
      if (counter >= limit)
        return out_of_range(str_cat("Reached limit of ", limit));
      return c.set_output(0, Tensor::scalar(counter++));
    });
  });
}

Status infer_shape(ShapeContext& c) {
  return c.set_output(0, Shape{});
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const bool resource : {false, true}) {
    auto op = library.op(resource ? "ResourceCountUpTo" : "CountUpTo");
    op.input(resource ? "resource: resource" : "ref: Ref(T)")
        .output("output: T")
        .attr("limit: int; T: {int32, int64}")
        .roles(Role::side_effect)
        .shape_fn(infer_shape)
        .not_differentiable("it counts")
        .cpu_kernel(count, {.types = {{"T", {DType::int32, DType::int64}}}})
        .doc("The variable's value, before one is added to it; OUT_OF_RANGE at the limit.");
    if (resource)
      op.stateful();
  }
}

} // namespace troupe::state_count_up_to
