// Reverse and ReverseV2: the elements backwards along dimensions, which flags or numbers name.
#include <algorithm>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_reverse {
namespace {

using array::Dims;

/// Which dimensions are reversed.
Result<std::vector<bool>> reversed(std::span<const std::int64_t> axes, int rank) {
  std::vector<bool> out(static_cast<std::size_t>(rank), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t at = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (at < 0 || at >= rank)
      return invalid_argument(
          str_cat("'axis'[", i, "] = ", axes[i], " is out of valid range [0, ", rank - 1));
    if (out[static_cast<std::size_t>(at)])
      return invalid_argument(str_cat("axis ", at, " specified more than once."));
    out[static_cast<std::size_t>(at)] = true;
  }
  return out;
}

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  if (const auto axes = c.input_as_ints(1); axes && c.input(0).has_rank())
    TROUPE_TRY(reversed(*axes, c.input(0).rank()).status());
  return c.output_like(0, 0);
}

Status reverse(KernelContext& c, const std::vector<bool>& backwards) {
  const Tensor& x = c.input(0);
  if (std::ranges::count(backwards, true) == 0 || x.num_elements() < 2)
    return c.set_output(0, x);
  Dims begin, step, sizes;
  for (int i = 0; i < x.shape().rank(); ++i) {
    const bool back = backwards[static_cast<std::size_t>(i)];
    begin.push_back(back ? x.shape()[i] - 1 : 0);
    step.push_back(back ? -1 : 1);
    sizes.push_back(x.shape()[i]);
  }
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(x.shape().dims(), begin, step, sizes, plan))
    return array::too_many_dimensions(x.shape());
  return array::copy_from_strided(c, plan, x, out);
}

Status compute(KernelContext& c) {
  if (c.input(0).num_elements() == 0)
    return c.set_output(0, c.input(0));
  if (c.input(0).shape().is_scalar()) // whatever the axes are
    return c.set_output(0, c.input(0));
  if (c.input(1).shape().rank() != 1)
    return invalid_argument(str_cat("'dims' must be 1-dimension, not ", c.input(1).shape().rank()));
  TROUPE_ASSIGN(const Integers axes, integers(c.input(1)));
  TROUPE_ASSIGN(const std::vector<bool> backwards, reversed(axes, c.input(0).shape().rank()));
  return reverse(c, backwards);
}

Status compute_by_flags(KernelContext& c) {
  const Shape &flags = c.input(1).shape(), &shape = c.input(0).shape();
  if (shape.is_scalar())
    return c.set_output(0, c.input(0));
  if (shape[0] == 0)
    return invalid_argument("Invalid input first dimension. Found 0.");
  if (flags.rank() != 1)
    return invalid_argument(str_cat("'dims' must be 1-dimension, not ", flags.rank()));
  if (flags[0] != shape.rank())
    return invalid_argument(str_cat(
        "'dims' must have the same number of values as 'input' has dimensions. 'input' has ",
        shape.rank(), "'dims' has ", flags[0], " values"));
  if (shape.rank() > 8)
    return unimplemented("reverse is not implemented for tensors of rank > 8.");
  const auto given = c.input(1).data<bool>();
  return reverse(c, std::vector<bool>(given.begin(), given.end()));
}

Status infer_by_flags(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  if (c.input(0).has_rank() && c.input(0).rank() > 8)
    return invalid_argument("reverse does not work on tensors with more than 8 dimensions");
  if (c.input(0).has_rank() && c.input(1).has_rank() && c.input(1).dim(0) >= 0 &&
      c.input(1).dim(0) != c.input(0).rank())
    return invalid_argument(str_cat(
        "'dims' must have the same number of values as 'input' has dimensions. 'input' has ",
        c.input(0).rank(), "'dims' has ", c.input(1).dim(0), " values"));
  return c.output_like(0, 0);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("ReverseV2")
      .input("tensor: T; axis: Tidx")
      .output("output: T")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, "
            "float, double, complex64, complex128, string}")
      .shape_fn(infer_shape)
      .gradient([](GradContext& g) {
        return g.set_input_grad(0, g.op("ReverseV2", {g.output_grad(0), g.input(1)}));
      })
      .cpu_kernel(compute, options)
      .doc("The elements in reverse order along the named dimensions.");
  library.op("Reverse")
      .input("tensor: T; dims: bool")
      .output("output: T")
      .attr("T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, "
            "float, double, complex64, complex128, string}")
      .shape_fn(infer_by_flags)
      .gradient([](GradContext& g) {
        return g.set_input_grad(0, g.op("Reverse", {g.output_grad(0), g.input(1)}));
      })
      .cpu_kernel(compute_by_flags, options)
      .doc("The elements in reverse order along the dimensions whose flag is set.");
}

} // namespace troupe::array_reverse
