// ConcatV2 and Concat: tensors one after the other along a dimension. ConcatOffset: where each
// begins.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_concat {
namespace {

using array::Dims;

/// Which inputs are the values, which one the axis.
struct Layout {
  int axis = 0;
  int first = 0;
  int count = 0;
};
Layout layout_v2(int inputs) {
  return {.axis = inputs - 1, .first = 0, .count = inputs - 1};
}
Layout layout_v1(int inputs) {
  return {.axis = 0, .first = 1, .count = inputs - 1};
}

Status infer_concat(ShapeContext& c, const Layout& layout) {
  TROUPE_TRY(c.require_rank(layout.axis, 0));
  int rank = -1;
  for (int i = 0; i < layout.count; ++i)
    if (c.input(layout.first + i).has_rank())
      rank = c.input(layout.first + i).rank();
  if (rank < 0)
    return {};
  const auto axis = c.input_as_ints(layout.axis);
  if (!axis) {
    for (int i = 0; i < layout.count; ++i)
      TROUPE_TRY(c.require_rank(layout.first + i, rank));
    return c.set_output(0, PartialShape(Dims(static_cast<std::size_t>(rank), -1)));
  }
  if ((*axis)[0] < -rank || (*axis)[0] >= rank)
    return invalid_argument(str_cat("ConcatOp : Expected concatenating dimensions in the range [",
                                    -rank, ", ", rank, "), but got ", (*axis)[0]));
  const auto at = static_cast<std::size_t>((*axis)[0] < 0 ? (*axis)[0] + rank : (*axis)[0]);
  PartialShape merged(Dims(static_cast<std::size_t>(rank), -1));
  std::int64_t total = 0;
  for (int i = 0; i < layout.count; ++i) {
    const PartialShape& part = c.input(layout.first + i);
    Dims dims = part.has_rank() ? part.dims() : Dims(static_cast<std::size_t>(rank), -1);
    if (static_cast<int>(dims.size()) != rank)
      return invalid_argument(
          str_cat("Shapes must be equal rank, but are ", rank, " and ", dims.size()));
    TROUPE_ASSIGN(total, shape_rules::add_dims(total, dims[at]));
    dims[at] = -1;
    TROUPE_ASSIGN(merged, shape_rules::merge_shapes(merged, PartialShape(std::move(dims))));
  }
  Dims out = merged.dims();
  out[at] = total;
  return c.set_output(0, PartialShape(std::move(out)));
}

// Each input's part of the gradient, cut out where ConcatOffset says.
Status differentiate(GradContext& g, const Layout& layout) {
  const Value dz = g.output_grad(0);
  std::vector<Value> values;
  for (int i = 0; i < layout.count; ++i)
    values.push_back(g.input(layout.first + i));
  Value axis = g.input(layout.axis);
  if (g.dtype(axis) != DType::int32)
    axis = g.op("Cast", {axis}, {{"DstT", DType::int32}});
  const Value shapes = g.op("ShapeN", values);
  std::vector<Value> offset_inputs{axis};
  for (int i = 0; i < layout.count; ++i)
    offset_inputs.push_back(g.slot(shapes, i));
  const Value offsets = g.op("ConcatOffset", offset_inputs);
  for (int i = 0; i < layout.count; ++i)
    TROUPE_TRY(g.set_input_grad(layout.first + i,
                                g.op("Slice", {dz, g.slot(offsets, i), g.slot(shapes, i)})));
  return {};
}

Result<Shape> concatenated(KernelContext& c, const Layout& layout, int& axis) {
  const Tensor& axis_tensor = c.input(layout.axis);
  TROUPE_ASSIGN(const Integers axes, integers(axis_tensor));
  if (axes.size() != 1)
    return invalid_argument(str_cat(layout.axis == 0 ? "concat_dim" : "axis",
                                    " tensor should be a scalar integer, but got shape ",
                                    axis_tensor.shape()));
  const Shape& first = c.input(layout.first).shape();
  const int rank = first.rank();
  if (rank == 0)
    return invalid_argument("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  if (axes[0] < -rank || axes[0] >= rank)
    return invalid_argument(str_cat("ConcatOp : Expected concatenating dimensions in the range [",
                                    -rank, ", ", rank, "), but got ", axes[0]));
  axis = static_cast<int>(axes[0] < 0 ? axes[0] + rank : axes[0]);
  std::int64_t total = first[axis];
  for (int i = 1; i < layout.count; ++i) {
    const Shape& part = c.input(layout.first + i).shape();
    if (part.rank() != rank)
      return invalid_argument(
          str_cat("ConcatOp : Ranks of all input tensors should match: shape[0] = ", first,
                  " vs. shape[", i, "] = ", part));
    for (int k = 0; k < rank; ++k)
      if (k != axis && part[k] != first[k])
        return invalid_argument(str_cat("ConcatOp : Dimension ", k,
                                        " in both shapes must be equal: shape[0] = ", first,
                                        " vs. shape[", i, "] = ", part));
    TROUPE_ASSIGN(total, shape_rules::add_dims(total, part[axis]));
  }
  Dims dims(first.dims().begin(), first.dims().end());
  dims[static_cast<std::size_t>(axis)] = total;
  return Shape::make(dims);
}

Status compute_concat(KernelContext& c, const Layout& layout) {
  int axis = 0;
  TROUPE_ASSIGN(const Shape shape, concatenated(c, layout, axis));
  for (int i = 0; i < layout.count; ++i) // all the others are empty
    if (c.input(layout.first + i).shape() == shape)
      return c.set_output(0, c.input(layout.first + i));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  for (int i = 0; i < layout.count; ++i)
    TROUPE_TRY(array::charge_text(c.input(layout.first + i), out));
  const auto whole = array::around_axis(shape, axis);
  std::vector<array::Run> runs;
  for (int i = 0; i < layout.count; ++i) {
    const Tensor& part = c.input(layout.first + i);
    runs.push_back({part, part.shape()[axis] * whole.inner});
  }
  return array::join_runs(c, runs, whole.outer, out);
}

Status infer_offsets(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.output_like(i, i + 1));
  return {};
}

Status compute_offsets(KernelContext& c) {
  const int n = c.num_inputs() - 1;
  TROUPE_ASSIGN(const Integers axes, integers(c.input(0)));
  if (axes.size() != 1 || !c.input(0).shape().is_scalar())
    return invalid_argument(str_cat("Concat dim tensor should be a scalar integer, but got shape ",
                                    c.input(0).shape()));
  for (int i = 0; i < n; ++i)
    if (c.input(i + 1).shape().rank() != 1)
      return invalid_argument(
          str_cat("input ", i + 1, " should be a vector, but got shape ", c.input(i + 1).shape()));
  TROUPE_ASSIGN(const Integers first, integers(c.input(1)));
  const auto rank = static_cast<std::int64_t>(first.size());
  const std::int64_t axis = axes[0] < 0 ? axes[0] + rank : axes[0];
  if (axis < 0 || axis >= rank)
    return invalid_argument(str_cat("Concat dim is out of range: ", axes[0], " vs. ", rank));
  std::int64_t offset = 0;
  for (int i = 0; i < n; ++i) {
    TROUPE_ASSIGN(const Integers part, integers(c.input(i + 1)));
    if (part.size() != first.size())
      return invalid_argument(
          str_cat("input ", i, " should contain ", rank, " elements, but got ", part.size()));
    for (std::size_t k = 0; k < part.size(); ++k)
      if (static_cast<std::int64_t>(k) != axis && part[k] != first[k])
        return invalid_argument(str_cat("All dimensions except ", axis, " must match. Input ", i,
                                        " has shape [", str_join(part, " "),
                                        "] and doesn't match input 0 with shape [",
                                        str_join(first, " "), "]."));
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, Shape{rank}));
    TROUPE_TRY(array::fill_with_zeros(c, out));
    TROUPE_TRY(dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
      out.mutable_data<T>()[static_cast<std::size_t>(axis)] = static_cast<T>(offset);
      return {};
    }));
    offset += part[static_cast<std::size_t>(axis)];
  }
  return {};
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ConcatV2")
      .input("values: N * T; axis: Tidx")
      .output("output: T")
      .attr("N: int >= 2; T: type; Tidx: {int32, int64} = DT_INT32")
      .shape_fn([](ShapeContext& c) { return infer_concat(c, layout_v2(c.num_inputs())); })
      .gradient([](GradContext& g) { return differentiate(g, layout_v2(g.num_inputs())); })
      .cpu_kernel([](KernelContext& c) { return compute_concat(c, layout_v2(c.num_inputs())); },
                  options())
      .gpu_kernel([](KernelContext& c) { return compute_concat(c, layout_v2(c.num_inputs())); },
                  array::on_gpu({}, "T", {"axis"}))
      .host_kernel_on_gpu(
          [](KernelContext& c) { return compute_concat(c, layout_v2(c.num_inputs())); },
          array::int32_on_host({}))
      .doc("The values one after the other along a dimension; the other dimensions are equal.");
  library.op("Concat")
      .input("concat_dim: int32; values: N * T")
      .output("output: T")
      .attr("N: int >= 2; T: type")
      .shape_fn([](ShapeContext& c) { return infer_concat(c, layout_v1(c.num_inputs())); })
      .gradient([](GradContext& g) { return differentiate(g, layout_v1(g.num_inputs())); })
      .cpu_kernel([](KernelContext& c) { return compute_concat(c, layout_v1(c.num_inputs())); },
                  options())
      .gpu_kernel([](KernelContext& c) { return compute_concat(c, layout_v1(c.num_inputs())); },
                  array::on_gpu({}, "T", {"concat_dim"}))
      .host_kernel_on_gpu(
          [](KernelContext& c) { return compute_concat(c, layout_v1(c.num_inputs())); },
          array::int32_on_host({}))
      .doc("ConcatV2 with the dimension as its first input.");
  library.op("ConcatOffset")
      .input("concat_dim: int32; shape: N * shape_type")
      .output("offset: N * shape_type")
      .attr("N: int >= 2; shape_type: {int32, int64} = DT_INT32")
      .shape_fn(infer_offsets)
      .not_differentiable("its values are positions")
      .cpu_kernel(compute_offsets)
      .host_kernel_on_gpu(compute_offsets)
      .doc("Where each of N tensors of the given shapes begins in their concatenation.");
}

} // namespace troupe::array_concat
