// ReduceJoin, UnsortedSegmentJoin: texts of a tensor's dimensions or segments, one after the other.
#include <algorithm>

#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_segment_join {
namespace {

void append(std::string& out, bool is_first, std::string_view separator, std::string_view text) {
  if (!is_first)
    out += separator;
  out += text;
}

Status infer_reduce(ShapeContext& c) {
  const auto axes = c.input_as_ints(1);
  if (!axes || !c.input(0).has_rank())
    return c.set_output(0, PartialShape());
  const bool keep = c.attrs().get_or("keep_dims", false);
  const int rank = c.input(0).rank();
  std::vector<bool> is_reduced(static_cast<std::size_t>(rank));
  for (std::int64_t axis : *axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument(
          str_cat("Invalid reduction dimension ", axis, " for input with ", rank, " dimension(s)"));
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  std::vector<std::int64_t> dims;
  for (int i = 0; i < rank; ++i)
    if (!is_reduced[static_cast<std::size_t>(i)])
      dims.push_back(c.input(0).dim(i));
    else if (keep)
      dims.push_back(1);
  return c.set_output(0, PartialShape(std::move(dims)));
}

struct Axes {
  std::vector<int> reduced; ///< the last one goes fastest
  std::vector<int> kept;
};

Result<Axes> axes_of(const Tensor& input, const Tensor& indices) {
  const int rank = input.shape().rank();
  Axes out;
  std::vector<bool> is_reduced(static_cast<std::size_t>(rank));
  for (std::int32_t index : indices.data<std::int32_t>()) {
    if (index < -rank || index >= rank)
      return out_of_range(str_cat("Invalid reduction dimension ", index, " for input with ", rank,
                                  " dimension(s)"));
    const int axis = index < 0 ? index + rank : index;
    if (is_reduced[static_cast<std::size_t>(axis)])
      return invalid_argument(str_cat("Duplicate reduction dimension ", index));
    is_reduced[static_cast<std::size_t>(axis)] = true;
    out.reduced.push_back(axis);
  }
  std::ranges::reverse(out.reduced); // the first one named goes fastest
  for (int axis = 0; axis < rank; ++axis)
    if (!is_reduced[static_cast<std::size_t>(axis)])
      out.kept.push_back(axis);
  return out;
}

/// The element's offset whose place along `axes`, the last one fastest, is number `index`.
std::int64_t offset(const Shape& shape, const std::vector<int>& axes, std::int64_t index) {
  std::int64_t out = 0;
  for (std::size_t a = axes.size(); a > 0; --a) {
    std::int64_t stride = 1;
    for (int i = axes[a - 1] + 1; i < shape.rank(); ++i)
      stride *= shape.dim(i);
    const std::int64_t dim = shape.dim(axes[a - 1]);
    out += index % dim * stride;
    index /= dim;
  }
  return out;
}

Status reduce(KernelContext& c) {
  const Tensor& input = c.input(0);
  TROUPE_ASSIGN(const Axes axes, axes_of(input, c.input(1)));
  const bool keep = c.attrs().get_or("keep_dims", false);
  const auto separator = c.attrs().get_or<std::string>("separator", "");
  std::vector<std::int64_t> dims;
  std::int64_t joined = 1;
  for (int i = 0; i < input.shape().rank(); ++i) {
    const bool is_kept = std::ranges::find(axes.kept, i) != axes.kept.end();
    joined *= is_kept ? 1 : input.shape().dim(i);
    if (is_kept || keep)
      dims.push_back(is_kept ? input.shape().dim(i) : 1);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const auto from = input.data<std::string>();
  const auto to = out.mutable_data<std::string>();
  for (std::int64_t o = 0; o < shape.num_elements(); ++o) {
    const std::int64_t first = joined > 0 ? offset(input.shape(), axes.kept, o) : 0;
    for (std::int64_t i = 0; i < joined; ++i)
      append(to[static_cast<std::size_t>(o)], i == 0, separator,
             from[static_cast<std::size_t>(first + offset(input.shape(), axes.reduced, i))]);
  }
  return {};
}

Status infer_segments(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 0));
  const auto count = c.input_as_ints(2);
  const PartialShape &input = c.input(0), &ids = c.input(1);
  if (!input.has_rank() || !ids.has_rank() || ids.rank() > input.rank())
    return c.set_output(0, PartialShape());
  std::vector<std::int64_t> dims{count && (*count)[0] >= 0 ? (*count)[0] : -1};
  dims.insert(dims.end(), input.dims().begin() + ids.rank(), input.dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

Result<Shape> shape_of_segments(const Shape& input, const Shape& ids, const Tensor& count) {
  if (count.num_elements() == 0)
    return invalid_argument("Number of segments cannot be empty.");
  if (!count.shape().is_scalar())
    return invalid_argument("Number of segments must be a scalar");
  TROUPE_ASSIGN(const Integers segments, integers(count));
  if (segments[0] < 0)
    return invalid_argument(
        str_cat("Number of segments must be non-negative but got ", segments[0]));
  if (ids.rank() == 0)
    return invalid_argument("Segment_id cannot have rank 0");
  if (ids.rank() > input.rank())
    return out_of_range(str_cat("Invalid segment_id rank ", ids.rank(), " for input with ",
                                input.rank(), " dimension(s)"));
  std::vector<std::int64_t> dims{segments[0]};
  for (int i = 0; i < input.rank(); ++i)
    if (i >= ids.rank())
      dims.push_back(input.dim(i));
    else if (ids.dim(i) != input.dim(i))
      return invalid_argument(str_cat("Segment dimension is ", ids.dim(i),
                                      " while input dimension is ", input.rank(), " in rank ", i));
  return Shape::make(dims);
}

Status join_segments(KernelContext& c) {
  const Tensor& input = c.input(0);
  TROUPE_ASSIGN(const Shape shape,
                shape_of_segments(input.shape(), c.input(1).shape(), c.input(2)));
  TROUPE_ASSIGN(const Integers ids, integers(c.input(1)));
  const auto separator = c.attrs().get_or<std::string>("separator", "");
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const std::int64_t segments = shape.dim(0);
  for (std::int64_t id : ids)
    if (id < 0 || id >= segments)
      return invalid_argument(
          "segment_ids are not allowed to exceed num_segments or to have negative values.");
  const auto from = input.data<std::string>();
  const auto to = out.mutable_data<std::string>();
  const std::size_t row = ids.empty() ? 0 : from.size() / ids.size();
  // No separator stands before the first text that is not empty.
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto segment = static_cast<std::size_t>(ids[i]);
    for (std::size_t k = 0; k < row; ++k) {
      std::string& joined = to[segment * row + k];
      append(joined, joined.empty(), separator, from[i * row + k]);
    }
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ReduceJoin")
      .input("inputs: string; reduction_indices: int32")
      .output("output: string")
      .attr("keep_dims: bool = false; separator: string = ''")
      .shape_fn(infer_reduce)
      .not_differentiable("its value is text")
      .cpu_kernel(reduce)
      .doc("Joins the texts along dimensions, the first one named fastest, with `separator` "
           "between.");
  library.op("UnsortedSegmentJoin")
      .input("inputs: string; segment_ids: Tindices; num_segments: Tnumsegments")
      .output("output: string")
      .attr("separator: string = ''; Tindices: {int32, int64}; "
            "Tnumsegments: {int32, int64} = DT_INT32")
      .shape_fn(infer_segments)
      .not_differentiable("its value is text")
      .cpu_kernel(join_segments)
      .doc("Joins the texts of each segment, with `separator` between.");
}

} // namespace troupe::strings_segment_join
