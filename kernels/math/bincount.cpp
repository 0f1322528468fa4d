// Bincount, DenseBincount, RaggedBincount, SparseBincount: how often each number comes, or the sum
// of its weights; of matrices, row by row. Numbers of `size` or more are not counted.
#include <algorithm>
#include <span>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::math_bincount {
namespace {

using Dims = std::vector<std::int64_t>;
using Weights = Types<float, double, std::int32_t, std::int64_t>;

/// One number for each value: which row it counts for. Empty: all for the only one.
using RowOf = std::vector<std::int64_t>;

Result<std::int64_t> read_size(KernelContext& c, int i) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(
        str_cat("Shape must be rank 0 but is rank ", c.input(i).shape().rank()));
  TROUPE_ASSIGN(const Integers size, integers(c.input(i)));
  if (size[0] < 0)
    return invalid_argument(str_cat("size (", size[0], ") must be non-negative"));
  return size[0];
}

/// Adds what each value weighs to the bin of its row; true if one is negative, which counts
/// nowhere.
template <class I, class T>
bool count_into(std::span<const I> values, const RowOf& rows, std::span<const T> weights,
                bool binary, std::int64_t size, T* to) {
  I signs = 0;
  // A negative number is larger than any size if it is taken as one without a sign.
  const auto is_counted = [&](I value) {
    signs |= value;
    return static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(size);
  };
  if (rows.empty() && weights.empty() && !binary) {
    for (I value : values)
      if (is_counted(value))
        to[value] = static_cast<T>(to[value] + T(1));
    return signs < 0;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_counted(values[i]))
      continue;
    T& bin = to[(rows.empty() ? 0 : rows[i]) * size + values[i]];
    bin = binary ? T(1) : static_cast<T>(bin + (weights.empty() ? T(1) : weights[i]));
  }
  return signs < 0;
}

/// Counts into output 0, of `shape`, whose last dimension is `size`. INVALID_ARGUMENT with what
/// `refused` says if a value is negative.
template <class Refused>
Status count(KernelContext& c, const Tensor& values, const RowOf& rows, const Tensor& weights,
             std::int64_t size, const Shape& shape, Refused refused) {
  const bool binary = c.attrs().get_or("binary_output", false);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  return dispatch(Weights{}, out.dtype(), [&]<class T>() -> Status {
    T* to = out.mutable_data<T>().data();
    std::fill_n(to, out.num_elements(), T(0));
    return dispatch(Indices{}, values.dtype(), [&]<class I>() -> Status {
      const auto in = values.data<I>();
      if (!count_into<I, T>(in, rows, weights.data<T>(), binary, size, to))
        return {};
      const auto at = std::ranges::find_if(in, [](I x) { return x < 0; });
      return invalid_argument(refused(at == in.end() ? -1 : static_cast<std::int64_t>(*at)));
    });
  });
}

/// The same words whatever the value is.
auto always(std::string_view words) {
  return [words](std::int64_t) { return std::string(words); };
}

Status check_weights(const Tensor& weights, const Shape& like, std::string_view name) {
  if (weights.num_elements() > 0 && weights.shape() != like)
    return invalid_argument(str_cat("`weights` must be the same shape as `", name,
                                    "` or a length-0 `Tensor`, in which case it acts as all "
                                    "weights equal to 1. Received ",
                                    weights.shape()));
  return {};
}

Status compute_flat(KernelContext& c) {
  TROUPE_ASSIGN(const std::int64_t size, read_size(c, 1));
  const Tensor& weights = c.input(2);
  if (weights.num_elements() > 0 && weights.num_elements() != c.input(0).num_elements())
    return invalid_argument("Input indices and weights must have the same size.");
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims{size}));
  return count(c, c.input(0), {}, weights, size, shape, always("Input arr must be non-negative!"));
}

Status compute_dense(KernelContext& c) {
  const Tensor &x = c.input(0), &weights = c.input(2);
  if (x.shape().rank() > 2)
    return invalid_argument(str_cat("Shape must be at most rank 2 but is rank ", x.shape().rank()));
  TROUPE_ASSIGN(const std::int64_t size, read_size(c, 1));
  TROUPE_TRY(check_weights(weights, x.shape(), "arr"));
  const bool matrix = x.shape().rank() == 2;
  RowOf rows;
  Dims dims{size};
  if (matrix) {
    dims.insert(dims.begin(), x.shape()[0]);
    rows.reserve(static_cast<std::size_t>(x.num_elements()));
    for (std::int64_t row = 0; x.num_elements() > 0 && row < x.shape()[0]; ++row)
      rows.insert(rows.end(), static_cast<std::size_t>(x.shape()[1]), row);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  return count(c, x, rows, weights, size, shape, [matrix](std::int64_t value) {
    return matrix ? str_cat("Input 'in' must be non-negative! Negative input value found: ", value)
                  : std::string("Input arr must be non-negative!");
  });
}

Status compute_ragged(KernelContext& c) {
  const Tensor &values = c.input(1), &weights = c.input(3);
  TROUPE_ASSIGN(const Integers splits, integers(c.input(0)));
  TROUPE_ASSIGN(const std::int64_t size, read_size(c, 2));
  if (splits.empty())
    return invalid_argument("Splits must be non-empty");
  if (splits[0] != 0)
    return invalid_argument(str_cat("Splits must start with 0, not with ", splits[0]));
  const std::int64_t total = values.num_elements();
  if (splits[splits.size() - 1] != total)
    return invalid_argument(str_cat("Splits must end with the number of values, got ",
                                    splits[splits.size() - 1], " instead of ", total));
  // Their order counts, not their shape.
  if (weights.num_elements() != total)
    TROUPE_TRY(check_weights(weights, values.shape(), "values"));
  RowOf rows(static_cast<std::size_t>(total));
  std::int64_t row = 0;
  for (std::int64_t i = 0; i < total; ++i) {
    while (splits[static_cast<std::size_t>(row) + 1] <= i)
      ++row;
    rows[static_cast<std::size_t>(i)] = row;
  }
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(Dims{static_cast<std::int64_t>(splits.size()) - 1, size}));
  return count(c, values, rows, weights, size, shape, always("Input must be non-negative"));
}

/// Each value's row, the first of its two coordinates.
Result<RowOf> sparse_rows(const Shape& indices, const Integers& places, const Integers& shape) {
  RowOf rows;
  const std::int64_t depth = indices[1];
  for (std::int64_t i = 0; i < indices[0]; ++i) {
    const std::int64_t* at = places.begin() + i * depth;
    for (std::int64_t k = 0; k < depth; ++k)
      if (at[k] < 0 || at[k] >= shape[static_cast<std::size_t>(k)])
        return invalid_argument(str_cat(
            "Sparse index tuple indices[", i, ", :] = [",
            str_join(std::span(at, static_cast<std::size_t>(depth)), ", "), "] is out of bounds"));
    if (depth == 2)
      rows.push_back(at[0]);
  }
  return rows;
}

Status compute_sparse(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &weights = c.input(4);
  if (indices.shape().rank() != 2)
    return invalid_argument(
        str_cat("Sparse indices must be rank 2 but is rank ", indices.shape().rank()));
  if (indices.shape()[0] != values.num_elements())
    return invalid_argument(str_cat("Number of elements in indices (", indices.shape()[0],
                                    ") and values (", values.num_elements(), ") do not match"));
  TROUPE_ASSIGN(const Integers dense, integers(c.input(2)));
  if (indices.shape()[1] != static_cast<std::int64_t>(dense.size()))
    return invalid_argument(str_cat("Index rank (", indices.shape()[1], ") and shape rank (",
                                    dense.size(), ") do not match"));
  if (dense.size() != 1 && dense.size() != 2)
    return invalid_argument(str_cat("Shape must be rank 1 or 2 but is rank ", dense.size()));
  TROUPE_ASSIGN(const std::int64_t size, read_size(c, 3));
  if (weights.num_elements() > 0 && weights.num_elements() != values.num_elements())
    return invalid_argument(str_cat("Number of weights (", weights.num_elements(), ") and values (",
                                    values.num_elements(), ") do not match"));
  TROUPE_ASSIGN(const Integers places, integers(indices));
  TROUPE_ASSIGN(const RowOf rows, sparse_rows(indices.shape(), places, dense));
  Dims dims{size};
  if (dense.size() == 2)
    dims.insert(dims.begin(), dense[0]);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  return count(c, values, rows, weights, size, shape, always("Input must be non-negative"));
}

// ---- shapes

std::int64_t size_of(ShapeContext& c, int i) {
  const auto size = c.input_as_ints(i);
  return size ? (*size)[0] : -1;
}
Status check_size(ShapeContext& c, int i) {
  TROUPE_TRY(c.require_rank(i, 0));
  const auto size = c.input_as_ints(i);
  if (size && (*size)[0] < 0)
    return invalid_argument(str_cat("size (", (*size)[0], ") must be non-negative"));
  return {};
}

Status infer_flat(ShapeContext& c) {
  TROUPE_TRY(check_size(c, 1));
  return c.set_output(0, PartialShape{size_of(c, 1)});
}
Status infer_dense(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 2));
  TROUPE_TRY(check_size(c, 1));
  if (!c.input(0).has_rank())
    return {};
  if (c.input(0).rank() == 2)
    return c.set_output(0, PartialShape{c.input(0).dim(0), size_of(c, 1)});
  return c.set_output(0, PartialShape{size_of(c, 1)});
}
Status infer_ragged(ShapeContext& c) {
  TROUPE_TRY(check_size(c, 2));
  return c.set_output(0, PartialShape{-1, size_of(c, 2)});
}
Status infer_sparse(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 2));
  TROUPE_TRY(check_size(c, 3));
  const auto shape = c.input_as_ints(2);
  if (!shape)
    return {};
  if (shape->size() == 2)
    return c.set_output(0, PartialShape{(*shape)[0], size_of(c, 3)});
  return shape->size() == 1 ? c.set_output(0, PartialShape{size_of(c, 3)}) : Status{};
}

constexpr auto why = "counts have no gradient";

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", arith::dtypes_of(arith::BinaryOp::add)}}; // as far as the ops allow them
  out.expensive = true;
  return out;
}

void add(OpLibrary& library, std::string_view name, std::string_view inputs, ShapeFn shape,
         KernelFn fn, std::string_view doc) {
  library.op(name)
      .input(inputs)
      .output("output: T")
      .attr("Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false")
      .shape_fn(shape)
      .not_differentiable(why)
      .cpu_kernel(fn, options())
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Bincount")
      .input("arr: int32; size: int32; weights: T")
      .output("bins: T")
      .attr("T: {int32, int64, float, double}")
      .shape_fn(infer_flat)
      .not_differentiable(why)
      .cpu_kernel(compute_flat, options())
      .doc("How often each number comes, or the sum of its weights.");
  add(library, "DenseBincount", "input: Tidx; size: Tidx; weights: T", infer_dense, compute_dense,
      "Bincount of a vector, or of each row of a matrix.");
  add(library, "RaggedBincount", "splits: int64; values: Tidx; size: Tidx; weights: T",
      infer_ragged, compute_ragged, "Bincount of each row of a ragged tensor.");
  add(library, "SparseBincount",
      "indices: int64; values: Tidx; dense_shape: int64; size: Tidx; weights: T", infer_sparse,
      compute_sparse, "Bincount of the values of a sparse tensor, by row if it is a matrix.");
}

} // namespace troupe::math_bincount
