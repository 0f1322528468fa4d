// GatherNd: output[i] = params[indices[i]], where an index names leading dimensions of params.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/nd_index.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/scatter_nd.hpp"

namespace troupe::array_gather_nd {
namespace {

using array::Dims;

Status infer_shape(ShapeContext& c) {
  const PartialShape &params = c.input(0), &indices = c.input(1);
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  if (!params.has_rank() || !indices.has_rank() || indices.dim(indices.rank() - 1) < 0)
    return {};
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank())
    return invalid_argument(str_cat("indices.shape[-1] must be <= params.rank, but saw indices "
                                    "shape: ",
                                    indices, " and params shape: ", params));
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), params.dims().begin() + depth, params.dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status differentiate(GradContext& g) {
  const Value shape = array::shape_vector_as(g, g.input(0), g.input(1));
  return g.set_input_grad(0, g.op("ScatterNd", {g.input(1), g.output_grad(0), shape}));
}

Status check(const Shape& params, const Shape& indices) {
  if (params.rank() < 1)
    return invalid_argument("params must be at least a vector");
  if (indices.rank() < 1)
    return invalid_argument("indices must be at least a vector");
  const std::int64_t depth = indices[indices.rank() - 1];
  if (depth > params.rank())
    return invalid_argument(
        str_cat("index innermost dimension length must be <= params rank; saw: ", depth, " vs. ",
                params.rank()));
  return {};
}

Status copy_objects(KernelContext& c, const array::NdIndex& index, Tensor& out) {
  const Tensor& params = c.input(0);
  if (index.bad >= 0)
    TROUPE_TRY(array::fill_with_zeros(c, out));
  std::size_t bytes = 0;
  for (std::int64_t at : index.where)
    bytes += at < 0 ? 0 : array::text_bytes(params, at * index.row, index.row);
  TROUPE_TRY(out.charge(bytes));
  c.parallel_for(static_cast<std::int64_t>(index.where.size()),
                 2 + 0.1 * static_cast<double>(index.row),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     if (const auto at = index.where[static_cast<std::size_t>(i)]; at >= 0)
                       array::copy_elements(params, at * index.row, out, i * index.row, index.row);
                 });
  return {};
}

Status compute(KernelContext& c) {
  const Tensor &params = c.input(0), &indices = c.input(1);
  TROUPE_TRY(check(params.shape(), indices.shape()));
  TROUPE_ASSIGN(const bool ignore,
                ignores_bad_indices(c.attrs().get_or("bad_indices_policy", std::string())));
  Dims dims(indices.shape().dims().begin(), indices.shape().dims().end() - 1);
  const auto depth = static_cast<int>(indices.shape()[indices.shape().rank() - 1]);
  std::int64_t row = 1;
  for (int i = depth; i < params.shape().rank(); ++i) {
    dims.push_back(params.shape()[i]);
    row *= params.shape()[i];
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  std::int64_t count = 1;
  for (int i = 0; i + 1 < indices.shape().rank(); ++i)
    count *= indices.shape()[i];
  if (count > 0 && params.num_elements() == 0)
    return invalid_argument(str_cat(
        "Requested more than 0 entries, but params is empty.  Params shape: ", params.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (count == 0)
    return {};
  array::NdIndex index;
  if (is_object(params.dtype())) {
    TROUPE_ASSIGN(index, array::read_nd_index(indices, params.shape()));
  } else {
    index.bad = gather_nd_rows(c, params, indices, row, ignore, out);
  }
  if (index.bad >= 0 && !ignore)
    return invalid_argument(str_cat(array::nd_index_text(indices, index.bad),
                                    " does not index into param shape ", params.shape(),
                                    ", node name: ", c.node_name()));
  return is_object(params.dtype()) ? copy_objects(c, index, out) : Status();
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"Tindices", {DType::int16, DType::int32, DType::int64}}};
  options.expensive = true;
  library.op("GatherNd")
      .input("params: Tparams; indices: Tindices")
      .output("output: Tparams")
      .attr("Tparams: type; Tindices: {int16, int32, int64}; bad_indices_policy: string = ''")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .doc("The slices of params that the indices name by leading dimensions.");
}

} // namespace troupe::array_gather_nd
