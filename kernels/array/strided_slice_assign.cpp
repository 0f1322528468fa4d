// StridedSliceAssign, ResourceStridedSliceAssign: variable[begin:end:stride, …] = value.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/slice_spec.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe {
namespace {

using array::SliceMasks;
using array::SliceSpec;

Result<std::shared_ptr<Variable>> variable_of(KernelContext& c) {
  if (!is_ref(c.io().types.inputs[0]))
    return resource_variable(c, 0);
  const auto& variable = c.input_ref(0);
  if (!variable->is_initialized())
    return failed_precondition("Attempting to use uninitialized value: the variable that is "
                               "assigned to has none. Run its initializer first");
  return variable;
}

Status assign(KernelContext& c) {
  TROUPE_ASSIGN(auto variable, variable_of(c));
  const Tensor& value = c.input(4);
  if (variable->dtype() != value.dtype())
    return invalid_argument(str_cat("l-value dtype ", to_string(variable->dtype()),
                                    " does not match r-value dtype ", to_string(value.dtype())));
  TROUPE_TRY(variable->update([&](Tensor& old) -> Status {
    TROUPE_ASSIGN(const SliceSpec spec,
                  array::read_slice_spec(c, old.shape(), c.prepared<SliceMasks>()));
    TROUPE_ASSIGN(const Shape result, Shape::make(spec.result));
    if (!(value.shape() == result))
      return invalid_argument(str_cat("value of shape ", value.shape(),
                                      " cannot be assigned to a slice of shape ", result));
    if (value.num_elements() == 0)
      return {};
    arith::StridedPlan plan;
    if (!arith::make_slice_plan(old.shape().dims(), spec.begin, spec.strides, spec.sizes, plan))
      return array::too_many_dimensions(old.shape());
    return array::copy_to_strided(c, plan, value, old);
  }));
  if (c.num_outputs() > 0)
    c.set_output_ref(0, std::move(variable));
  return {};
}

Status infer_shape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i)
    TROUPE_TRY(c.require_rank(i, 1));
  return c.num_outputs() > 0 ? c.output_like(0, 0) : Status{};
}

} // namespace

void register_array_strided_slice_assign(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"Index", {DType::int32, DType::int64}}};
  options.prepare = [](PrepareContext& c) -> Result<std::shared_ptr<const void>> {
    TROUPE_ASSIGN(const SliceMasks masks, array::slice_masks(c.attrs()));
    return prepared(masks);
  };
  for (const bool resource : {false, true}) {
    auto op = library.op(resource ? "ResourceStridedSliceAssign" : "StridedSliceAssign");
    op.input(resource ? "ref: resource" : "ref: Ref(T)")
        .input("begin: Index; end: Index; strides: Index; value: T")
        .attr("T: type; Index: {int32, int64}")
        .attr("begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int "
              "= 0; shrink_axis_mask: int = 0")
        .roles(Role::side_effect)
        .shape_fn(infer_shape)
        .not_differentiable("it changes a variable in place")
        .cpu_kernel(assign, options)
        .doc("ref[begin:end:stride, …] = value; the masks are those of StridedSlice.");
    if (resource)
      op.stateful();
    else
      op.output("output_ref: Ref(T)");
  }
}

} // namespace troupe
