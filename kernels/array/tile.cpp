// Tile: a tensor repeated along its dimensions. BroadcastTo: one stretched by NumPy's rules.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_tile {
namespace {

using array::Dims;

Status infer_tile(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  TROUPE_ASSIGN(const PartialShape multiples, c.input_as_shape(1));
  if (!input.has_rank() && !multiples.has_rank())
    return {};
  const int rank = input.has_rank() ? input.rank() : multiples.rank();
  Dims dims(static_cast<std::size_t>(rank), -1);
  if (input.has_rank() && multiples.has_rank()) {
    if (rank != multiples.rank())
      return invalid_argument(str_cat("Expected multiples argument to be a vector of length ", rank,
                                      " but got length ", multiples.rank()));
    for (int i = 0; i < rank; ++i) {
      TROUPE_ASSIGN(dims[static_cast<std::size_t>(i)],
                    shape_rules::multiply_dims(input.dim(i), multiples.dim(i)));
    }
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

// With the gradient as [m0, d0, m1, d1, …], sums over every m.
Status differentiate_tile(GradContext& g) {
  const Value x = g.input(0), multiples = g.input(1);
  const Value dims = array::shape_vector_as(g, x, multiples);
  const Value split =
      g.reshape(g.op("Pack", {multiples, dims}, {{"axis", std::int64_t{1}}}), g.ints({-1}));
  const Value axes =
      g.op("Range", {array::int_scalar(g, 0), g.op("Size", {split}), array::int_scalar(g, 2)});
  return g.set_input_grad(0, g.op("Sum", {g.reshape(g.output_grad(0), split), axes}));
}

Status compute_tile(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (c.input(1).shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected multiples to be 1-D, but got shape ", c.input(1).shape()));
  TROUPE_ASSIGN(const Integers multiples, integers(c.input(1)));
  const int rank = x.shape().rank();
  if (static_cast<int>(multiples.size()) != rank)
    return invalid_argument(str_cat("Expected multiples argument to be a vector of length ", rank,
                                    " but got length ", multiples.size()));
  Dims dims;
  bool unchanged = true;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t multiple = multiples[static_cast<std::size_t>(i)];
    if (multiple < 0)
      return invalid_argument(str_cat("Expected multiples[", i, "] >= 0, but got ", multiple));
    TROUPE_ASSIGN(const std::int64_t dim, shape_rules::multiply_dims(x.shape()[i], multiple));
    dims.push_back(dim);
    unchanged = unchanged && multiple == 1;
  }
  if (unchanged)
    return c.set_output(0, x);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  if (x.num_elements() == 1)
    return array::fill(c, x, out);
  arith::StridedPlan plan;
  if (!arith::make_tile_plan(x.shape().dims(), multiples, plan))
    return array::too_many_dimensions(shape);
  return array::copy_from_strided(c, plan, x, out);
}

Status infer_broadcast_to(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(1));
  const PartialShape& input = c.input(0);
  if (shape.has_rank() && input.has_rank()) {
    if (input.rank() > shape.rank())
      return invalid_argument(str_cat("Rank of input (", input.rank(),
                                      ") must be no greater than rank of output shape (",
                                      shape.rank(), ")."));
    TROUPE_TRY(broadcast_partial(input, shape).status());
  }
  return c.set_output(0, std::move(shape));
}

Status differentiate_broadcast_to(GradContext& g) {
  const Value shape = array::shape_vector_as(g, g.input(0), g.input(1));
  const Value axes = g.slot(g.op("BroadcastGradientArgs", {g.input(1), shape}), 1);
  return g.set_input_grad(0, g.reshape(g.op("Sum", {g.output_grad(0), axes}), shape));
}

Status compute_broadcast_to(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (c.input(1).shape().rank() != 1)
    return invalid_argument(
        str_cat("shape must be a vector of {int32,int64}, got shape ", c.input(1).shape()));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(1)));
  if (x.shape() == shape)
    return c.set_output(0, x);
  if (x.shape().rank() > shape.rank())
    return invalid_argument(str_cat("Rank of input (", x.shape().rank(),
                                    ") must be no greater than rank of output shape (",
                                    shape.rank(), ")."));
  auto both = broadcast_shapes(x.shape(), shape);
  if (!both.ok())
    return both.status();
  if (!(*both == shape))
    return invalid_argument(
        str_cat("Unable to broadcast tensor of shape ", x.shape(), " to tensor of shape ", shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  if (x.num_elements() == 1)
    return array::fill(c, x, out);
  arith::StridedPlan plan;
  if (!arith::make_broadcast_to_plan(x.shape().dims(), shape.dims(), plan))
    return array::too_many_dimensions(shape);
  return array::copy_from_strided(c, plan, x, out);
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Tile")
      .input("input: T; multiples: Tmultiples")
      .output("output: T")
      .attr("T: type; Tmultiples: {int32, int64} = DT_INT32")
      .shape_fn(infer_tile)
      .gradient(differentiate_tile)
      .cpu_kernel(compute_tile, options())
      .gpu_kernel(compute_tile, array::on_gpu(options(), "T", {"multiples"}))
      .host_kernel_on_gpu(compute_tile, array::int32_on_host(options()))
      .doc("The input repeated multiples[i] times along dimension i.");
  library.op("BroadcastTo")
      .input("input: T; shape: Tidx")
      .output("output: T")
      .attr("T: type; Tidx: {int32, int64} = DT_INT32")
      .shape_fn(infer_broadcast_to)
      .gradient(differentiate_broadcast_to)
      .cpu_kernel(compute_broadcast_to, options())
      .gpu_kernel(compute_broadcast_to, array::on_gpu(options(), "T", {"shape"}))
      .host_kernel_on_gpu(compute_broadcast_to, array::int32_on_host(options()))
      .doc("The input stretched to a shape that it broadcasts to.");
}

} // namespace troupe::array_tile
