// SparseFillEmptyRows gives every row without entries one, in its first column; its gradient.
#include <numeric>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_fill_empty_rows {
namespace {

using sparse::Dims;

Status check(const Tensor& indices, const Tensor& values, const Tensor& shape,
             const Tensor& fallback) {
  if (shape.shape().rank() != 1)
    return invalid_argument(str_cat("dense_shape must be a vector, saw: ", shape.shape()));
  if (indices.shape().rank() != 2)
    return invalid_argument(str_cat("indices must be a matrix, saw: ", indices.shape()));
  if (values.shape().rank() != 1)
    return invalid_argument(str_cat("values must be a vector, saw: ", values.shape()));
  if (indices.shape()[0] != values.shape()[0])
    return invalid_argument(str_cat("The length of `values` (", values.shape()[0],
                                    ") must match the first dimension of `indices` (",
                                    indices.shape()[0], ")."));
  if (indices.shape()[1] != shape.shape()[0])
    return invalid_argument(str_cat("The length of `dense_shape` (", shape.shape()[0],
                                    ") must match the second dimension of `indices` (",
                                    indices.shape()[1], ")."));
  if (!fallback.shape().is_scalar())
    return invalid_argument(str_cat("default_value must be a scalar, saw: ", fallback.shape()));
  if (shape.num_elements() == 0)
    return invalid_argument("Dense shape cannot be empty.");
  return {};
}

Status compute(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &fallback = c.input(3);
  TROUPE_TRY(check(indices, values, c.input(2), fallback));
  TROUPE_TRY(sparse::check_shape(c.input(2).data<std::int64_t>()));
  const std::int64_t rows = c.input(2).data<std::int64_t>()[0];
  const std::int64_t entries = indices.shape()[0], rank = indices.shape()[1];
  const auto in = indices.data<std::int64_t>();
  if (rows == 0 && entries > 0)
    return invalid_argument(
        str_cat("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = ", entries));
  TROUPE_ASSIGN(Tensor empty, c.allocate_output(2, Shape{rows}));
  TROUPE_ASSIGN(Tensor map, c.allocate_output(3, Shape{entries}));
  Dims next(static_cast<std::size_t>(rows), 0);
  bool in_order = true;
  for (std::int64_t i = 0, before = 0; i < entries; ++i) {
    const std::int64_t row = in[static_cast<std::size_t>(i * rank)];
    if (row < 0 || row >= rows)
      return invalid_argument(str_cat("indices(", i, ", 0) is invalid: ", row, " >= ", rows));
    ++next[static_cast<std::size_t>(row)];
    in_order &= row >= before;
    before = row;
  }
  std::int64_t total = 0;
  const auto is_empty = empty.mutable_data<bool>();
  for (std::size_t r = 0; r < next.size(); ++r) {
    const std::int64_t here = next[r];
    is_empty[r] = here == 0;
    next[r] = total;
    total += std::max<std::int64_t>(here, 1);
  }
  const auto places = map.mutable_data<std::int64_t>();
  if (in_order && total == entries) { // nothing is added and nothing moves
    std::iota(places.begin(), places.end(), std::int64_t{0});
    TROUPE_TRY(c.set_output(0, indices));
    return c.set_output(1, values);
  }
  Dims order(static_cast<std::size_t>(total), -1);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{total, rank}));
  std::int64_t* to = out.mutable_data<std::int64_t>().data();
  for (std::size_t r = 0; r < next.size(); ++r)
    if (is_empty[r]) {
      std::fill_n(to + next[r] * rank, rank, std::int64_t{0});
      to[next[r] * rank] = static_cast<std::int64_t>(r);
    }
  const std::int64_t* from = in.data();
  for (std::int64_t i = 0; i < entries; ++i, from += rank) {
    const std::int64_t at = next[static_cast<std::size_t>(*from)]++;
    order[static_cast<std::size_t>(at)] = i;
    places[static_cast<std::size_t>(i)] = at;
    std::copy_n(from, rank, to + at * rank);
  }
  return sparse::take(c, 1, values, order, &fallback);
}

/// The default value's gradient is the sum of those that no entry has.
Status compute_grad(KernelContext& c) {
  const Tensor &map = c.input(0), &grad = c.input(1);
  if (map.shape().rank() != 1)
    return invalid_argument(str_cat("reverse_index_map must be a vector, saw: ", map.shape()));
  if (grad.shape().rank() != 1)
    return invalid_argument(str_cat("grad_values must be a vector, saw: ", grad.shape()));
  const auto where = map.data<std::int64_t>();
  const std::int64_t n = grad.shape()[0];
  std::vector<bool> taken(static_cast<std::size_t>(n), false);
  for (std::int64_t i : where) {
    if (i < 0 || i >= n)
      return invalid_argument(
          str_cat("Elements in reverse index must be in [0, ", n, ") but got ", i));
    taken[static_cast<std::size_t>(i)] = true;
  }
  TROUPE_TRY(sparse::take(c, 0, grad, where));
  TROUPE_ASSIGN(const Tensor wide, widened(c, grad));
  TROUPE_ASSIGN(Tensor sum, allocate_widened(c, 1, Shape{}));
  TROUPE_TRY(dispatch(Types<float, double, std::int32_t, std::int64_t, std::complex<double>>{},
                      wide.dtype(), [&]<class T>() -> Status {
                        T all{};
                        for (std::size_t i = 0; i < taken.size(); ++i)
                          if (!taken[i])
                            all += wide.data<T>()[i];
                        sum.mutable_data<T>()[0] = all;
                        return {};
                      }));
  return narrow(c, 1, sum);
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.require_rank(3, 0));
  TROUPE_TRY(c.set_output(0, {-1, indices[1]}));
  TROUPE_TRY(c.set_output(1, {-1}));
  const auto shape = c.input_as_ints(2);
  TROUPE_TRY(c.set_output(2, {shape && !shape->empty() ? (*shape)[0] : -1}));
  return c.set_output(3, {indices[0]});
}

Status infer_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.output_like(0, 0));
  return c.set_output(1, PartialShape(Shape{}));
}

Status differentiate(GradContext& g) {
  const Value grads = g.op("SparseFillEmptyRowsGrad", {g.output(3), g.output_grad(1)});
  TROUPE_TRY(g.set_input_grad(1, grads));
  return g.set_input_grad(3, g.slot(grads, 1));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SparseFillEmptyRows")
      .input("indices: int64; values: T; dense_shape: int64; default_value: T")
      .output("output_indices: int64; output_values: T; empty_row_indicator: bool; "
              "reverse_index_map: int64")
      .attr("T: type")
      .shape_fn(infer)
      .gradient(differentiate)
      .cpu_kernel(compute)
      .doc("Gives each empty row of a sparse matrix an entry in its first column.");
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::add)}};
  library.op("SparseFillEmptyRowsGrad")
      .input("reverse_index_map: int64; grad_values: T")
      .output("d_values: T; d_default_value: T")
      .attr("T: type")
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_grad, options)
      .doc("The gradient of SparseFillEmptyRows.");
}

} // namespace troupe::sparse_fill_empty_rows
