// Reference variables: a variable of the device by container and name, and assignments to it.
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/state/internal/update.hpp"

namespace troupe::state_variable {
namespace {

Status shape_of_attr(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return c.set_output(0, std::move(shape));
}

// Where graphs are written, "[]" stands for an unknown shape, too, in the first Variable op. Its
// kernel takes it for a scalar's, which an Assign that validates shapes then wants.
Status shape_of_old_attr(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return c.set_output(0, shape.rank() == 0 ? PartialShape() : std::move(shape));
}

/// A variable's name, and its shape where the node says all of it.
struct Declared {
  ResourceName name;
  std::optional<Shape> shape;
};

Result<std::shared_ptr<const void>> keep_declared(PrepareContext& c) {
  Declared out;
  TROUPE_ASSIGN(out.name, resource_name(c));
  TROUPE_ASSIGN(const auto shape, c.attr<PartialShape>("shape"));
  out.shape = shape.to_shape();
  return prepared(std::move(out));
}

Status find_variable(KernelContext& c) {
  const auto& [name, shape] = c.prepared<Declared>();
  const DType dtype = remove_ref(c.output_type(0));
  TROUPE_ASSIGN(auto variable,
                c.resources().lookup_or_create<RefVariable>(name.container, name.name, [&] {
                  auto made = std::make_shared<RefVariable>(dtype, shape);
                  if (shape && shape->num_elements() == 0) // it holds all that it can
                    made->assign(Tensor::zeros(dtype, *shape));
                  return Result<std::shared_ptr<RefVariable>>(std::move(made));
                }));
  if (variable->dtype() != dtype)
    return invalid_argument(str_cat("Trying to get variable '", name.name,
                                    "' with wrong dtype. Expected ", to_string(variable->dtype()),
                                    " got ", to_string(dtype)));
  c.set_output_ref(0, std::move(variable));
  return {};
}

Status infer_assign_shape(ShapeContext& c) {
  if (!c.attrs().get_or("validate_shape", true))
    return c.output_like(0, 1);
  TROUPE_ASSIGN(PartialShape shape, shape_rules::merge_shapes(c.input(0), c.input(1)));
  return c.set_output(0, std::move(shape));
}

Status assign(KernelContext& c) {
  const auto& variable = c.input_ref(0);
  if (c.attrs().get_or("validate_shape", true)) {
    const Tensor old = variable->snapshot();
    const auto wanted = old.has_value() ? old.shape() : variable->declared_shape();
    if (wanted && *wanted != c.input(1).shape())
      return invalid_argument(
          str_cat("Assign requires shapes of both tensors to match. lhs shape= ", *wanted,
                  " rhs shape= ", c.input(1).shape()));
  }
  TROUPE_ASSIGN(Tensor value, own(c, c.take_input(1)));
  variable->assign(std::move(value));
  c.set_output_ref(0, variable);
  return {};
}

Status update(KernelContext& c, arith::BinaryOp op) {
  const auto& variable = c.input_ref(0);
  const Tensor& value = c.input(1);
  if (!variable->is_initialized())
    return failed_precondition(
        str_cat("Attempting to use uninitialized value: the variable that node '", c.node_name(),
                "' updates has none. Run its initializer first"));
  TROUPE_TRY(variable->update([&](Tensor& old) -> Status {
    if (old.shape() != value.shape())
      return invalid_argument(
          str_cat("Parameters and update must be the same size: the variable has shape ",
                  old.shape(), ", the update ", value.shape()));
    return state::update_in_place(c, op, old, value);
  }));
  c.set_output_ref(0, variable);
  return {};
}

Status is_initialized(KernelContext& c) {
  return c.set_output(0, Tensor::scalar(c.input_ref(0)->is_initialized()));
}

constexpr auto variable_attrs =
    "shape: shape; dtype: type; container: string = ''; shared_name: string = ''";
constexpr auto in_place = "it changes a variable";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("VariableV2")
      .output("ref: Ref(dtype)")
      .attr(variable_attrs)
      .stateful()
      .roles(Role::variable)
      .shape_fn(shape_of_attr)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(find_variable, {.prepare = keep_declared})
      .doc("A reference to the variable `shared_name` (or the node's name) of `container`.");
  library.op("Variable")
      .output("ref: Ref(dtype)")
      .attr(variable_attrs)
      .stateful()
      .roles(Role::variable)
      .shape_fn(shape_of_old_attr)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(find_variable, {.prepare = keep_declared})
      .doc("VariableV2 as old graphs have it.");
  library.op("Assign")
      .input("ref: Ref(T); value: T")
      .output("output_ref: Ref(T)")
      .attr("T: type; validate_shape: bool = true; use_locking: bool = true")
      .allows_uninitialized_input()
      .roles({Role::side_effect, Role::flat})
      .shape_fn(infer_assign_shape)
      .not_differentiable(in_place)
      .kernel_on_all_devices(assign)
      .doc("ref = value.");
  library.op("AssignAdd")
      .input("ref: Ref(T); value: T")
      .output("output_ref: Ref(T)")
      .attr("T: numbertype; use_locking: bool = false")
      .roles({Role::side_effect, Role::flat})
      .shape_fn(shape_merge_inputs)
      .not_differentiable(in_place)
      .cpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::add); },
                  state::updatable("T"))
      .gpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::add); },
                  state::updatable_on_gpu("T"))
      .doc("ref += value.");
  library.op("AssignSub")
      .input("ref: Ref(T); value: T")
      .output("output_ref: Ref(T)")
      .attr("T: numbertype; use_locking: bool = false")
      .roles({Role::side_effect, Role::flat})
      .shape_fn(shape_merge_inputs)
      .not_differentiable(in_place)
      .cpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::sub); },
                  state::updatable("T"))
      .gpu_kernel([](KernelContext& c) { return update(c, arith::BinaryOp::sub); },
                  state::updatable_on_gpu("T"))
      .doc("ref -= value.");
  library.op("IsVariableInitialized")
      .input("ref: Ref(dtype)")
      .output("is_initialized: bool")
      .attr("dtype: type")
      .allows_uninitialized_input()
      .roles(Role::asks_variable)
      .shape_fn(shape_scalar)
      .not_differentiable("its value is true or false")
      .kernel_on_all_devices(is_initialized, {.host_outputs = {"is_initialized"}})
      .doc("Whether the variable holds a value.");
}

} // namespace troupe::state_variable
