// Pack: N tensors of one shape along a new dimension. Unpack: the same backwards.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_pack {
namespace {

using array::Dims;

Result<int> normal_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    return invalid_argument(str_cat("axis = ", axis, " not in [", -rank, ", ", rank, ")"));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Status infer_pack(ShapeContext& c) {
  PartialShape merged = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    TROUPE_ASSIGN(merged, shape_rules::merge_shapes(merged, c.input(i)));
  }
  if (!merged.has_rank())
    return {};
  TROUPE_ASSIGN(const int axis,
                normal_axis(c.attrs().get_or("axis", std::int64_t{0}), merged.rank() + 1));
  Dims dims = merged.dims();
  dims.insert(dims.begin() + axis, c.num_inputs());
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status differentiate_pack(GradContext& g) {
  const Value parts = g.op("Unpack", {g.output_grad(0)},
                           {{"num", static_cast<std::int64_t>(g.num_inputs())},
                            {"axis", g.attrs().get_or("axis", std::int64_t{0})}});
  for (int i = 0; i < g.num_inputs(); ++i)
    TROUPE_TRY(g.set_input_grad(i, g.slot(parts, i)));
  return {};
}

Status compute_pack(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const int n = c.num_inputs();
  TROUPE_ASSIGN(const int axis, normal_axis(c.prepared<std::int64_t>(), shape.rank() + 1));
  for (int i = 1; i < n; ++i)
    if (!(c.input(i).shape() == shape))
      return invalid_argument(str_cat("Shapes of all inputs must match: values[0].shape = ", shape,
                                      " != values[", i, "].shape = ", c.input(i).shape()));
  Dims dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + axis, n);
  TROUPE_ASSIGN(const Shape packed, Shape::make(dims));
  if (n == 1)
    return c.set_output(0, c.take_input(0).reshaped(packed));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, packed));
  for (int i = 0; i < n; ++i)
    TROUPE_TRY(array::charge_text(c.input(i), out));
  const auto parts = array::around_axis(packed, axis);
  std::vector<array::Run> runs;
  for (int i = 0; i < n; ++i)
    runs.push_back({c.input(i), parts.inner});
  return array::join_runs(c, runs, parts.outer, out);
}

Status infer_unpack(ShapeContext& c) {
  const PartialShape& value = c.input(0);
  if (!value.has_rank())
    return {};
  TROUPE_ASSIGN(const int axis,
                normal_axis(c.attrs().get_or("axis", std::int64_t{0}), value.rank()));
  TROUPE_TRY(shape_rules::merge_dims(value.dim(axis), c.num_outputs()).status());
  Dims dims = value.dims();
  dims.erase(dims.begin() + axis);
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, PartialShape(dims)));
  return {};
}

Status differentiate_unpack(GradContext& g) {
  std::vector<Value> grads;
  for (int i = 0; i < g.num_outputs(); ++i)
    grads.push_back(array::output_grad_or_zeros(g, i));
  return g.set_input_grad(
      0, g.op("Pack", grads, {{"axis", g.attrs().get_or("axis", std::int64_t{0})}}));
}

Status compute_unpack(KernelContext& c) {
  const Tensor value = c.input(0);
  const int n = c.num_outputs();
  TROUPE_ASSIGN(const int axis, normal_axis(c.prepared<std::int64_t>(), value.shape().rank()));
  if (value.shape()[axis] != n)
    return invalid_argument(
        str_cat("Input shape axis ", axis, " must equal ", n, ", got shape ", value.shape()));
  const Shape shape = value.shape().without(axis);
  const auto parts = array::around_axis(value.shape(), axis);
  for (int i = 0; i < n; ++i) {
    Tensor shared = axis == 0 ? array::shared_rows(value, i, i + 1) : Tensor{};
    if (shared.has_value()) {
      TROUPE_TRY(c.set_output(i, shared.reshaped(shape)));
      continue;
    }
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, shape));
    TROUPE_TRY(array::copy_runs(c, value, i * parts.inner, n * parts.inner, out, 0, parts.inner,
                                parts.outer, parts.inner));
  }
  return {};
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  out.prepare = [](PrepareContext& c) -> Result<std::shared_ptr<const void>> {
    TROUPE_ASSIGN(const std::int64_t axis, c.attr<std::int64_t>("axis"));
    return prepared(axis);
  };
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Pack")
      .input("values: N * T")
      .output("output: T")
      .attr("N: int >= 1; T: type; axis: int = 0")
      .shape_fn(infer_pack)
      .gradient(differentiate_pack)
      .cpu_kernel(compute_pack, options())
      .gpu_kernel(compute_pack, array::on_gpu(options()))
      .host_kernel_on_gpu(compute_pack, array::int32_on_host(options()))
      .doc("N tensors of one shape, stacked along a new dimension.");
  library.op("Unpack")
      .input("value: T")
      .output("output: num * T")
      .attr("num: int >= 0; T: type; axis: int = 0")
      .shape_fn(infer_unpack)
      .gradient(differentiate_unpack)
      .cpu_kernel(compute_unpack, options())
      .gpu_kernel(compute_unpack, array::on_gpu(options()))
      .host_kernel_on_gpu(compute_unpack, array::int32_on_host(options()))
      .doc("The slices along a dimension, each without it.");
}

} // namespace troupe::array_pack
