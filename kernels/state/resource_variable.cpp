// Resource variables: a handle names the variable; reads take a snapshot that later assignments do
// not change.
#include <mutex>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/state/internal/update.hpp"

namespace troupe::state_resource_variable {
namespace {

// The handle that a node gives in every step: made in the first, as its prepare function does not
// know the device's containers.
struct KeptHandle {
  ResourceName name;
  mutable std::mutex lock;
  mutable Tensor value;
};

Result<std::shared_ptr<const void>> keep_handle(PrepareContext& c) {
  auto kept = std::make_shared<KeptHandle>();
  TROUPE_ASSIGN(kept->name, resource_name(c));
  return std::shared_ptr<const void>(std::move(kept));
}

Status make_variable_handle(KernelContext& c) {
  const auto& kept = c.prepared<KeptHandle>();
  std::scoped_lock guard(kept.lock);
  if (!kept.value.has_value()) {
    const auto& [container, name] = kept.name;
    kept.value = Tensor::scalar(make_handle<Variable>(
        c.device(), container.empty() ? c.resources().default_container() : container, name));
  }
  return c.set_output(0, kept.value);
}

Status differentiate_read(GradContext& g) {
  return g.set_input_grad(0, g.output_grad(0));
}

Status read(KernelContext& c) {
  TROUPE_ASSIGN(auto variable, readable_variable(c, 0));
  Tensor value = snapshot_for(c.receiver, *variable, c.rendezvous());
  if (!value.has_value()) // somebody has just taken it away
    return readable_variable(c, 0).status();
  if (value.dtype() != c.output_type(0))
    return invalid_argument(str_cat("Trying to read variable with wrong dtype. Expected ",
                                    to_string(c.output_type(0)), " got ",
                                    to_string(value.dtype())));
  return c.set_output(0, std::move(value));
}

Status wrong_dtype(const Variable& variable, const Tensor& value) {
  return invalid_argument(str_cat("Trying to assign variable with wrong dtype. Expected ",
                                  to_string(variable.dtype()), " got ", to_string(value.dtype())));
}

Status assign(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  const Tensor& value = c.input(1);
  TROUPE_ASSIGN(
      auto variable, c.resources().lookup_or_create<Variable>(handle->container, handle->name, [&] {
        return Result<std::shared_ptr<Variable>>(std::make_shared<Variable>(value.dtype()));
      }));
  if (variable->dtype() != value.dtype())
    return wrong_dtype(*variable, value);
  if (c.attrs().get_or("validate_shape", false)) {
    const Tensor old = variable->snapshot();
    if (old.has_value() && old.shape() != value.shape())
      return invalid_argument(
          str_cat("Trying to assign to variable with tensor with wrong shape. Expected ",
                  old.shape(), " got ", value.shape()));
  }
  TROUPE_ASSIGN(Tensor kept, own(c, c.take_input(1)));
  variable->assign(std::move(kept));
  return {};
}

Status update(KernelContext& c, arith::BinaryOp op) {
  TROUPE_ASSIGN(auto variable, resource_variable(c, 0));
  const Tensor& value = c.input(1);
  if (variable->dtype() != value.dtype())
    return wrong_dtype(*variable, value);
  return variable->update([&](Tensor& old) -> Status {
    if (old.shape() != value.shape())
      return invalid_argument(str_cat("Cannot update variable with shape ", old.shape(),
                                      " using a Tensor with shape ", value.shape(),
                                      ", shapes must be equal."));
    return state::update_in_place(c, op, old, value);
  });
}

Status is_initialized(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  auto found = c.resources().lookup<Variable>(handle->container, handle->name);
  return c.set_output(0, Tensor::scalar(found.ok() && (*found)->is_initialized()));
}

Status destroy(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  Status removed = c.resources().remove(handle->container, handle->maybe_type_name, handle->name);
  if (removed.code() == Code::not_found && c.attrs().get_or("ignore_lookup_error", true))
    return {};
  return removed;
}

Status shape(KernelContext& c) {
  TROUPE_ASSIGN(auto variable, resource_variable(c, 0));
  const Shape shape = variable->snapshot().shape();
  Tensor out = Tensor::make(c.output_type(0), Shape{shape.rank()});
  TROUPE_TRY(dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
    auto to = out.mutable_data<T>();
    for (int i = 0; i < shape.rank(); ++i)
      to[static_cast<std::size_t>(i)] = static_cast<T>(shape.dim(i));
    return {};
  }));
  return c.set_output(0, std::move(out));
}

Status infer_vector(ShapeContext& c) {
  return c.set_output(0, PartialShape{-1});
}

constexpr auto in_place = "it changes a variable";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("VarHandleOp")
      .output("resource: resource")
      .attr("container: string = ''; shared_name: string = ''; debug_name: string = ''")
      .attr("dtype: type; shape: shape; allowed_devices: list(string) = []")
      .stateful()
      .roles(Role::variable)
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(make_variable_handle,
                             {.host_outputs = {"resource"}, .prepare = keep_handle})
      .doc("A handle to the variable `shared_name` (or the node's name) of `container`.");
  library.op("ReadVariableOp")
      .input("resource: resource")
      .output("value: dtype")
      .attr("dtype: type")
      .stateful()
      .roles(Role::reads_variable)
      .shape_fn(shape_unknown)
      .gradient(differentiate_read)
      .kernel_on_all_devices(read, {.host_inputs = {"resource"}})
      .doc("The variable's value.");
  library.op("AssignVariableOp")
      .input("resource: resource; value: dtype")
      .attr("dtype: type; validate_shape: bool = false")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(in_place)
      .kernel_on_all_devices(assign, {.host_inputs = {"resource"}})
      .doc("variable = value.");
  library.op("AssignAddVariableOp")
      .input("resource: resource; value: dtype")
      .attr("dtype: type")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(in_place)
      .cpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::add); },
                  state::updatable("dtype"))
      .gpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::add); },
                  state::updatable_on_gpu("dtype"))
      .doc("variable += value.");
  library.op("AssignSubVariableOp")
      .input("resource: resource; value: dtype")
      .attr("dtype: type")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(in_place)
      .cpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::sub); },
                  state::updatable("dtype"))
      .gpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::sub); },
                  state::updatable_on_gpu("dtype"))
      .doc("variable -= value.");
  library.op("VarIsInitializedOp")
      .input("resource: resource")
      .output("is_initialized: bool")
      .stateful()
      .roles(Role::asks_variable)
      .shape_fn(shape_scalar)
      .not_differentiable("its value is true or false")
      .kernel_on_all_devices(is_initialized,
                             {.host_inputs = {"resource"}, .host_outputs = {"is_initialized"}})
      .doc("Whether the variable exists and holds a value.");
  library.op("DestroyResourceOp")
      .input("resource: resource")
      .attr("ignore_lookup_error: bool = true")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .kernel_on_all_devices(destroy, {.host_inputs = {"resource"}})
      .doc("Forgets the variable; NOT_FOUND if there is none and ignore_lookup_error is false.");
  library.op("VariableShape")
      .input("input: resource")
      .output("output: out_type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .stateful()
      .shape_fn(infer_vector)
      .not_differentiable("its values are dimensions")
      .kernel_on_all_devices(shape, {.host_inputs = {"input"}, .host_outputs = {"output"}})
      .doc("The shape of the variable's value.");
}

} // namespace troupe::state_resource_variable
