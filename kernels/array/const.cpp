// Const: the tensor that the attribute `value` holds. Steps share its buffer.
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_const {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(Tensor value, c.attr<Tensor>("value"));
  return c.set_output(0, PartialShape(value.shape()));
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(Tensor value, c.attr<Tensor>("value"));
  if (value.dtype() != c.output_type(0))
    return invalid_argument(str_cat("Const node '", c.node_name(), "' has a value of dtype ",
                                    to_string(value.dtype()), ", its attribute dtype says ",
                                    to_string(c.output_type(0))));
  return prepared(std::move(value));
}

Status compute(KernelContext& c) {
  return c.set_output(0, c.prepared<Tensor>());
}

void compute_on_device(KernelContext& c, KernelDone done) {
  const Tensor& value = c.prepared<Tensor>();
  if (!c.device().has_own_memory() || is_object(value.dtype())) {
    done(c.set_output(0, value));
    return;
  }
  c.device().copy_to_device(value, c.stream(), [&c, done = std::move(done)](Result<Tensor> copy) {
    done(copy.ok() ? c.set_output(0, *std::move(copy)) : copy.status());
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Const")
      .output("output: dtype")
      .attr("value: tensor; dtype: type")
      .roles(Role::constant)
      .shape_fn(infer_shape)
      .not_differentiable("it has no inputs")
      .cpu_kernel(compute, {.prepare = prepare})
      .host_kernel_on_gpu(compute, {.types = {{"dtype", {DType::int32}}}, .prepare = prepare})
      .doc("The value of its attribute.");
  library.kernels.add({.op = "Const",
                       .device_type = "GPU",
                       .compute_async = compute_on_device,
                       .options = {.prepare = prepare}});
}

} // namespace troupe::array_const
