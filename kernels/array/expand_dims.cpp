// ExpandDims, Squeeze: dimensions of size 1 come and go. EnsureShape: the shape must fit, or else.
#include <algorithm>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_expand_dims {
namespace {

using array::Dims;

Status differentiate(GradContext& g) {
  return g.set_input_grad(0, array::reshape_like(g, g.output_grad(0), g.input(0)));
}

// The dimensions with a 1 before position `axis`.
Result<Dims> expanded(Dims dims, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (axis < -1 - rank || axis > rank)
    return invalid_argument(
        str_cat("Tried to expand dim index ", axis, " for tensor with ", rank, " dimensions."));
  dims.insert(dims.begin() + (axis < 0 ? axis + rank + 1 : axis), 1);
  return dims;
}

Status infer_expand_dims(ShapeContext& c) {
  const auto axis = c.input_as_ints(1);
  if (!c.input(0).has_rank())
    return {};
  if (!axis || axis->size() != 1)
    return c.set_output(0, PartialShape(Dims(c.input(0).dims().size() + 1, -1)));
  TROUPE_ASSIGN(Dims dims, expanded(c.input(0).dims(), (*axis)[0]));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status compute_expand_dims(KernelContext& c) {
  TROUPE_ASSIGN(const Integers axis, integers(c.input(1)));
  if (axis.size() != 1)
    return invalid_argument("'dim' must be a tensor with a single value");
  const auto dims = c.input(0).shape().dims();
  TROUPE_ASSIGN(Dims wanted, expanded(Dims(dims.begin(), dims.end()), axis[0]));
  TROUPE_ASSIGN(Shape shape, Shape::make(wanted));
  return c.set_output(0, c.take_input(0).reshaped(std::move(shape)));
}

// The dimensions without those of size 1, or without the named ones, which must have that size;
// -1 is an unknown one.
Result<Dims> squeezed(const Dims& dims, const Dims& axes) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  std::vector<bool> gone(dims.size(), false);
  for (std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument(
          str_cat("Tried to squeeze dim index ", axis, " for tensor with ", rank, " dimensions."));
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    const std::int64_t dim = dims[static_cast<std::size_t>(at)];
    if (dim != 1 && dim != -1)
      return invalid_argument(
          str_cat("Can not squeeze dim[", at, "], expected a dimension of 1, got ", dim));
    gone[static_cast<std::size_t>(at)] = true;
  }
  Dims out;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (axes.empty() ? dims[i] != 1 : !gone[i])
      out.push_back(dims[i]);
  return out;
}

Status infer_squeeze(ShapeContext& c) {
  TROUPE_ASSIGN(const Dims axes, c.attr<Dims>("squeeze_dims"));
  if (!c.input(0).has_rank())
    return {};
  const Dims& dims = c.input(0).dims();
  if (axes.empty() && std::ranges::find(dims, -1) != dims.end())
    return {};
  TROUPE_ASSIGN(Dims out, squeezed(dims, axes));
  return c.set_output(0, PartialShape(std::move(out)));
}

Status compute_squeeze(KernelContext& c) {
  const auto dims = c.input(0).shape().dims();
  TROUPE_ASSIGN(Dims wanted, squeezed(Dims(dims.begin(), dims.end()), c.prepared<Dims>()));
  TROUPE_ASSIGN(Shape shape, Shape::make(wanted));
  return c.set_output(0, c.take_input(0).reshaped(std::move(shape)));
}

Status infer_ensure_shape(ShapeContext& c) {
  TROUPE_ASSIGN(const PartialShape wanted, c.attr<PartialShape>("shape"));
  auto merged = c.input(0).merge(wanted);
  if (!merged)
    return invalid_argument(str_cat("Shape of tensor input ", c.input(0),
                                    " is not compatible with expected shape ", wanted, "."));
  return c.set_output(0, *std::move(merged));
}

struct Ensured {
  PartialShape shape;
  std::string value; ///< whose it has to be
};

Result<std::shared_ptr<const void>> prepare_ensure_shape(PrepareContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return prepared(Ensured{std::move(shape), std::string(c.first_input())});
}

Status compute_ensure_shape(KernelContext& c) {
  const auto& [wanted, value] = c.prepared<Ensured>();
  if (!wanted.is_compatible_with(c.input(0).shape()))
    return invalid_argument(str_cat("Shape of tensor ", value.empty() ? c.node_name() : value, " ",
                                    c.input(0).shape(), " is not compatible with expected shape ",
                                    wanted, "."));
  return c.set_output(0, c.take_input(0));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ExpandDims")
      .input("input: T; dim: Tdim")
      .output("output: T")
      .attr("T: type; Tdim: {int32, int64} = DT_INT32")
      .shape_fn(infer_expand_dims)
      .gradient(differentiate)
      .cpu_kernel(compute_expand_dims)
      .gpu_kernel(compute_expand_dims, array::on_gpu({}, "T", {"dim"}))
      .host_kernel_on_gpu(compute_expand_dims, array::int32_on_host({}))
      .doc("The same elements with a dimension of size 1 more.");
  KernelOptions squeeze;
  squeeze.prepare = [](PrepareContext& c) -> Result<std::shared_ptr<const void>> {
    TROUPE_ASSIGN(Dims axes, c.attr<Dims>("squeeze_dims"));
    return prepared(std::move(axes));
  };
  library.op("Squeeze")
      .input("input: T")
      .output("output: T")
      .attr("T: type; squeeze_dims: list(int) >= 0 = []")
      .shape_fn(infer_squeeze)
      .gradient(differentiate)
      .cpu_kernel(compute_squeeze, squeeze)
      .gpu_kernel(compute_squeeze, array::on_gpu(squeeze))
      .host_kernel_on_gpu(compute_squeeze, array::int32_on_host(squeeze))
      .doc(
          "The same elements without the dimensions of size 1, or without the named ones of them.");
  KernelOptions ensure;
  ensure.prepare = prepare_ensure_shape;
  library.op("EnsureShape")
      .input("input: T")
      .output("output: T")
      .attr("shape: shape; T: type")
      .roles(Role::check)
      .shape_fn(infer_ensure_shape)
      .gradient([](GradContext& g) { return g.set_input_grad(0, g.output_grad(0)); })
      .cpu_kernel(compute_ensure_shape, ensure)
      .gpu_kernel(compute_ensure_shape, array::on_gpu(ensure))
      .host_kernel_on_gpu(compute_ensure_shape, array::int32_on_host(ensure))
      .doc("The input itself, if its shape fits the attribute; an error otherwise.");
}

} // namespace troupe::array_expand_dims
