// StridedSliceAssign, ResourceStridedSliceAssign: variable[begin:end:stride, …] = value, which is
// broadcast. TensorStridedSliceUpdate: the same in a copy of a tensor.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/slice_spec.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::array_strided_slice_assign {
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

/// The value in the slice's shape; axes of length 1 ahead of it may be missing or too many.
Result<Tensor> spread(KernelContext& c, const Tensor& value, const Shape& shape) {
  const auto mismatch = [&] {
    return invalid_argument(
        str_cat("Cannot broadcast input shape ", value.shape(), " into final shape ", shape));
  };
  array::Dims from(value.shape().dims().begin(), value.shape().dims().end());
  while (static_cast<int>(from.size()) > shape.rank() && from[0] == 1)
    from.erase(from.begin());
  if (static_cast<int>(from.size()) > shape.rank())
    return mismatch();
  from.insert(from.begin(), static_cast<std::size_t>(shape.rank()) - from.size(), 1);
  for (int d = 0; d < shape.rank(); ++d)
    if (from[static_cast<std::size_t>(d)] != 1 && from[static_cast<std::size_t>(d)] != shape[d])
      return mismatch();
  if (value.num_elements() == shape.num_elements())
    return value.reshaped(shape);
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(value.dtype(), shape));
  if (value.num_elements() == 1) {
    TROUPE_TRY(array::fill(c, value, out));
    return out;
  }
  TROUPE_TRY(out.charge(array::text_bytes(value, 0, value.num_elements()) *
                        static_cast<std::size_t>(shape.num_elements())));
  c.serial_for(shape.num_elements(), 20, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t left = i, at = 0, stride = 1;
      for (int d = shape.rank(); d-- > 0; left /= shape[d]) {
        const std::int64_t dim = from[static_cast<std::size_t>(d)];
        at += dim == 1 ? 0 : left % shape[d] * stride;
        stride *= dim;
      }
      array::copy_elements(value, at, out, i, 1);
    }
  });
  return out;
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
    if (result.num_elements() == 0)
      return {};
    TROUPE_ASSIGN(const Tensor spread_value, spread(c, value, result));
    arith::StridedPlan plan;
    if (!arith::make_slice_plan(old.shape().dims(), spec.begin, spec.strides, spec.sizes, plan))
      return array::too_many_dimensions(old.shape());
    return array::copy_to_strided(c, plan, spread_value, old);
  }));
  if (c.num_outputs() > 0)
    c.set_output_ref(0, std::move(variable));
  return {};
}

Status update(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(const SliceSpec spec, array::read_slice_spec(c, shape, c.prepared<SliceMasks>()));
  TROUPE_ASSIGN(const Shape slice, Shape::make(spec.result));
  Tensor value;
  if (slice.num_elements() > 0) {
    TROUPE_ASSIGN(value, spread(c, c.input(4), slice));
  }
  Tensor old = c.take_input(0);
  const bool is_ours = old.is_unique();
  Tensor out = old;
  if (!is_ours) {
    TROUPE_ASSIGN(out, c.allocate_output(0, shape));
    TROUPE_TRY(array::charge_text(old, out));
    array::copy_elements(old, 0, out, 0, old.num_elements());
  }
  old = Tensor();
  TROUPE_TRY(c.set_output(0, out));
  if (slice.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(shape.dims(), spec.begin, spec.strides, spec.sizes, plan))
    return array::too_many_dimensions(shape);
  return array::copy_to_strided(c, plan, value, out);
}

Status infer_shape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i)
    TROUPE_TRY(c.require_rank(i, 1));
  return c.num_outputs() > 0 ? c.output_like(0, 0) : Status{};
}

} // namespace

void register_ops(OpLibrary& library) {
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
  library.op("TensorStridedSliceUpdate")
      .input("input: T; begin: Index; end: Index; strides: Index; value: T")
      .output("output: T")
      .attr("T: type; Index: {int32, int64}")
      .attr("begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = "
            "0; shrink_axis_mask: int = 0")
      .shape_fn(infer_shape)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(update, options)
      .doc("A copy of input in which input[begin:end:stride, …] is value.");
}

} // namespace troupe::array_strided_slice_assign
