// Roll: elements moved along axes; what leaves at one end comes in at the other.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_roll {
namespace {

using array::Dims;

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank_at_most(1, 1));
  TROUPE_TRY(c.require_rank_at_most(2, 1));
  return c.output_like(0, 0);
}

Status differentiate(GradContext& g) {
  return g.set_input_grad(0, g.op("Roll", {g.output_grad(0), g.neg(g.input(1)), g.input(2)}));
}

/// How far each dimension is moved, from 0 to its extent.
Result<Dims> shifts(KernelContext& c, const Shape& shape) {
  const Shape &shift = c.input(1).shape(), &axis = c.input(2).shape();
  if (shape.rank() < 1)
    return invalid_argument("input must be 1-D or higher");
  if (shift.rank() > 1)
    return invalid_argument(str_cat("shift must be a scalar or a 1-D vector. Found: ", shift));
  if (axis.rank() > 1)
    return invalid_argument(str_cat("axis must be a scalar or a 1-D vector. Found: ", axis));
  if (shift != axis)
    return invalid_argument("shift and axis must have the same size");
  TROUPE_ASSIGN(const Integers by, integers(c.input(1)));
  TROUPE_ASSIGN(const Integers along, integers(c.input(2)));
  Dims out(static_cast<std::size_t>(shape.rank()), 0);
  for (std::size_t i = 0; i < by.size(); ++i) {
    const std::int64_t at = along[i] < 0 ? along[i] + shape.rank() : along[i];
    if (at < 0 || at >= shape.rank())
      return invalid_argument(str_cat("axis ", at, " is out of range"));
    const std::int64_t extent = std::max<std::int64_t>(shape[static_cast<int>(at)], 1);
    std::int64_t& sum = out[static_cast<std::size_t>(at)];
    sum = (sum + by[i] % extent + extent) % extent;
  }
  return out;
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Shape& shape = x.shape();
  TROUPE_ASSIGN(const Dims by, shifts(c, shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  TROUPE_TRY(array::charge_text(x, out));
  int last = shape.rank() - 1; // the last dimension that moves; what lies behind it moves in blocks
  while (last > 0 && by[static_cast<std::size_t>(last)] == 0)
    --last;
  std::int64_t inner = 1;
  for (int i = last + 1; i < shape.rank(); ++i)
    inner *= shape[i];
  const std::int64_t extent = shape[last], shift = by[static_cast<std::size_t>(last)];
  const std::int64_t rows = shape.num_elements() / (extent * inner);
  const auto move_rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::int64_t rest = r, to = 0, stride = 1;
      for (int k = last - 1; k >= 0; --k) {
        to += (rest % shape[k] + by[static_cast<std::size_t>(k)]) % shape[k] * stride;
        rest /= shape[k];
        stride *= shape[k];
      }
      const std::int64_t from = r * extent * inner;
      to *= extent * inner;
      array::copy_elements(x, from, out, to + shift * inner, (extent - shift) * inner);
      array::copy_elements(x, from + (extent - shift) * inner, out, to, shift * inner);
    }
  };
  c.parallel_for(rows, 5 + 0.2 * static_cast<double>(extent * inner), move_rows);
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("Roll")
      .input("input: T; shift: Tshift; axis: Taxis")
      .output("output: T")
      .attr("T: type; Tshift: {int32, int64}; Taxis: {int32, int64}")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .doc("Elements moved along axes, in a ring.");
}

} // namespace troupe::array_roll
