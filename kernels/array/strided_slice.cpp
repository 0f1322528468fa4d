// StridedSlice: x[begin:end:stride, …, newaxis, 3] as Python writes it. StridedSliceGrad: zeros
// with dy at the places that such a slice takes.
#include "graph/op/grad_context.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/slice_spec.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_strided_slice {
namespace {

using array::SliceMasks;
using array::SliceSpec;

constexpr auto mask_attrs =
    "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; "
    "shrink_axis_mask: int = 0";

Status infer_slice(ShapeContext& c) {
  for (int i = 1; i < 4; ++i)
    TROUPE_TRY(c.require_rank(i, 1));
  const auto begin = c.input_as_ints(1), end = c.input_as_ints(2), strides = c.input_as_ints(3);
  if (!c.input(0).has_rank() || !strides)
    return {};
  if ((begin && begin->size() != strides->size()) || (end && end->size() != strides->size()))
    return invalid_argument(str_cat("Expected begin, end, and strides to be 1D equal size tensors, "
                                    "but got shapes ",
                                    c.input(1), ", ", c.input(2), ", and ", c.input(3),
                                    " instead."));
  TROUPE_ASSIGN(const SliceMasks masks, array::slice_masks(c.attrs()));
  TROUPE_ASSIGN(SliceSpec spec,
                array::make_slice_spec(c.input(0).dims(), begin, end, *strides, masks));
  return c.set_output(0, PartialShape(std::move(spec.result)));
}

AttrMap masks_of(GradContext& g) {
  AttrMap out;
  for (const char* name :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"})
    out.set(name, g.attrs().get_or(name, std::int64_t{0}));
  return out;
}

Status differentiate_slice(GradContext& g) {
  const Value begin = g.input(1);
  if (g.dtype(begin) != DType::int32 && g.dtype(begin) != DType::int64)
    return unimplemented(str_cat("the gradient of a StridedSlice with indices of dtype ",
                                 to_string(g.dtype(begin)), " is not defined: cast them to int32"));
  const Value shape = g.op("Shape", {g.input(0)}, {{"out_type", g.dtype(begin)}});
  return g.set_input_grad(0, g.op("StridedSliceGrad",
                                  {shape, begin, g.input(2), g.input(3), g.output_grad(0)},
                                  masks_of(g)));
}

/// The rows of a slice that is whole in every dimension but the first; nothing for other slices.
Tensor as_rows(const Tensor& x, const SliceSpec& spec) {
  if (x.shape().rank() == 0 || spec.strides[0] != 1)
    return {};
  for (int i = 1; i < x.shape().rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (spec.strides[k] != 1 || spec.sizes[k] != x.shape()[i])
      return {};
  }
  return array::shared_rows(x, spec.begin[0], spec.begin[0] + spec.sizes[0]);
}

Status compute_slice(KernelContext& c) {
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(const SliceSpec spec,
                array::read_slice_spec(c, x.shape(), c.prepared<SliceMasks>()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(spec.result));
  if (spec.is_whole)
    return c.set_output(0, x.reshaped(shape));
  if (const Tensor rows = as_rows(x, spec); rows.has_value())
    return c.set_output(0, rows.reshaped(shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(x.shape().dims(), spec.begin, spec.strides, spec.sizes, plan))
    return array::too_many_dimensions(x.shape());
  return array::copy_from_strided(c, plan, x, out);
}

Status infer_slice_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

Status differentiate_slice_grad(GradContext& g) {
  return g.set_input_grad(
      4, g.op("StridedSlice", {g.output_grad(0), g.input(1), g.input(2), g.input(3)}, masks_of(g)));
}

Status compute_slice_grad(KernelContext& c) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(str_cat("shape must be 1-D, got shape.shape = ", c.input(0).shape()));
  TROUPE_ASSIGN(const Integers dims, integers(c.input(0)));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  const Tensor& dy = c.input(4);
  TROUPE_ASSIGN(const SliceSpec spec, array::read_slice_spec(c, shape, c.prepared<SliceMasks>()));
  TROUPE_ASSIGN(const Shape result, Shape::make(spec.result));
  if (!(dy.shape() == result))
    return invalid_argument(str_cat("shape of dy was ", dy.shape(), " instead of ", result));
  if (spec.is_whole)
    return c.set_output(0, dy.reshaped(shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  if (dy.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(shape.dims(), spec.begin, spec.strides, spec.sizes, plan))
    return array::too_many_dimensions(shape);
  return array::copy_to_strided(c, plan, dy, out);
}

KernelOptions options(std::vector<DType> index_types) {
  KernelOptions out;
  out.types = {{"Index", std::move(index_types)}};
  out.expensive = true;
  out.prepare = [](PrepareContext& c) -> Result<std::shared_ptr<const void>> {
    TROUPE_ASSIGN(const SliceMasks masks, array::slice_masks(c.attrs()));
    return prepared(masks);
  };
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StridedSlice")
      .input("input: T; begin: Index; end: Index; strides: Index")
      .output("output: T")
      .attr("T: type; Index: {int16, int32, int64}")
      .attr(mask_attrs)
      .shape_fn(infer_slice)
      .gradient(differentiate_slice)
      .cpu_kernel(compute_slice, options({DType::int16, DType::int32, DType::int64}))
      .gpu_kernel(compute_slice, array::on_gpu(options({DType::int32, DType::int64}), "T",
                                               {"begin", "end", "strides"}))
      .host_kernel_on_gpu(compute_slice,
                          array::int32_on_host(options({DType::int32, DType::int64})))
      .doc("What Python's x[begin:end:stride, …] takes; the masks say where an index is left out, "
           "an ellipsis, a new axis or a single number.");
  library.op("StridedSliceGrad")
      .input("shape: Index; begin: Index; end: Index; strides: Index; dy: T")
      .output("output: T")
      .attr("T: type; Index: {int32, int64}")
      .attr(mask_attrs)
      .shape_fn(infer_slice_grad)
      .gradient(differentiate_slice_grad)
      .cpu_kernel(compute_slice_grad, options({DType::int32, DType::int64}))
      .gpu_kernel(compute_slice_grad, array::on_gpu(options({DType::int32, DType::int64}), "T",
                                                    {"shape", "begin", "end", "strides"}))
      .doc("Zeros of the given shape with dy at the places that the slice takes.");
}

} // namespace troupe::array_strided_slice
