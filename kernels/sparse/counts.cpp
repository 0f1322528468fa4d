// DenseCountSparseOutput, SparseCountSparseOutput and RaggedCountSparseOutput: how often each
// number comes in each row, or the sum of its weights, as a sparse tensor.
#include <algorithm>
#include <vector>

#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_counts {
namespace {

using sparse::Dims;

/// Which row each value is in; empty: all are in the only one.
struct Counted {
  Integers values;
  Dims rows;
  std::int64_t num_rows = 0; ///< -1: the output has no rows
};

struct Limits {
  std::int64_t least = -1, most = -1;
  bool binary = false;
};

/// Entry by entry: the value's place, and what is counted for it.
template <class T>
Status give_counts(KernelContext& c, const Counted& counted, const Tensor& weights,
                   const Limits& limits) {
  const Integers& values = counted.values;
  Dims order;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0)
      return invalid_argument("Input values must all be non-negative");
    if (limits.most > 0 && values[i] >= limits.most)
      continue;
    largest = std::max(largest, values[i]);
    order.push_back(static_cast<std::int64_t>(i));
  }
  const auto row = [&](std::int64_t i) {
    return counted.rows.empty() ? 0 : counted.rows[static_cast<std::size_t>(i)];
  };
  const auto value = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return row(a) != row(b) ? row(a) < row(b) : value(a) < value(b);
  });
  const std::int64_t rank = counted.num_rows < 0 ? 1 : 2;
  Dims indices;
  std::vector<T> sums;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t i = order[k];
    const T weight =
        weights.num_elements() == 0 ? T(1) : weights.data<T>()[static_cast<std::size_t>(i)];
    if (k == 0 || row(order[k - 1]) != row(i) || value(order[k - 1]) != value(i)) {
      if (rank == 2)
        indices.push_back(row(i));
      indices.push_back(value(i));
      sums.push_back(limits.binary ? T(1) : weight);
    } else if (!limits.binary) {
      sums.back() = static_cast<T>(sums.back() + weight);
    }
  }
  const auto count = static_cast<std::int64_t>(sums.size());
  TROUPE_TRY(sparse::give_indices(c, 0, indices, rank));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(1, Shape{count}));
  std::ranges::copy(sums, out.mutable_data<T>().begin());
  if (limits.most <= 0 && largest == INT64_MAX)
    return invalid_argument(str_cat("a dimension for ", largest, " is beyond 2^63 - 1"));
  const std::int64_t size = limits.most > 0 ? limits.most : std::max(largest + 1, limits.least);
  return sparse::give(c, 2, rank == 1 ? Dims{size} : Dims{counted.num_rows, size});
}

Status give(KernelContext& c, const Counted& counted, const Tensor& weights) {
  Limits limits;
  limits.least = c.attrs().get_or("minlength", std::int64_t{-1});
  limits.most = c.attrs().get_or("maxlength", std::int64_t{-1});
  limits.binary = c.attrs().get_or("binary_output", false);
  return dispatch(Numbers{}, c.output_type(1),
                  [&]<class T>() -> Status { return give_counts<T>(c, counted, weights, limits); });
}

Status check_weights(const Tensor& weights, const Tensor& values, const char* what) {
  if (weights.num_elements() > 0 && weights.shape() != values.shape())
    return invalid_argument(str_cat("Weights and ", what,
                                    " must have the same shape. Weight shape: ", weights.shape(),
                                    "; ", what, " shape: ", values.shape()));
  return {};
}

Status compute_dense(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() != 1 && shape.rank() != 2)
    return invalid_argument(str_cat("Input must be a 1 or 2-dimensional tensor. Got: ", shape));
  TROUPE_TRY(check_weights(c.input(1), c.input(0), "data"));
  if (shape.rank() == 2 && shape[0] == 0)
    return invalid_argument("Invalid input: Shapes dimension cannot be 0.");
  TROUPE_ASSIGN(Integers values, integers(c.input(0)));
  Counted counted{.values = std::move(values), .rows = {}, .num_rows = -1};
  if (shape.rank() == 2) {
    counted.num_rows = shape[0];
    for (std::int64_t i = 0; i < shape.num_elements(); ++i)
      counted.rows.push_back(i / shape[1]);
  }
  return give(c, counted, c.input(1));
}

Status compute_sparse(KernelContext& c) {
  const Shape &indices = c.input(0).shape(), &values = c.input(1).shape();
  const Tensor& shape = c.input(2);
  if (indices.rank() != 2)
    return invalid_argument(
        str_cat("Input indices must be a 2-dimensional tensor. Got: ", indices));
  if (values.rank() != 1)
    return invalid_argument(str_cat("Input values must be a vector. Got: ", values));
  if (shape.shape().rank() != 1)
    return invalid_argument(str_cat("Input shape must be a vector. Got: ", shape.shape()));
  if (indices[0] != values[0])
    return invalid_argument(str_cat("Number of values must match first dimension of indices.Got ",
                                    values[0], " values, indices shape: ", indices));
  if (indices[1] != shape.num_elements())
    return invalid_argument(
        str_cat("Number of dimensions must match second dimension of indices.Got ",
                shape.num_elements(), " dimensions, indices shape: ", indices));
  if (shape.num_elements() == 0)
    return invalid_argument("The shape argument requires at least one element.");
  TROUPE_TRY(check_weights(c.input(3), c.input(1), "values"));
  TROUPE_ASSIGN(const sparse::Sparse s, sparse::sparse_input(c, 0));
  TROUPE_ASSIGN(Integers numbers, integers(c.input(1)));
  Counted counted{
      .values = std::move(numbers), .rows = {}, .num_rows = s.rank == 1 ? -1 : s.shape[0]};
  for (std::int64_t i = 0; i < s.entries; ++i) {
    const auto index = s.index(i);
    for (std::size_t d = 0; d < index.size(); ++d)
      if (index[d] < 0 || index[d] >= s.shape[d])
        return invalid_argument(str_cat("Invalid index value at ", i, ": dimension ", d,
                                        " has value ", index[d], " which is not in [0, ",
                                        s.shape[d], ") (as given by dense shape ",
                                        debug_string(shape)));
    if (s.rank > 1)
      counted.rows.push_back(index[0]);
  }
  if (s.rank > 1 && s.shape[0] < 0)
    return invalid_argument(str_cat("Expected a non-negative size, got ", s.shape[0]));
  return give(c, counted, c.input(3));
}

Status compute_ragged(KernelContext& c) {
  TROUPE_TRY(check_weights(c.input(2), c.input(1), "values"));
  TROUPE_ASSIGN(const Integers splits, integers(c.input(0)));
  TROUPE_ASSIGN(Integers values, integers(c.input(1)));
  if (splits.size() < 2)
    return invalid_argument("Must provide at least 2 elements for the splits argument");
  if (splits[0] != 0)
    return invalid_argument(str_cat("Splits must start with 0, not with ", splits[0]));
  if (splits[splits.size() - 1] != static_cast<std::int64_t>(values.size()))
    return invalid_argument(str_cat("Splits must end with the number of values, got ",
                                    splits[splits.size() - 1], " instead of ", values.size()));
  Counted counted{.values = std::move(values),
                  .rows = {},
                  .num_rows = static_cast<std::int64_t>(splits.size()) - 1};
  std::size_t row = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(counted.values.size()); ++i) {
    while (i >= splits[row + 1])
      ++row;
    counted.rows.push_back(static_cast<std::int64_t>(row));
  }
  return give(c, counted, c.input(2));
}

Status infer(ShapeContext& c, std::int64_t rank) {
  TROUPE_TRY(c.set_output(0, {-1, rank}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.set_output(2, {rank});
}

Status infer_dense(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank_at_most(0, 2));
  return infer(c, c.input(0).rank());
}

Status infer_sparse(ShapeContext& c) {
  const PartialShape& shape = c.input(2);
  const bool known = shape.has_rank() && shape.rank() == 1 && shape.dim(0) >= 0;
  return infer(c, known ? std::min<std::int64_t>(shape.dim(0), 2) : shape_rules::unknown_dim);
}

Status infer_ragged(ShapeContext& c) {
  return infer(c, 2);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  auto add = [&](const char* name, const char* inputs, ShapeFn infer_shape, KernelFn compute,
                 const char* doc) {
    library.op(name)
        .input(inputs)
        .input("weights: output_type")
        .output("output_indices: int64; output_values: output_type; output_dense_shape: int64")
        .attr("T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1")
        .attr("binary_output: bool; output_type: {int32, int64, float, double}")
        .shape_fn(infer_shape)
        .not_differentiable("it counts")
        .cpu_kernel(compute, options)
        .doc(doc);
  };
  add("DenseCountSparseOutput", "values: T", infer_dense, compute_dense,
      "How often each number comes in a vector or in the rows of a matrix.");
  add("SparseCountSparseOutput", "indices: int64; values: T; dense_shape: int64", infer_sparse,
      compute_sparse, "The same for a sparse tensor.");
  add("RaggedCountSparseOutput", "splits: int64; values: T", infer_ragged, compute_ragged,
      "The same for the rows of a ragged tensor.");
}

} // namespace troupe::sparse_counts
