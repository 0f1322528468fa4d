// TemporaryVariable, DestroyTemporaryVariable: a variable that one step makes, changes and ends.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::state_temporary_variable {
namespace {

/// Of a loop each iteration has its own.
std::string name_in(const KernelContext& c, const std::string& name) {
  return str_cat(name, ";", c.frame_id, ":", c.iteration);
}

Result<std::shared_ptr<const void>> keep_name(PrepareContext& c) {
  std::string name = c.attrs().get_or("var_name", std::string());
  return prepared(name.empty() ? std::string(c.node_name()) : std::move(name));
}

Status make(KernelContext& c) {
  const auto& name = c.prepared<std::string>();
  TROUPE_ASSIGN(const auto partial, c.attr<PartialShape>("shape"));
  const auto shape = partial.to_shape();
  if (!shape)
    return invalid_argument(
        str_cat("the shape of a temporary variable must be known, it is ", partial));
  const DType dtype = remove_ref(c.output_type(0));
  TROUPE_ASSIGN(Tensor value, c.allocate_temp(dtype, *shape));
  if (!is_object(dtype) && value.num_elements() > 0)
    std::fill_n(static_cast<std::byte*>(value.mutable_raw()), value.byte_size(), std::byte{0});
  bool is_new = false;
  TROUPE_ASSIGN(auto variable,
                c.step().step_resources->lookup_or_create<Variable>("", name_in(c, name), [&] {
                  is_new = true;
                  return Result<std::shared_ptr<Variable>>(std::make_shared<Variable>(dtype));
                }));
  if (!is_new)
    return already_exists(str_cat("Resource ", name,
                                  " exists already: two temporary variables of "
                                  "one step need two values of var_name"));
  variable->assign(std::move(value));
  c.set_output_ref(0, std::move(variable));
  return {};
}

Status destroy(KernelContext& c) {
  const auto& name = c.prepared<std::string>();
  Tensor value = c.input_ref(0)->snapshot();
  TROUPE_TRY(c.step().step_resources->remove<Variable>("", name_in(c, name)));
  return c.set_output(0, std::move(value));
}

Status shape_of_attr(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return c.set_output(0, std::move(shape));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TemporaryVariable")
      .output("ref: Ref(dtype)")
      .attr("shape: shape; dtype: type; var_name: string = ''")
      .stateful()
      .shape_fn(shape_of_attr)
      .not_differentiable("it has no inputs")
      .cpu_kernel(make, {.prepare = keep_name})
      .doc("A variable of this step, which ends at its DestroyTemporaryVariable.");
  library.op("DestroyTemporaryVariable")
      .input("ref: Ref(T)")
      .output("value: T")
      .attr("T: type; var_name: string")
      .roles(Role::side_effect)
      .shape_fn(shape_unchanged)
      .not_differentiable("it ends a variable")
      .cpu_kernel(destroy, {.prepare = keep_name})
      .doc("The last value of the temporary variable var_name, which ends.");
}

} // namespace troupe::state_temporary_variable
