// SparseReorder and SparseReshape: the same entries in another order, and under other indices.
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_reorder {
namespace {

using sparse::Dims;
using sparse::Sparse;

Status compute_reorder(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse s, sparse::sparse_input(c, 0));
  const Dims order = sparse::sorted_order(s);
  if (order.empty()) {
    TROUPE_TRY(c.set_output(0, c.input(0)));
    return c.set_output(1, c.input(1));
  }
  Dims indices;
  indices.reserve(s.indices.size());
  for (std::int64_t i : order)
    indices.insert(indices.end(), s.index(i).begin(), s.index(i).end());
  TROUPE_TRY(sparse::give_indices(c, 0, indices, s.rank));
  return sparse::take(c, 1, *s.values, order);
}

/// The new shape, with what -1 stands for.
Result<Dims> target_shape(std::span<const std::int64_t> from,
                          std::span<const std::int64_t> wanted) {
  const std::int64_t size = sparse::volume(from);
  Dims out(wanted.begin(), wanted.end());
  std::int64_t product = 1;
  int unknown = -1;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (out[d] == -1) {
      if (unknown >= 0)
        return invalid_argument(
            str_cat("only one output dimension may be -1, not both ", unknown, " and ", d));
      unknown = static_cast<int>(d);
      out[d] = 1;
    } else if (out[d] < 0) {
      return invalid_argument(str_cat("size ", d, " must be non-negative, not ", out[d]));
    } else if (__builtin_mul_overflow(product, out[d], &product)) {
      return invalid_argument("the requested shape has too many elements");
    }
  }
  if (unknown >= 0) {
    if (product == 0)
      return invalid_argument("reshape cannot infer the missing input size for an empty tensor "
                              "unless all specified input sizes are non-zero");
    if (size % product != 0)
      return invalid_argument(str_cat("Input to reshape is a SparseTensor with ", size,
                                      " dense values, but the requested shape requires a multiple "
                                      "of ",
                                      product, ". input_shape=[", sparse::listed(from),
                                      "] output_shape=[", sparse::listed(out), "]"));
    out[static_cast<std::size_t>(unknown)] = size / product;
    product = size;
  }
  if (product != size)
    return invalid_argument(str_cat("Input to reshape is a tensor with ", size,
                                    " dense values, but the requested shape has ", product,
                                    ". input_shape=[", sparse::listed(from), "] output_shape=[",
                                    sparse::listed(out), "]"));
  return out;
}

Status compute_reshape(KernelContext& c) {
  const Tensor &indices = c.input(0), &shape = c.input(1), &wanted = c.input(2);
  if (indices.shape().rank() != 2)
    return invalid_argument("Input must be a matrix.");
  if (shape.shape().rank() != 1)
    return invalid_argument("Input shape must be a vector.");
  if (indices.shape()[1] != shape.shape()[0])
    return invalid_argument("Input tensor rank must match input shape length.");
  if (wanted.shape().rank() != 1)
    return invalid_argument(
        str_cat("Target shape should be a vector but received shape ", wanted.shape()));
  const auto from = shape.data<std::int64_t>();
  TROUPE_TRY(sparse::check_shape(from));
  TROUPE_ASSIGN(const Dims to, target_shape(from, wanted.data<std::int64_t>()));
  TROUPE_TRY(sparse::give(c, 1, to));
  if (std::ranges::equal(from, to)) // also indices beyond it
    return c.set_output(0, c.take_input(0));
  const std::int64_t entries = indices.shape()[0], rank = static_cast<std::int64_t>(to.size());
  if (entries > 0 && (sparse::volume(from) == 0 || sparse::volume(to) == 0))
    return invalid_argument(str_cat("Input tensor has ", entries,
                                    " non zero elements but input shape ([", sparse::listed(from),
                                    "]) or output shape ([", sparse::listed(to), "]) is empty"));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{entries, rank}));
  const auto in = indices.data<std::int64_t>();
  const auto result = out.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < entries; ++i) {
    std::uint64_t at = 0; // wraps for indices beyond their shape
    for (std::size_t d = 0; d < from.size(); ++d)
      at = at * static_cast<std::uint64_t>(from[d]) +
           static_cast<std::uint64_t>(in[static_cast<std::size_t>(i) * from.size() + d]);
    auto left = static_cast<std::int64_t>(at);
    for (std::size_t d = to.size(); d-- > 0;) {
      const std::int64_t extent = d == 0 ? 0 : to[d];
      result[static_cast<std::size_t>(i * rank) + d] = extent == 0 ? left : left % extent;
      left = extent == 0 ? 0 : left / extent;
    }
  }
  return {};
}

Status infer_reorder(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 2));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.output_like(0, 0));
  return c.output_like(1, 1);
}

Status infer_reshape(ShapeContext& c) {
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_ASSIGN(const auto wanted, shape_rules::dims_of_rank(c, 2, 1));
  TROUPE_TRY(c.set_output(0, {indices[0], wanted[0]}));
  return c.set_output(1, {wanted[0]});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SparseReorder")
      .input("input_indices: int64; input_values: T; input_shape: int64")
      .output("output_indices: int64; output_values: T")
      .attr("T: type")
      .shape_fn(infer_reorder)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute_reorder)
      .doc("The entries in the order of their indices, rows first.");
  library.op("SparseReshape")
      .input("input_indices: int64; input_shape: int64; new_shape: int64")
      .output("output_indices: int64; output_shape: int64")
      .shape_fn(infer_reshape)
      .not_differentiable("it takes no values")
      .cpu_kernel(compute_reshape)
      .doc("The indices that the entries have in another shape.");
}

} // namespace troupe::sparse_reorder
