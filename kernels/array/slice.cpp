// Slice: size[i] elements from begin[i] on, in every dimension; a size of -1 takes the rest.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_slice {
namespace {

using array::Dims;

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 1));
  const PartialShape& x = c.input(0);
  const auto begin = c.input_as_ints(1), size = c.input_as_ints(2);
  std::int64_t rank = x.rank();
  for (int i = 1; i < 3; ++i)
    if (rank < 0 && c.input(i).has_rank())
      rank = c.input(i).dim(0);
  if (rank < 0)
    return {};
  TROUPE_TRY(shape_rules::check_rank(rank));
  const auto n = static_cast<std::size_t>(rank);
  if ((begin && begin->size() != n) || (size && size->size() != n))
    return invalid_argument(str_cat("Expected begin and size arguments to be 1-D tensors of size ",
                                    rank, ", but got shapes ", c.input(1), " and ", c.input(2),
                                    " instead."));
  Dims dims(n, -1);
  for (std::size_t i = 0; size && i < n; ++i) {
    const std::int64_t extent = x.has_rank() ? x.dim(static_cast<int>(i)) : -1;
    std::int64_t rest = -1; // from `begin` on
    if (begin && extent >= 0 && __builtin_sub_overflow(extent, (*begin)[i], &rest))
      rest = extent;
    dims[i] = (*size)[i] >= 0 ? (*size)[i] : rest;
    if (begin && extent >= 0 &&
        ((*begin)[i] < 0 || (*begin)[i] > extent || (*size)[i] < -1 || dims[i] > rest))
      return invalid_argument(str_cat("Expected size[", i, "] in [0, ",
                                      std::max<std::int64_t>(rest, 0), "], but got ", (*size)[i],
                                      " (begin[", i, "] is ", (*begin)[i],
                                      ", the input's dimension ", extent, ")"));
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

// The gradient with zeros around it, as many as the slice left out.
Status differentiate(GradContext& g) {
  const Value x = g.input(0), begin = g.input(1);
  const Value after = g.sub(
      g.sub(array::shape_vector_as(g, x, begin), array::shape_vector_as(g, g.output(0), begin)),
      begin);
  const Value paddings = g.op("Pack", {begin, after}, {{"axis", std::int64_t{1}}});
  return g.set_input_grad(0, g.op("Pad", {g.output_grad(0), paddings}));
}

Status compute(KernelContext& c) {
  const Tensor x = c.input(0);
  const Shape &begin_shape = c.input(1).shape(), &size_shape = c.input(2).shape();
  const int rank = x.shape().rank();
  if (begin_shape.rank() != 1 || size_shape.rank() != 1 || begin_shape[0] != rank ||
      size_shape[0] != rank)
    return invalid_argument(str_cat("Expected begin and size arguments to be 1-D tensors of size ",
                                    rank, ", but got shapes ", begin_shape, " and ", size_shape,
                                    " instead."));
  TROUPE_ASSIGN(const Integers begin, integers(c.input(1)));
  TROUPE_ASSIGN(Integers size, integers(c.input(2)));
  bool whole = true, whole_rows = true;
  for (int i = 0; i < rank; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t extent = x.shape()[i];
    if (const std::int64_t n = size[k] == -1 ? -begin[k] : size[k];
        extent == 0 && (begin[k] != 0 || n != 0))
      return invalid_argument(str_cat("Expected begin[", i, "] == 0 (got ", begin[k], ") and size[",
                                      i, "] == 0 (got ", n, ") when input.dim_size(", i, ") == 0"));
    if (begin[k] < 0 || begin[k] > extent)
      return invalid_argument(
          str_cat("Expected begin[", i, "] in [0, ", extent, "], but got ", begin[k]));
    if (size[k] == -1)
      size[k] = extent - begin[k];
    if (size[k] < 0 || size[k] > extent - begin[k])
      return invalid_argument(
          str_cat("Expected size[", i, "] in [0, ", extent - begin[k], "], but got ", size[k]));
    whole = whole && size[k] == extent;
    whole_rows = whole_rows && (i == 0 || size[k] == extent);
  }
  if (whole)
    return c.set_output(0, x);
  if (whole_rows)
    if (Tensor rows = array::shared_rows(x, begin[0], begin[0] + size[0]); rows.has_value())
      return c.set_output(0, std::move(rows));
  TROUPE_ASSIGN(const Shape shape, Shape::make(size));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(x.shape().dims(), begin, Dims(size.size(), 1), size, plan))
    return array::too_many_dimensions(x.shape());
  return array::copy_from_strided(c, plan, x, out);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("Slice")
      .input("input: T; begin: Index; size: Index")
      .output("output: T")
      .attr("T: type; Index: {int32, int64}")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .gpu_kernel(compute, array::on_gpu(options, "T", {"begin", "size"}))
      .host_kernel_on_gpu(compute, array::int32_on_host(options))
      .doc("size[i] elements from begin[i] on in every dimension i; -1 takes all that are left.");
}

} // namespace troupe::array_slice
