// QuantizedConcat: quantised numbers of several ranges one after the other, over a range that holds
// them all.
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_concat {
namespace {

using array::Dims;
using quantized::Range;

int parts_of(int inputs) {
  return (inputs - 1) / 3;
}

Status infer(ShapeContext& c) {
  const int parts = parts_of(c.num_inputs());
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(quantized::infer_ranges(c, parts + 1, c.num_inputs()));
  int rank = -1;
  for (int i = 1; i <= parts; ++i)
    if (c.input(i).has_rank())
      rank = c.input(i).rank();
  if (rank == 0)
    return invalid_argument("Can't concatenate scalars (use tf.stack instead)");
  if (rank < 0)
    return {};
  for (int i = 1; i <= parts; ++i)
    TROUPE_TRY(c.require_rank(i, rank));
  PartialShape merged(Dims(static_cast<std::size_t>(rank), -1));
  const auto axes = c.input_as_ints(0);
  if (!axes)
    return c.set_output(0, merged);
  const std::int64_t axis = (*axes)[0] < 0 ? (*axes)[0] + rank : (*axes)[0];
  if (axis < 0 || axis >= rank)
    return invalid_argument(str_cat("Shape must be at least rank ",
                                    axis < 0 ? -(*axes)[0] : axis + 1, " but is rank ", rank));
  const auto at = static_cast<std::size_t>(axis);
  std::int64_t total = 0;
  for (int i = 1; i <= parts; ++i) {
    Dims dims =
        c.input(i).has_rank() ? c.input(i).dims() : Dims(static_cast<std::size_t>(rank), -1);
    TROUPE_ASSIGN(total, shape_rules::add_dims(total, dims[at]));
    dims[at] = -1;
    TROUPE_ASSIGN(merged, shape_rules::merge_shapes(merged, PartialShape(std::move(dims))));
  }
  Dims out = merged.dims();
  out[at] = total;
  return c.set_output(0, PartialShape(std::move(out)));
}

Result<Shape> concatenated(KernelContext& c, int parts, int& axis) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(str_cat("Concat dim tensor should be a scalar integer, but got shape ",
                                    c.input(0).shape()));
  const auto wanted = c.input(0).value<std::int32_t>();
  const Shape& first = c.input(1).shape();
  if (wanted < 0 || wanted >= first.rank())
    return invalid_argument(
        str_cat("ConcatOp : Expected concatenating dimensions in the range [0, ", first.rank(),
                "), but got ", wanted));
  axis = wanted;
  std::int64_t total = 0;
  for (int i = 0; i < parts; ++i) {
    const Shape& part = c.input(i + 1).shape();
    if (part.rank() != first.rank())
      return invalid_argument(
          str_cat("ConcatOp : Ranks of all input tensors should match: shape[0] = ", first,
                  " vs. shape[", i, "] = ", part));
    for (int k = 0; k < first.rank(); ++k)
      if (k != axis && part[k] != first[k])
        return invalid_argument(str_cat("ConcatOp : Dimensions of inputs should match: shape[0] = ",
                                        first, " vs. shape[", i, "] = ", part));
    TROUPE_ASSIGN(total, shape_rules::add_dims(total, part[axis]));
  }
  Dims dims(first.dims().begin(), first.dims().end());
  dims[static_cast<std::size_t>(axis)] = total;
  return Shape::make(dims);
}

Result<std::vector<Range>> ranges_of(KernelContext& c, int parts) {
  std::vector<Range> out(static_cast<std::size_t>(parts));
  for (const bool most : {false, true})
    for (int i = 0; i < parts; ++i) {
      const Tensor& bound = c.input(1 + (most ? 2 : 1) * parts + i);
      if (bound.num_elements() != 1)
        return invalid_argument(str_cat(most ? "input_maxes" : "input_mins",
                                        " each tensor's num elements must be 1, given num "
                                        "elements ",
                                        bound.num_elements(), " in index ", i));
      Range& range = out[static_cast<std::size_t>(i)];
      (most ? range.most : range.least) = bound.data<float>()[0];
    }
  return out;
}

/// Holds all of them and zero; around zero for integers with a sign.
Range joined(const std::vector<Range>& ranges, bool is_signed) {
  Range out = ranges[0];
  for (const Range& range : ranges)
    out = {std::min(out.least, range.least), std::max(out.most, range.most)};
  out.least = std::min(0.0F, out.least);
  if (!is_signed)
    return out;
  const float most = std::max(std::abs(out.least), std::abs(out.most));
  return {-most, most};
}

Status compute(KernelContext& c) {
  const int parts = parts_of(c.num_inputs());
  int axis = 0;
  TROUPE_ASSIGN(const auto ranges, ranges_of(c, parts));
  TROUPE_ASSIGN(const Shape shape, concatenated(c, parts, axis));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const Range whole = joined(ranges, out.dtype() == DType::qint32);
  const auto around = array::around_axis(shape, axis);
  const std::int64_t row = around.middle * around.inner;
  TROUPE_TRY(dispatch(Types<QUInt8, QInt32>{}, out.dtype(), [&]<class Q>() -> Status {
    Q* to = out.mutable_data<Q>().data();
    for (int i = 0; i < parts && out.num_elements() > 0; ++i) {
      const Tensor& part = c.input(i + 1);
      const Range range = ranges[static_cast<std::size_t>(i)];
      const std::int64_t n = part.shape()[axis] * around.inner;
      const quantized::ToFloats<Q> floats(range);
      const quantized::FromFloats<Q> integers(whole);
      const bool same = range.least == whole.least && range.most == whole.most;
      const Q* from = part.data<Q>().data();
      c.parallel_for(
          around.outer, 2.0 * static_cast<double>(n), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t o = begin; o < end; ++o)
              for (std::int64_t k = 0; k < n; ++k)
                to[o * row + k] = same ? from[o * n + k] : integers(floats(from[o * n + k]));
          });
      to += n;
    }
    return {};
  }));
  return quantized::set_range(c, 1, whole);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::quint8, DType::qint32}}};
  library.op("QuantizedConcat")
      .input("concat_dim: int32; values: N * T; input_mins: N * float; input_maxes: N * float")
      .output("output: T; output_min: float; output_max: float")
      .attr("N: int >= 2; T: type")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute, options)
      .doc("Quantised numbers one after the other, over a range that holds them all.");
}

} // namespace troupe::quantized_concat
