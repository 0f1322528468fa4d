// SparseSlice, its gradient, SparseSplit and SparseConcat: parts of sparse tensors, cut and joined.
#include <algorithm>
#include <map>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/wrapping.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_pieces {
namespace {

using sparse::Dims;
using sparse::Sparse;

/// Entries of a part, and their indices in it.
struct Part {
  Dims order, indices;
};

Status give_part(KernelContext& c, const Part& part, const Sparse& from, const Dims& shape,
                 int index_output, int value_output, int shape_output) {
  TROUPE_ASSIGN(Tensor indices,
                c.allocate_output(index_output,
                                  Shape{static_cast<std::int64_t>(part.order.size()), from.rank}));
  std::ranges::copy(part.indices, indices.mutable_data<std::int64_t>().begin());
  TROUPE_TRY(sparse::take(c, value_output, *from.values, part.order));
  return sparse::give(c, shape_output, shape);
}

/// "Input indices should be a matrix but received shape [3]", and of several inputs " at position
/// 1".
Status check_rank(const Tensor& t, int rank, std::string_view what, std::string_view where = "") {
  if (t.shape().rank() == rank)
    return {};
  return invalid_argument(str_cat("Input ", what, " but received shape ", t.shape(), where));
}

Result<std::span<const std::int64_t>> bounds(const Tensor& t, std::string_view name,
                                             std::int64_t rank) {
  TROUPE_TRY(check_rank(t, 1, str_cat(name, " should be a vector")));
  if (t.shape()[0] != rank)
    return invalid_argument(str_cat("Expected ", name, " to be a vector of length ", rank,
                                    " but got length ", t.shape()[0]));
  return t.data<std::int64_t>();
}

Status compute_slice(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse s, sparse::sparse_input(c, 0));
  TROUPE_TRY(sparse::check_shape(s.shape));
  TROUPE_ASSIGN(const auto start, bounds(c.input(3), "start", s.rank));
  TROUPE_ASSIGN(const auto size, bounds(c.input(4), "size", s.rank));
  Dims shape(start.size()), end(start.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (size[d] < 0)
      return invalid_argument(str_cat("Expected a non-negative size, got ", size[d]));
    if (__builtin_add_overflow(start[d], size[d], &end[d]))
      end[d] = std::numeric_limits<std::int64_t>::max();
    std::int64_t left = 0;
    if (__builtin_sub_overflow(s.shape[d], start[d], &left))
      left = size[d];
    shape[d] = std::clamp<std::int64_t>(left, 0, size[d]);
  }
  Part part;
  for (std::int64_t i = 0; i < s.entries; ++i) {
    const auto at = s.index(i);
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d)
      inside = inside && at[d] >= start[d] && at[d] < end[d];
    if (!inside)
      continue;
    part.order.push_back(i);
    for (std::size_t d = 0; d < at.size(); ++d)
      part.indices.push_back(at[d] - start[d]);
  }
  return give_part(c, part, s, shape, 0, 1, 2);
}

/// Entries that are in the slice get the gradient of theirs; both are sorted alike.
Status compute_slice_grad(KernelContext& c) {
  const Tensor &grad = c.input(0), &in = c.input(1), &start = c.input(2), &out = c.input(3);
  if (in.shape().rank() != 2 || out.shape().rank() != 2)
    return invalid_argument(
        str_cat("Input and output indices should be matrices but received shapes: ", in.shape(),
                " and ", out.shape()));
  if (grad.shape().rank() != 1)
    return invalid_argument(
        str_cat("Input backprop_val_grad should be a vector but received shape: ", grad.shape()));
  if (start.shape().rank() != 1)
    return invalid_argument(
        str_cat("The input_start should be a vector but received shape ", start.shape()));
  const std::int64_t rank = in.shape()[1];
  if (out.shape()[1] != rank)
    return invalid_argument(str_cat("The input and output should have the same ndims: got: ", rank,
                                    " and ", out.shape()[1]));
  if (in.shape()[0] < out.shape()[0])
    return invalid_argument(str_cat("# rows of output_indices should be not greater than of "
                                    "input_indices, got ",
                                    out.shape()[0], " and ", in.shape()[0]));
  if (grad.shape()[0] != out.shape()[0])
    return invalid_argument(str_cat("# elements of backprop_val_grad and # rows of "
                                    "output_indices should match (#nnz of sum): got ",
                                    grad.shape()[0], " and ", out.shape()[0]));
  if (start.shape()[0] != rank)
    return invalid_argument(str_cat("Expected input_start to be a vector of length ", rank,
                                    " but got length ", start.shape()[0]));
  const auto from = out.data<std::int64_t>(), all = in.data<std::int64_t>();
  std::map<Dims, std::int64_t> found;
  for (std::int64_t i = 0; i < out.shape()[0]; ++i) {
    Dims at(from.begin() + i * rank, from.begin() + (i + 1) * rank);
    for (std::size_t d = 0; d < at.size(); ++d)
      at[d] = add_wrapping(at[d], start.data<std::int64_t>()[d]); // nobody has checked them
    found.emplace(std::move(at), i);
  }
  Dims order;
  std::int64_t used = 0;
  for (std::int64_t i = 0; i < in.shape()[0]; ++i) {
    const auto it = found.find(Dims(all.begin() + i * rank, all.begin() + (i + 1) * rank));
    order.push_back(it == found.end() ? -1 : it->second);
    used += it == found.end() ? 0 : 1;
  }
  if (used < grad.shape()[0])
    return internal(str_cat("Elements of backprop_val_grad aren't all propagated. Num elements:",
                            grad.shape()[0], ", used: ", used));
  TROUPE_ASSIGN(Tensor zero, c.allocate_temp(grad.dtype(), Shape{}));
  std::fill_n(static_cast<std::byte*>(zero.mutable_raw()), zero.byte_size(), std::byte{0});
  return sparse::take(c, 0, grad, order, &zero);
}

/// The first parts are longer by one where the division leaves a rest.
Status compute_split(KernelContext& c) {
  TROUPE_ASSIGN(const std::int64_t parts, c.attr<std::int64_t>("num_split"));
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("Input axis should be a scalar but received shape ", c.input(0).shape()));
  TROUPE_TRY(check_rank(c.input(1), 2, "indices should be a matrix"));
  TROUPE_TRY(check_rank(c.input(2), 1, "values should be a vector"));
  TROUPE_TRY(check_rank(c.input(3), 1, "shape should be a vector"));
  TROUPE_ASSIGN(const Sparse s, sparse::sparse_input(c, 1));
  TROUPE_TRY(sparse::check_bounds(s));
  std::int64_t axis = c.input(0).value<std::int64_t>();
  if (axis < -s.rank || axis >= s.rank)
    return invalid_argument(
        str_cat("Input axis should be in range [", -s.rank, ", ", s.rank, "), got ", axis));
  axis = axis < 0 ? axis + s.rank : axis;
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t extent = s.shape[a];
  if (parts < 1 || parts > extent)
    return invalid_argument(str_cat("Input num_split should be between 1 and the splitting "
                                    "dimension size (",
                                    extent, "), got ", parts));
  const std::int64_t size = extent / parts, longer = extent % parts;
  const std::int64_t in_longer = longer * (size + 1);
  const auto part_of = [&](std::int64_t x) {
    return x < in_longer ? x / (size + 1) : longer + (x - in_longer) / size;
  };
  // The entries part by part: where each part ends, and which they are.
  Dims which(static_cast<std::size_t>(s.entries)), order(which.size());
  Dims ends(static_cast<std::size_t>(parts) + 1, 0);
  const std::int64_t* from = s.indices.data();
  for (std::int64_t i = 0; i < s.entries; ++i) {
    const std::int64_t part = part_of(from[i * s.rank + axis]);
    which[static_cast<std::size_t>(i)] = part;
    ++ends[static_cast<std::size_t>(part) + 1];
  }
  for (std::size_t p = 1; p < ends.size(); ++p)
    ends[p] += ends[p - 1];
  for (std::int64_t i = 0; i < s.entries; ++i) {
    std::int64_t& end = ends[static_cast<std::size_t>(which[static_cast<std::size_t>(i)])];
    order[static_cast<std::size_t>(end++)] = i;
  }
  for (int p = 0; p < parts; ++p) {
    const std::int64_t first = p == 0 ? 0 : ends[static_cast<std::size_t>(p) - 1];
    const auto mine = std::span(order).subspan(
        static_cast<std::size_t>(first),
        static_cast<std::size_t>(ends[static_cast<std::size_t>(p)] - first));
    const std::int64_t start = p < longer ? p * (size + 1) : in_longer + (p - longer) * size;
    const int n = static_cast<int>(parts);
    TROUPE_ASSIGN(Tensor indices,
                  c.allocate_output(p, Shape{static_cast<std::int64_t>(mine.size()), s.rank}));
    std::int64_t* to = indices.mutable_data<std::int64_t>().data();
    for (const std::int64_t i : mine) {
      std::copy_n(from + i * s.rank, s.rank, to);
      to[axis] -= start;
      to += s.rank;
    }
    TROUPE_TRY(sparse::take(c, n + p, *s.values, mine));
    Dims shape(s.shape.begin(), s.shape.end());
    shape[a] = size + (p < longer ? 1 : 0);
    TROUPE_TRY(sparse::give(c, 2 * n + p, shape));
  }
  return {};
}

/// INTERNAL unless a dense tensor of this shape could have its elements counted.
Status check_countable(std::span<const std::int64_t> shape) {
  if (!Shape::make(shape).ok())
    return internal("Encountered overflow from large input shape.");
  return {};
}

Result<std::vector<Sparse>> inputs_of_concat(KernelContext& c, std::int64_t& axis) {
  const int n = c.num_inputs() / 3;
  const auto place = [](int i) { return str_cat(" at position ", i); };
  for (int i = 0; i < n; ++i)
    TROUPE_TRY(check_rank(c.input(i), 2, "indices should be a matrix", place(i)));
  for (int i = 0; i < n; ++i)
    TROUPE_TRY(check_rank(c.input(n + i), 1, "values should be a vector", place(i)));
  for (int i = 0; i < n; ++i)
    TROUPE_TRY(check_rank(c.input(2 * n + i), 1, "shapes should be a vector", place(i)));
  const auto first = c.input(2 * n).data<std::int64_t>();
  const auto rank = static_cast<std::int64_t>(first.size());
  if (axis < -rank || axis >= rank)
    return invalid_argument(
        str_cat("Concat dimension must be in range [", -rank, ", ", rank, "), got ", axis));
  axis = axis < 0 ? axis + rank : axis;
  TROUPE_TRY(check_countable(first));
  for (int i = 1; i < n; ++i) {
    const auto shape = c.input(2 * n + i).data<std::int64_t>();
    if (shape.size() != first.size())
      return invalid_argument(str_cat("Ranks of all input tensors must match: expected ", rank,
                                      " but got ", shape.size(), place(i)));
    TROUPE_TRY(check_countable(shape));
    for (std::int64_t d = 0; d < rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (d != axis && shape[at] != first[at])
        return invalid_argument(str_cat("Input shapes must match: expected ", first[at],
                                        " for dimension ", d, " but got ", shape[at], place(i)));
    }
  }
  std::vector<Sparse> out;
  for (int i = 0; i < n; ++i) {
    TROUPE_ASSIGN(const Sparse s,
                  sparse::sparse_tensor(c.input(i), c.input(n + i), c.input(2 * n + i)));
    out.push_back(s);
  }
  return out;
}

Status compute_concat(KernelContext& c) {
  TROUPE_ASSIGN(std::int64_t axis, c.attr<std::int64_t>("concat_dim"));
  TROUPE_ASSIGN(const std::vector<Sparse> all, inputs_of_concat(c, axis));
  const auto a = static_cast<std::size_t>(axis);
  struct Entry {
    Dims index;
    std::size_t tensor;
    std::int64_t at;
  };
  std::vector<Entry> entries;
  Dims shape(all[0].shape.begin(), all[0].shape.end());
  shape[a] = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (std::int64_t i = 0; i < all[k].entries; ++i) {
      Entry e{Dims(all[k].index(i).begin(), all[k].index(i).end()), k, i};
      e.index[a] = add_wrapping(e.index[a], shape[a]);
      entries.push_back(std::move(e));
    }
    TROUPE_ASSIGN(shape[a], shape_rules::add_dims(shape[a], all[k].shape[a]));
  }
  std::ranges::stable_sort(entries,
                           [](const Entry& x, const Entry& y) { return x.index < y.index; });
  TROUPE_TRY(sparse::give(c, 2, shape));
  const auto count = static_cast<std::int64_t>(entries.size());
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{count, all[0].rank}));
  TROUPE_ASSIGN(Tensor values, c.allocate_output(1, Shape{count}));
  auto to = indices.mutable_data<std::int64_t>().begin();
  for (const Entry& e : entries)
    to = std::ranges::copy(e.index, to).out;
  const auto copy_objects = [&]<class T>() -> Status {
    for (std::size_t i = 0; i < entries.size(); ++i)
      values.mutable_data<T>()[i] =
          all[entries[i].tensor]
              .values->template data<T>()[static_cast<std::size_t>(entries[i].at)];
    return {};
  };
  if (is_object(values.dtype()))
    return dispatch(Types<std::string, ResourceHandle, Variant>{}, values.dtype(), copy_objects);
  const std::size_t size = dtype_size(values.dtype());
  for (std::size_t i = 0; i < entries.size(); ++i)
    std::copy_n(static_cast<const std::byte*>(all[entries[i].tensor].values->raw()) +
                    static_cast<std::size_t>(entries[i].at) * size,
                size, static_cast<std::byte*>(values.mutable_raw()) + i * size);
  return {};
}

Status infer_slice(ShapeContext& c) {
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.require_rank(1, 1));
  for (int i : {2, 3, 4})
    TROUPE_TRY(c.require_rank(i, 1));
  TROUPE_TRY(c.set_output(0, {-1, indices[1]}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.output_like(2, 2);
}

Status infer_slice_grad(ShapeContext& c) {
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 1, 2));
  return c.set_output(0, {indices[0]});
}

Status infer_split(ShapeContext& c) {
  TROUPE_ASSIGN(const std::int64_t parts, c.attr<std::int64_t>("num_split"));
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 1, 2));
  const int n = static_cast<int>(parts);
  for (int p = 0; p < n; ++p) {
    TROUPE_TRY(c.set_output(p, {-1, indices[1]}));
    TROUPE_TRY(c.set_output(n + p, {-1}));
    TROUPE_TRY(c.output_like(2 * n + p, 3));
  }
  return {};
}

Status infer_concat(ShapeContext& c) {
  const int n = c.num_inputs() / 3;
  std::int64_t entries = 0, rank = shape_rules::unknown_dim;
  for (int i = 0; i < n; ++i) {
    TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, i, 2));
    TROUPE_TRY(c.require_rank(n + i, 1));
    TROUPE_TRY(c.require_rank(2 * n + i, 1));
    TROUPE_ASSIGN(entries, shape_rules::add_dims(entries, indices[0]));
    if (indices[1] >= 0)
      rank = indices[1];
  }
  TROUPE_TRY(c.set_output(0, {entries, rank}));
  TROUPE_TRY(c.set_output(1, {entries}));
  return c.set_output(2, {rank});
}

constexpr auto no_gradient = "its gradient is made where graphs are written";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SparseSlice")
      .input("indices: int64; values: T; shape: int64; start: int64; size: int64")
      .output("output_indices: int64; output_values: T; output_shape: int64")
      .attr("T: type")
      .shape_fn(infer_slice)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_slice)
      .doc("The entries in a box of a sparse tensor.");
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::add)}};
  library.op("SparseSliceGrad")
      .input("backprop_val_grad: T; input_indices: int64; input_start: int64; "
             "output_indices: int64")
      .output("val_grad: T")
      .attr("T: numbertype")
      .shape_fn(infer_slice_grad)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_slice_grad, options)
      .doc("The gradient of SparseSlice.");
  library.op("SparseSplit")
      .input("split_dim: int64; indices: int64; values: T; shape: int64")
      .output("output_indices: num_split * int64; output_values: num_split * T; "
              "output_shape: num_split * int64")
      .attr("num_split: int >= 1; T: type")
      .shape_fn(infer_split)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_split)
      .doc("Cuts a sparse tensor along a dimension.");
  library.op("SparseConcat")
      .input("indices: N * int64; values: N * T; shapes: N * int64")
      .output("output_indices: int64; output_values: T; output_shape: int64")
      .attr("concat_dim: int; N: int >= 2; T: type")
      .shape_fn(infer_concat)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_concat)
      .doc("Joins sparse tensors along a dimension.");
}

} // namespace troupe::sparse_pieces
