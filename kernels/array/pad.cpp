// Pad, PadV2: paddings[i, 0] elements before and paddings[i, 1] after, in every dimension i; zeros,
// or a value.
#include <complex>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_pad {
namespace {

using array::Dims;

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 2));
  const PartialShape &x = c.input(0), &paddings = c.input(1);
  if (paddings.has_rank())
    TROUPE_TRY(shape_rules::merge_dims(paddings.dim(1), 2).status());
  std::int64_t rank = paddings.has_rank() ? paddings.dim(0) : -1;
  if (x.has_rank()) {
    TROUPE_ASSIGN(rank, shape_rules::merge_dims(x.rank(), rank));
  }
  if (rank < 0)
    return {};
  TROUPE_TRY(shape_rules::check_rank(rank));
  Dims dims(static_cast<std::size_t>(rank), -1);
  const auto amounts = c.input_as_ints(1);
  for (std::size_t i = 0; amounts && i < dims.size(); ++i) {
    const std::int64_t before = (*amounts)[2 * i], after = (*amounts)[2 * i + 1];
    if (before < 0 || after < 0)
      return invalid_argument(str_cat("Paddings must be non-negative: ", before, " ", after));
    if (x.has_rank()) {
      TROUPE_ASSIGN(dims[i], shape_rules::add_dims(x.dim(static_cast<int>(i)), before));
      TROUPE_ASSIGN(dims[i], shape_rules::add_dims(dims[i], after));
    }
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

// What of the gradient lies over the input itself.
Status differentiate(GradContext& g) {
  const Value x = g.input(0), paddings = g.input(1);
  const auto mask = [](std::int64_t value) { return AttrValue(value); };
  const Value begin =
      g.op("StridedSlice", {paddings, g.ints({0, 0}), g.ints({0, 1}), g.ints({1, 1})},
           {{"begin_mask", mask(1)}, {"end_mask", mask(1)}, {"shrink_axis_mask", mask(2)}});
  return g.set_input_grad(
      0, g.op("Slice", {g.output_grad(0), begin, array::shape_vector_as(g, x, paddings)}));
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Tensor& paddings = c.input(1);
  const int rank = x.shape().rank();
  if (paddings.shape().rank() != 2 || paddings.shape()[1] != 2)
    return invalid_argument(
        str_cat("paddings must be a matrix with 2 columns: ", paddings.shape()));
  if (paddings.shape()[0] != rank)
    return invalid_argument(str_cat("The first dimension of paddings must be the rank of inputs",
                                    paddings.shape(), " ", x.shape()));
  if (c.num_inputs() == 3 && !c.input(2).shape().is_scalar())
    return invalid_argument(
        str_cat("constant_values must be a scalar. Found: ", c.input(2).shape()));
  TROUPE_ASSIGN(const Integers amounts, integers(paddings));
  Dims begin, sizes, dims;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t before = amounts[2 * static_cast<std::size_t>(i)],
                       after = amounts[2 * static_cast<std::size_t>(i) + 1];
    if (before < 0 || after < 0)
      return invalid_argument(str_cat("Paddings must be non-negative: ", before, " ", after));
    begin.push_back(before);
    sizes.push_back(x.shape()[i]);
    TROUPE_ASSIGN(std::int64_t dim, shape_rules::add_dims(x.shape()[i], before));
    TROUPE_ASSIGN(dim, shape_rules::add_dims(dim, after));
    dims.push_back(dim);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  if (shape == x.shape())
    return c.set_output(0, x);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(dims, begin, Dims(sizes.size(), 1), sizes, plan))
    return array::too_many_dimensions(shape);
  const bool has_value = c.num_inputs() == 3;
  // What is mostly padding is filled in blocks, between which a step can be cancelled.
  const bool mostly_input = shape.num_elements() / 4 < x.num_elements();
  if (mostly_input && out.kind() != MemoryKind::device && !is_object(x.dtype())) {
    static constexpr std::complex<double> zero; // of any dtype
    return array::copy_among(c, plan, x, has_value ? c.input(2).raw() : &zero, out);
  }
  TROUPE_TRY(has_value ? array::fill(c, c.input(2), out) : array::fill_with_zeros(c, out));
  return x.num_elements() == 0 ? Status{} : array::copy_to_strided(c, plan, x, out);
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Pad")
      .input("input: T; paddings: Tpaddings")
      .output("output: T")
      .attr("T: type; Tpaddings: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options())
      .gpu_kernel(compute, array::on_gpu(options(), "T", {"paddings"}))
      .host_kernel_on_gpu(compute, array::int32_on_host(options()))
      .doc("The input with zeros before and after it in every dimension.");
  library.op("PadV2")
      .input("input: T; paddings: Tpaddings; constant_values: T")
      .output("output: T")
      .attr("T: type; Tpaddings: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options())
      .gpu_kernel(compute, array::on_gpu(options(), "T", {"paddings"}))
      .host_kernel_on_gpu(compute, array::int32_on_host(options()))
      .doc("The input with a value before and after it in every dimension.");
}

} // namespace troupe::array_pad
