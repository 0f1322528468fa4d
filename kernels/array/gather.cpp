// GatherV2, Gather: slices of params along an axis, named by indices.
#include <atomic>

#include "kernels/arith/lookup.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/position.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::array_gather {
namespace {

using array::Dims;

/// params[:axis] + indices[batch:] + params[axis + 1:]
Dims result_dims(std::span<const std::int64_t> params, std::span<const std::int64_t> indices,
                 std::size_t axis, std::size_t batch) {
  Dims out(params.begin(), params.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices.begin() + static_cast<std::ptrdiff_t>(batch), indices.end());
  out.insert(out.end(), params.begin() + static_cast<std::ptrdiff_t>(axis) + 1, params.end());
  return out;
}

Status infer(ShapeContext& c, std::optional<std::int64_t> axis, std::int64_t batch) {
  const PartialShape &params = c.input(0), &indices = c.input(1);
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  if (axis && params.has_rank() && (*axis < -params.rank() || *axis >= params.rank()))
    return invalid_argument(str_cat("Shape must be at least rank ",
                                    *axis < 0 ? 0 - static_cast<std::uint64_t>(*axis)
                                              : static_cast<std::uint64_t>(*axis) + 1,
                                    " but is rank ", params.rank()));
  if (!params.has_rank() || !indices.has_rank())
    return {};
  if (batch < 0)
    batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch >= params.rank())
    return invalid_argument(str_cat("batch_dims = ", batch,
                                    " must be at most the rank of indices (", indices.rank(),
                                    ") and less than the rank of params (", params.rank(), ")"));
  const auto rank = static_cast<std::size_t>(params.rank() - 1 + indices.rank() - batch);
  if (!axis)
    return c.set_output(0, PartialShape(Dims(rank, -1)));
  const std::int64_t at = *axis < 0 ? *axis + params.rank() : *axis;
  if (at < batch)
    return invalid_argument(
        str_cat("batch_dims = ", batch, " must be less than or equal to axis = ", at));
  return c.set_output(
      0, PartialShape(result_dims(params.dims(), indices.dims(), static_cast<std::size_t>(at),
                                  static_cast<std::size_t>(batch))));
}

Status infer_v2(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 0));
  const auto axis = c.input_as_ints(2);
  return infer(c, axis ? std::optional((*axis)[0]) : std::nullopt,
               c.attrs().get_or("batch_dims", std::int64_t{0}));
}

Value piece(GradContext& g, Value vector, Value begin, Value size) {
  return g.op("Slice", {vector, begin, size});
}

// With the axis in front: the rows of the gradient summed by index. The permutation is made at run
// time, for the axis is an input; where it changes nothing, Transpose moves nothing.
Status differentiate(GradContext& g, Value axis) {
  const Value params = g.input(0), indices = g.input(1);
  const Value shape = array::shape_vector(g, params);
  const Value rank = g.op("Rank", {params});
  if (g.dtype(axis) != DType::int32)
    axis = g.op("Cast", {axis}, {{"DstT", DType::int32}});
  axis = g.op("FloorMod", {g.reshape(axis, g.ints({1})), rank});
  const Value scalar_axis = g.reshape(axis, g.constant(Tensor::make(DType::int32, Shape{0})));
  const Value one = array::int_scalar(g, 1), next = g.add(scalar_axis, one);
  const Value flat_indices = g.reshape(indices, g.ints({-1}));
  const Value count = g.reshape(g.op("Size", {indices}), g.ints({1}));
  const Value rows_shape =
      g.op("ConcatV2",
           {piece(g, shape, g.ints({0}), axis), count,
            piece(g, shape, g.add(axis, one), g.ints({-1})), array::int_scalar(g, 0)},
           {{"N", std::int64_t{3}}});
  const Value perm = g.op("ConcatV2",
                          {axis, g.op("Range", {array::int_scalar(g, 0), scalar_axis, one}),
                           g.op("Range", {next, rank, one}), array::int_scalar(g, 0)},
                          {{"N", std::int64_t{3}}});
  const Value rows = g.op("Transpose", {g.reshape(g.output_grad(0), rows_shape), perm});
  const Value limit = g.reshape(piece(g, shape, axis, g.ints({1})),
                                g.constant(Tensor::make(DType::int32, Shape{0})));
  const Value sums = g.op("UnsortedSegmentSum", {rows, flat_indices, limit});
  return g.set_input_grad(0, g.op("Transpose", {sums, g.op("InvertPermutation", {perm})}));
}

// With batch dimensions: everything is seen as [batch, outer, axis, inner]. The rows of all batches
// are summed at once; those of batch b have the indices from b times the axis' size on.
Status differentiate_batched(GradContext& g, Value axis, std::int64_t batch) {
  const Value params = g.input(0), indices = g.input(1);
  const Value shape = array::shape_vector(g, params), index_shape = array::shape_vector(g, indices);
  const auto vector = [&](Value scalar) { return g.reshape(scalar, g.ints({1})); };
  const auto join = [&](std::initializer_list<Value> parts) {
    std::vector<Value> inputs(parts);
    inputs.push_back(array::int_scalar(g, 0));
    return g.op("ConcatV2", inputs, {{"N", static_cast<std::int64_t>(parts.size())}});
  };
  const auto product = [&](Value sizes) {
    return g.op("Prod", {sizes, g.ints({0})}, {{"keep_dims", true}});
  };
  if (g.dtype(axis) != DType::int32)
    axis = g.op("Cast", {axis}, {{"DstT", DType::int32}});
  axis = g.op("FloorMod", {vector(axis), vector(g.op("Rank", {params}))});
  Value first = g.ints({static_cast<int>(batch)}); // dimension after those of the batch
  if (batch < 0)
    first = g.add(first, vector(g.op("Rank", {indices})));
  const Value one = g.ints({1}), all = g.ints({-1});
  const Value batches = product(piece(g, shape, g.ints({0}), first));
  const Value outer = product(piece(g, shape, first, g.sub(axis, first)));
  const Value size = piece(g, shape, axis, one);
  const Value inner = product(piece(g, shape, g.add(axis, one), all));
  const Value count = product(piece(g, index_shape, first, all));
  const Value swap = g.ints({0, 2, 1, 3});
  const Value rows =
      g.op("Transpose", {g.reshape(g.output_grad(0), join({batches, outer, count, inner})), swap});
  const Value scalar_shape = g.constant(Tensor::make(DType::int32, Shape{0}));
  Value begins = g.op("Range", {array::int_scalar(g, 0), g.reshape(batches, scalar_shape),
                                array::int_scalar(g, 1)});
  begins = g.reshape(g.mul(begins, size), g.ints({-1, 1}));
  if (g.dtype(indices) != DType::int32)
    begins = g.op("Cast", {begins}, {{"DstT", g.dtype(indices)}});
  const Value ids = g.add(g.reshape(indices, join({batches, count})), begins);
  const Value sums = g.op("UnsortedSegmentSum",
                          {g.reshape(rows, join({g.mul(batches, count), outer, inner})),
                           g.reshape(ids, all), g.reshape(g.mul(batches, size), scalar_shape)});
  const Value moved =
      g.op("Transpose", {g.reshape(sums, join({batches, size, outer, inner})), swap});
  return g.set_input_grad(0, g.reshape(moved, shape));
}

Status differentiate_v2(GradContext& g) {
  const auto batch = g.attrs().get_or("batch_dims", std::int64_t{0});
  return batch == 0 ? differentiate(g, g.input(2)) : differentiate_batched(g, g.input(2), batch);
}

Status check_indices(const Tensor& indices, std::int64_t limit) {
  TROUPE_ASSIGN(const auto type, arith::index_type(indices.dtype()));
  const std::int64_t bad =
      arith::find_bad_index(type, indices.raw(), 0, indices.num_elements(), limit);
  if (bad < 0)
    return {};
  const Tensor one = indices.reshaped(Shape{indices.num_elements()}).rows(bad, bad + 1);
  TROUPE_ASSIGN(const Integers value, integers(one));
  return invalid_argument(str_cat("indices", position_text(indices.shape(), bad), " = ", value[0],
                                  " is not in [0, ", limit, ")"));
}

// Rows of objects, one by one.
Status gather_objects(const Tensor& params, std::span<const std::int64_t> indices,
                      std::int64_t outer, std::int64_t limit, std::int64_t inner,
                      std::int64_t batches, Tensor& out) {
  const auto count = static_cast<std::int64_t>(indices.size()) / std::max<std::int64_t>(batches, 1);
  const auto for_each_row = [&](auto visit) {
    std::int64_t to = 0;
    for (std::int64_t b = 0; b < batches; ++b)
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t k = 0; k < count; ++k, to += inner)
          visit(((b * outer + o) * limit + indices[static_cast<std::size_t>(b * count + k)]) *
                    inner,
                to);
  };
  std::size_t bytes = 0;
  for_each_row(
      [&](std::int64_t from, std::int64_t) { bytes += array::text_bytes(params, from, inner); });
  TROUPE_TRY(out.charge(bytes));
  for_each_row([&](std::int64_t from, std::int64_t to) {
    array::copy_elements(params, from, out, to, inner);
  });
  return {};
}

Status gather(KernelContext& c, std::int64_t axis, std::int64_t batch) {
  const Tensor& params = c.input(0);
  Tensor indices = c.input(1);
  const int rank = params.shape().rank();
  if (rank < 1)
    return invalid_argument("params must be at least 1 dimensional");
  if (axis < -rank || axis >= rank)
    return invalid_argument(str_cat("Shape must be at least rank ", axis < 0 ? -axis : axis + 1,
                                    " but is rank ", rank));
  axis = axis < 0 ? axis + rank : axis;
  const int most = indices.shape().rank();
  if (batch < -most || batch > most)
    return invalid_argument(
        str_cat("Expected batch_dims in the range [", -most, ", ", most, "], but got ", batch));
  batch = batch < 0 ? batch + most : batch;
  if (batch >= rank)
    return invalid_argument(
        str_cat("batch_dims (", batch, ") must be less than rank(params) (", rank, ")."));
  if (batch > axis)
    return invalid_argument(
        str_cat("batch_dims (", batch, ") must be less than or equal to axis (", axis, ")."));
  std::int64_t batches = 1;
  for (int i = 0; i < batch; ++i) {
    if (params.shape()[i] != indices.shape()[i])
      return invalid_argument(str_cat("params.shape[", i, "]: ", params.shape()[i],
                                      " should be equal to indices.shape[", i,
                                      "]: ", indices.shape()[i]));
    batches *= indices.shape()[i];
  }
  const auto parts = array::around_axis(params.shape(), static_cast<int>(axis));
  TROUPE_ASSIGN(
      const Shape shape,
      Shape::make(result_dims(params.shape().dims(), indices.shape().dims(),
                              static_cast<std::size_t>(axis), static_cast<std::size_t>(batch))));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0) // nothing is looked up
    return {};
  if (out.kind() == MemoryKind::device) // which cannot tell in time of what is no index
    return gpu::gather_rows(c, params, indices, out, batches, parts.outer / batches, parts.middle,
                            parts.inner);
  TROUPE_ASSIGN(indices, widened(c, indices)); // of int16
  TROUPE_TRY(check_indices(indices, parts.middle));
  const std::int64_t outer = parts.outer / batches;
  if (is_object(params.dtype())) {
    TROUPE_ASSIGN(const Integers all, integers(indices));
    return gather_objects(params, all, outer, parts.middle, parts.inner, batches, out);
  }
  TROUPE_ASSIGN(const auto index_type, arith::index_type(indices.dtype()));
  const std::int64_t row = parts.inner * static_cast<std::int64_t>(dtype_size(params.dtype()));
  const std::int64_t count = indices.num_elements() / batches;
  const auto index_size = static_cast<std::int64_t>(dtype_size(indices.dtype()));
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto* from = static_cast<const std::byte*>(params.raw()) + b * outer * parts.middle * row;
    const auto* which = static_cast<const std::byte*>(indices.raw()) + b * count * index_size;
    auto* to = static_cast<std::byte*>(out.mutable_raw()) + b * outer * count * row;
    c.parallel_for(outer * count, 2 + 0.1 * static_cast<double>(row),
                   [&](std::int64_t begin, std::int64_t end) {
                     arith::gather_rows(index_type, from, parts.middle, row, which, count, to,
                                        begin, end);
                   });
  }
  return {};
}

Status compute_v2(KernelContext& c) {
  if (c.input(0).shape().is_scalar())
    return invalid_argument("params must be at least 1 dimensional");
  if (!c.input(2).shape().is_scalar())
    return invalid_argument(str_cat("axis must be scalar, but got shape ", c.input(2).shape()));
  TROUPE_ASSIGN(const Integers axis, integers(c.input(2)));
  return gather(c, axis[0], c.attrs().get_or("batch_dims", std::int64_t{0}));
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"Tindices", {DType::int32, DType::int64, DType::int16}}};
  out.expensive = true;
  return out;
}

KernelOptions gpu_options() {
  return {.types = {{"Tindices", {DType::int32, DType::int64}}}};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("GatherV2")
      .input("params: Tparams; indices: Tindices; axis: Taxis")
      .output("output: Tparams")
      .attr("batch_dims: int = 0; Tparams: type; Tindices: {int16, int32, int64}")
      .attr("Taxis: {int32, int64}")
      .shape_fn(infer_v2)
      .gradient(differentiate_v2)
      .cpu_kernel(compute_v2, options())
      .gpu_kernel(compute_v2, array::on_gpu(gpu_options(), "Tparams", {"axis"}))
      .host_kernel_on_gpu(compute_v2, array::int32_on_host(options(), "Tparams"))
      .doc("The slices of params along an axis that the indices name; leading batch dimensions are "
           "shared by both.");
  library.op("Gather")
      .input("params: Tparams; indices: Tindices")
      .output("output: Tparams")
      .attr("validate_indices: bool = true; Tparams: type; Tindices: {int32, int64}")
      .shape_fn([](ShapeContext& c) { return infer(c, 0, 0); })
      .gradient([](GradContext& g) { return differentiate(g, array::int_scalar(g, 0)); })
      .cpu_kernel([](KernelContext& c) { return gather(c, 0, 0); }, options())
      .gpu_kernel([](KernelContext& c) { return gather(c, 0, 0); },
                  array::on_gpu(gpu_options(), "Tparams"))
      .doc("The rows of params that the indices name.");
}

} // namespace troupe::array_gather
