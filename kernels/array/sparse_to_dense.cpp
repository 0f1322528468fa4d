// SparseToDense: a tensor of default_value with sparse_values at the places that sparse_indices
// name.
#include "graph/op/grad_context.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_sparse_to_dense {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 2));
  TROUPE_TRY(c.require_rank_at_most(2, 1));
  TROUPE_TRY(c.require_rank(3, 0));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(1));
  return c.set_output(0, std::move(shape));
}

// The gradient of values is what lies at their places; that of the default, all the rest.
Status differentiate(GradContext& g) {
  const Value dy = g.output_grad(0), indices = g.input(0), values = g.input(2);
  const Value shape = g.input(1);
  const Value count = g.op("Size", {values});
  const Value depth = g.op("Size", {shape});
  const Value rows = g.reshape(indices, g.op("Pack", {count, depth}, {{"N", std::int64_t{2}}}));
  const Value at = g.op("GatherNd", {dy, rows});
  TROUPE_TRY(g.set_input_grad(2, g.reshape(at, g.shape_of(values))));
  const Value all = g.op("Range", {g.constant(Tensor::scalar<std::int32_t>(0)), g.op("Rank", {dy}),
                                   g.constant(Tensor::scalar<std::int32_t>(1))});
  return g.set_input_grad(3, g.sub(g.op("Sum", {dy, all}), g.op("Sum", {at, g.ints({0})})));
}

struct Sparse {
  std::int64_t count = 1, depth = 1;
};

Result<Sparse> check(KernelContext& c) {
  const Shape &indices = c.input(0).shape(), &values = c.input(2).shape();
  if (indices.rank() > 2)
    return invalid_argument(
        str_cat("sparse_indices should be a scalar, vector, or matrix, got shape ", indices));
  if (c.input(1).shape().rank() != 1)
    return invalid_argument(str_cat("output_shape must be rank 1, got shape ", c.input(1).shape()));
  const Sparse out{.count = indices.rank() > 0 ? indices[0] : 1,
                   .depth = indices.rank() > 1 ? indices[1] : 1};
  if (c.input(1).num_elements() != out.depth)
    return invalid_argument(str_cat("output_shape has incorrect number of elements: ",
                                    c.input(1).num_elements(), " should be: ", out.depth));
  if (!values.is_scalar() && !(values.rank() == 1 && values[0] == out.count))
    return invalid_argument(str_cat("sparse_values has incorrect shape ", values,
                                    ", should be [] or [", out.count, "]"));
  if (!c.input(3).shape().is_scalar())
    return invalid_argument("default_value should be a scalar.");
  return out;
}

std::string row_text(const Integers& indices, std::int64_t row, std::int64_t depth) {
  return str_cat(
      "indices[", row, "] = [",
      str_join(std::span(indices.begin() + row * depth, static_cast<std::size_t>(depth)), ","),
      "]");
}

/// In the words of TensorFlow's sparse tensors: indices rise from row to row and lie inside.
Status check_order(const Integers& indices, const Sparse& sparse, const Shape& shape) {
  for (std::int64_t i = 0; i < sparse.count; ++i) {
    const std::int64_t* row = indices.begin() + i * sparse.depth;
    bool rises = i == 0, repeats = true;
    for (std::int64_t k = 0; k < sparse.depth; ++k) {
      if (row[k] < 0 || row[k] >= shape[static_cast<int>(k)])
        return invalid_argument(str_cat(row_text(indices, i, sparse.depth),
                                        " is out of bounds: need 0 <= index < ", shape));
      if (i > 0 && repeats && row[k] != row[k - sparse.depth]) {
        repeats = false;
        rises = row[k] > row[k - sparse.depth];
      }
    }
    if (i == 0 || rises)
      continue;
    if (repeats)
      return invalid_argument(str_cat(row_text(indices, i, sparse.depth), " is repeated"));
    return invalid_argument(
        str_cat(row_text(indices, i, sparse.depth),
                " is out of order. Many sparse ops require sorted indices.\n    Use "
                "`tf.sparse.reorder` to create a correctly ordered copy.\n\n"));
  }
  return {};
}

/// Where each value goes.
struct Places {
  std::vector<std::int64_t> at;
  bool lie_inside = true, rise = true;
};

Places places_of(const Integers& indices, const Sparse& sparse, const Shape& shape) {
  Places out;
  out.at.resize(static_cast<std::size_t>(sparse.count));
  const std::int64_t* from = indices.begin();
  std::int64_t last = -1;
  for (std::int64_t& place : out.at) {
    std::uint64_t at = 0; // may wrap where an index lies outside
    for (std::int64_t k = 0; k < sparse.depth; ++k, ++from) {
      const auto extent = static_cast<std::uint64_t>(shape[static_cast<int>(k)]);
      out.lie_inside = out.lie_inside && static_cast<std::uint64_t>(*from) < extent;
      at = at * extent + static_cast<std::uint64_t>(*from);
    }
    place = static_cast<std::int64_t>(at);
    out.rise = out.rise && place > last;
    last = place;
  }
  return out;
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse sparse, check(c));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(1)));
  TROUPE_ASSIGN(const Integers indices, integers(c.input(0)));
  const Places places = places_of(indices, sparse, shape);
  if (c.prepared<bool>() && !(places.lie_inside && places.rise))
    TROUPE_TRY(check_order(indices, sparse, shape));
  if (!places.lie_inside)
    return invalid_argument(str_cat("Indices are not valid (out of bounds).  Shape: ", shape));
  const std::vector<std::int64_t>& where = places.at;
  const Tensor& values = c.input(2);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_TRY(array::fill(c, c.input(3), out));
  const bool one = values.shape().is_scalar();
  if (!is_object(values.dtype())) {
    arith::put_elements(static_cast<std::int64_t>(dtype_size(values.dtype())), values.raw(),
                        one ? 0 : 1, where.data(), out.mutable_raw(), sparse.count);
    return {};
  }
  TROUPE_TRY(out.charge(array::text_bytes(values, 0, values.num_elements()) *
                        static_cast<std::size_t>(one ? sparse.count : 1)));
  for (std::int64_t i = 0; i < sparse.count; ++i)
    array::copy_elements(values, one ? 0 : i, out, where[static_cast<std::size_t>(i)], 1);
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = keep_attr<bool, "validate_indices">;
  options.expensive = true;
  library.op("SparseToDense")
      .input("sparse_indices: Tindices; output_shape: Tindices; sparse_values: T; default_value: T")
      .output("dense: T")
      .attr("validate_indices: bool = true; T: type; Tindices: {int32, int64}")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .doc("A tensor of a default value with the values at the places that the indices name.");
}

} // namespace troupe::array_sparse_to_dense
