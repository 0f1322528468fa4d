// UnsortedSegmentSum: output[s] is the sum of the data whose segment id is s; negative ids are left
// out.
#include <cstring>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/position.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/reduce/internal/join_rows.hpp"
#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_unsorted_segment_sum {
namespace {

using Dims = std::vector<std::int64_t>;

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 0));
  const PartialShape &data = c.input(0), &ids = c.input(1);
  if (!data.has_rank() || !ids.has_rank())
    return {};
  if (ids.rank() > data.rank())
    return invalid_argument(
        str_cat("Shape must be at least rank ", ids.rank(), " but is rank ", data.rank()));
  for (int i = 0; i < ids.rank(); ++i)
    TROUPE_TRY(shape_rules::merge_dims(data.dim(i), ids.dim(i)).status());
  const auto segments = c.input_as_ints(2);
  Dims dims{segments ? (*segments)[0] : -1};
  if (dims[0] < -1 || (segments && dims[0] < 0))
    return invalid_argument(str_cat("Input num_segments == ", dims[0], " must not be negative."));
  dims.insert(dims.end(), data.dims().begin() + ids.rank(), data.dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

// What each element was added to; nothing for negative ids.
Status differentiate(GradContext& g) {
  const Value dy = g.output_grad(0), ids = g.input(1);
  const auto zero = [&](Value like) { return g.scalar_like(like, 0); };
  const Value axis = g.constant(Tensor::scalar<std::int32_t>(0));
  const Value rows = g.op("GatherV2", {dy, g.op("Maximum", {ids, zero(ids)}), axis});
  const Value missing = g.reshape(g.sub(g.op("Rank", {rows}), g.op("Rank", {ids})), g.ints({1}));
  const Value ones = g.op("Fill", {missing, g.constant(Tensor::scalar<std::int32_t>(1))});
  const Value column = g.op("ConcatV2", {g.shape_of(ids), ones, axis}, {{"N", std::int64_t{2}}});
  const Value wanted = g.reshape(g.op("GreaterEqual", {ids, zero(ids)}), column);
  return g.set_input_grad(0, g.op("SelectV2", {wanted, rows, zero(rows)}));
}

/// Adds the rows whose id lies in [begin, end) to those segments.
template <class T, class I>
void add_rows(const T* data, const I* ids, std::int64_t count, std::int64_t inner, T* out,
              std::int64_t begin, std::int64_t end) {
  const reduce::RowJoin<reduce::Join::add, T> join(inner);
  for (std::int64_t r = 0; r < count; ++r) {
    const auto segment = static_cast<std::int64_t>(ids[r]);
    if (segment >= begin && segment < end)
      join.add(data + r * inner, out + segment * inner);
  }
}

template <class T, class I>
Status sum(KernelContext& c, const Tensor& values, std::int64_t segments, std::int64_t inner,
           Tensor& out) {
  const auto ids = c.input(1).data<I>();
  const auto count = static_cast<std::int64_t>(ids.size());
  for (std::size_t r = 0; r < ids.size(); ++r)
    if (ids[r] >= segments)
      return invalid_argument(
          str_cat("segment_ids", position_text(c.input(1).shape(), static_cast<std::int64_t>(r)),
                  " = ", ids[r], " is out of range [0, ", segments, ")"));
  const T* data = values.data<T>().data();
  T* to = out.mutable_data<T>().data();
  // Every part looks at all ids, so parts pay only where the rows are long.
  constexpr std::int64_t long_row = 16;
  if (inner < long_row) {
    add_rows(data, ids.data(), count, inner, to, 0, segments);
    return {};
  }
  const double cost = 0.1 * static_cast<double>(count) * static_cast<double>(inner) /
                      static_cast<double>(std::max<std::int64_t>(segments, 1));
  c.parallel_for(segments, cost, [&](std::int64_t begin, std::int64_t end) {
    add_rows(data, ids.data(), count, inner, to, begin, end);
  });
  return {};
}

Status compute(KernelContext& c) {
  const Shape &data = c.input(0).shape(), &ids = c.input(1).shape();
  if (!c.input(2).shape().is_scalar())
    return invalid_argument(
        str_cat("num_segments should be a scalar, not shape ", c.input(2).shape()));
  bool starts_with = ids.rank() <= data.rank();
  for (int i = 0; starts_with && i < ids.rank(); ++i)
    starts_with = ids[i] == data[i];
  if (!starts_with)
    return invalid_argument(
        str_cat("data.shape = ", data, " does not start with segment_ids.shape = ", ids));
  TROUPE_ASSIGN(const Integers number, integers(c.input(2)));
  const std::int64_t segments = number[0];
  if (segments < 0)
    return invalid_argument(str_cat("Input num_segments == ", segments, " must not be negative."));
  Dims dims{segments};
  std::int64_t inner = 1;
  for (int i = ids.rank(); i < data.rank(); ++i) {
    dims.push_back(data[i]);
    inner *= data[i];
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  if (c.input(0).kind() ==
      MemoryKind::device) // which cannot tell in time of ids beyond the segments
    return gpu::sum_rows(c, c.input(0), c.input(1), shape, inner);
  TROUPE_ASSIGN(const Tensor values, widened(c, c.input(0)));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, shape));
  std::memset(out.mutable_raw(), 0,
              static_cast<std::size_t>(shape.num_elements()) * dtype_size(out.dtype()));
  TROUPE_TRY(dispatch(reduce::Computed{}, out.dtype(), [&]<class T>() -> Status {
    return dispatch(
        Types<std::int32_t, std::int64_t, std::int16_t>{}, c.input(1).dtype(),
        [&]<class I>() -> Status { return sum<T, I>(c, values, segments, inner, out); });
  }));
  return narrow(c, 0, out);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::add)},
                   {"Tindices", {DType::int16, DType::int32, DType::int64}}};
  options.expensive = true;
  library.op("UnsortedSegmentSum")
      .input("data: T; segment_ids: Tindices; num_segments: Tnumsegments")
      .output("output: T")
      .attr("T: numbertype; Tindices: {int16, int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .gpu_kernel(compute,
                  {.types = {{"T", gpu::numbers()}, {"Tindices", {DType::int32, DType::int64}}},
                   .host_inputs = {"num_segments"}})
      .doc("The data summed by segment id; negative ids are left out.");
}

} // namespace troupe::reduce_unsorted_segment_sum
