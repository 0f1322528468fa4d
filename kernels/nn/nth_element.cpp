// NthElement: the element of each row that would be the n-th if the row were sorted.
#include <algorithm>
#include <vector>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::nn_nth_element {
namespace {

using Computed = Types<float, double, std::int32_t, std::int64_t, std::uint64_t>;

Status check_n(std::int64_t n, std::int64_t length) {
  if (n < 0)
    return invalid_argument(str_cat("n must be non-negative but is ", n));
  if (length >= 0 && length <= n)
    return invalid_argument(str_cat("Input must have last dimension > n = ", n));
  return {};
}

Status compute(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("N must be scalar but has rank ", c.input(1).shape().rank()));
  if (shape.rank() < 1)
    return invalid_argument(str_cat("Input must be at least rank 1 but is rank ", shape.rank()));
  const std::int64_t length = shape[shape.rank() - 1];
  std::int64_t n = c.input(1).value<std::int32_t>();
  TROUPE_TRY(check_n(n, length));
  if (c.prepared<bool>())
    n = length - n - 1;
  const DType wide = arith::widened_dtype(c.input(0).dtype());
  TROUPE_ASSIGN(const Tensor x, widened(c, c.input(0), wide));
  const Shape rows = shape.without(shape.rank() - 1);
  TROUPE_ASSIGN(Tensor out, wide == c.output_type(0) ? c.allocate_output(0, rows)
                                                     : c.allocate_temp(wide, rows));
  TROUPE_TRY(dispatch(Computed{}, wide, [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = out.mutable_data<T>().data();
    c.parallel_for(out.num_elements(), 10.0 * static_cast<double>(length),
                   [&](std::int64_t begin, std::int64_t end) {
                     std::vector<T> row(static_cast<std::size_t>(length));
                     for (std::int64_t i = begin; i < end; ++i) {
                       std::copy_n(from + i * length, length, row.begin());
                       std::ranges::nth_element(row, row.begin() + n, [](T a, T b) {
                         // NaN is after all numbers, so that this is an order.
                         return a < b || (b != b && a == a);
                       });
                       to[i] = row[static_cast<std::size_t>(n)];
                     }
                   });
    return {};
  }));
  return narrow(c, 0, out);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank(1, 0));
  const auto n = c.input_as_ints(1);
  const PartialShape& x = c.input(0);
  if (n)
    TROUPE_TRY(check_n((*n)[0], x.has_rank() ? x.dim(x.rank() - 1) : -1));
  if (!x.has_rank())
    return {};
  return c.set_output(
      0, PartialShape(std::vector<std::int64_t>(x.dims().begin(), x.dims().end() - 1)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::maximum)}};
  options.prepare = keep_attr<bool, "reverse">;
  options.host_inputs = {"n"};
  options.expensive = true;
  library.op("NthElement")
      .input("input: T; n: int32")
      .output("values: T")
      .attr("reverse: bool = false; T: realnumbertype")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("The n-th smallest element of each row, or the n-th largest.");
}

} // namespace troupe::nn_nth_element
