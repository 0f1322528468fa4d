// SpaceToDepth: blocks of an image become channels. DepthToSpace: the way back.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_space_to_depth {
namespace {

using array::Dims;

struct Attrs {
  std::int64_t block = 2;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const auto block, c.attr<std::int64_t>("block_size"));
  const auto format = c.attrs().get_or("data_format", std::string("NHWC"));
  if (format != "NHWC")
    return invalid_argument(str_cat("No OpKernel was registered to support Op '", c.schema().name,
                                    "' on a CPU with data_format ", format,
                                    ". Only NHWC data_format supported on CPU."));
  return prepared(Attrs{block});
}

/// Output dimensions for one of images [batch, height, width, depth]; -1 where not known.
Result<Dims> result_dims(std::span<const std::int64_t> x, std::int64_t block, bool to_depth) {
  const std::int64_t height = x[1], width = x[2], depth = x[3];
  TROUPE_ASSIGN(const std::int64_t square, shape_rules::multiply_dims(block, block));
  if (to_depth) {
    if ((height >= 0 && height % block != 0) || (width >= 0 && width % block != 0))
      return invalid_argument(str_cat("Image width ", width, " and height ", height,
                                      " should be divisible by block_size: ", block));
    TROUPE_ASSIGN(const std::int64_t deep, shape_rules::multiply_dims(depth, square));
    return Dims{x[0], height < 0 ? -1 : height / block, width < 0 ? -1 : width / block, deep};
  }
  if (depth >= 0 && depth % square != 0)
    return invalid_argument(
        str_cat("Input depth dimension ", depth, " should be divisible by: ", square));
  TROUPE_ASSIGN(const std::int64_t high, shape_rules::multiply_dims(height, block));
  TROUPE_ASSIGN(const std::int64_t wide, shape_rules::multiply_dims(width, block));
  return Dims{x[0], high, wide, depth < 0 ? -1 : depth / square};
}

Status infer(ShapeContext& c, bool to_depth) {
  const auto format = c.attrs().get_or("data_format", std::string("NHWC"));
  TROUPE_TRY(c.require_rank(0, format == "NCHW_VECT_C" ? 5 : 4));
  const PartialShape& x = c.input(0);
  if (!x.has_rank() || format == "NCHW_VECT_C")
    return {};
  TROUPE_ASSIGN(const auto block, c.attr<std::int64_t>("block_size"));
  if (format == "NCHW") {
    const std::int64_t turned[] = {x.dim(0), x.dim(2), x.dim(3), x.dim(1)};
    TROUPE_ASSIGN(const Dims dims, result_dims(turned, block, to_depth));
    return c.set_output(0, PartialShape(Dims{dims[0], dims[3], dims[1], dims[2]}));
  }
  TROUPE_ASSIGN(Dims dims, result_dims(x.dims(), block, to_depth));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status compute(KernelContext& c, bool to_depth) {
  const Tensor& x = c.input(0);
  const std::int64_t block = c.prepared<Attrs>().block;
  if (x.shape().rank() != 4)
    return invalid_argument(str_cat(to_depth ? "Input rank should be 4 instead of "
                                             : "Input rank should be: 4 instead of: ",
                                    x.shape().rank()));
  TROUPE_ASSIGN(const Dims dims, result_dims(x.shape().dims(), block, to_depth));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  const Dims split = to_depth ? Dims{dims[0], dims[1], block, dims[2], block, x.shape()[3]}
                              : Dims{dims[0], x.shape()[1], x.shape()[2], block, block, dims[3]};
  const std::vector<int> perm{0, 1, 3, 2, 4, 5};
  arith::StridedPlan plan;
  TROUPE_CHECK(arith::make_transpose_plan(split, perm, plan), "six dimensions");
  return array::copy_from_strided(c, plan, x, out);
}

Status differentiate(GradContext& g, std::string_view back) {
  AttrMap attrs;
  attrs.set("block_size", g.attrs().get_or("block_size", std::int64_t{2}));
  attrs.set("data_format", g.attrs().get_or("data_format", std::string("NHWC")));
  return g.set_input_grad(0, g.op(back, {g.output_grad(0)}, std::move(attrs)));
}

KernelOptions options() {
  KernelOptions out;
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

constexpr auto attrs = "T: type; block_size: int >= 2; "
                       "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SpaceToDepth")
      .input("input: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn([](ShapeContext& c) { return infer(c, true); })
      .gradient([](GradContext& g) { return differentiate(g, "DepthToSpace"); })
      .cpu_kernel([](KernelContext& c) { return compute(c, true); }, options())
      .doc("Square blocks of images, moved to the channels.");
  library.op("DepthToSpace")
      .input("input: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn([](ShapeContext& c) { return infer(c, false); })
      .gradient([](GradContext& g) { return differentiate(g, "SpaceToDepth"); })
      .cpu_kernel([](KernelContext& c) { return compute(c, false); }, options())
      .doc("The way back of SpaceToDepth: channels become square blocks of images.");
}

} // namespace troupe::array_space_to_depth
