// FakeParam: a value that nobody looks at, for an output that only the other branch of a
// conditional has.
#include <algorithm>

#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_fake_param {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return c.set_output(0, std::move(shape));
}

// Unknown dimensions are 0, so that it takes as little memory as may be.
Status compute(KernelContext& c) {
  TROUPE_ASSIGN(PartialShape wanted, c.attr<PartialShape>("shape"));
  std::vector<std::int64_t> dims;
  if (wanted.has_rank())
    for (std::int64_t dim : wanted.dims())
      dims.push_back(std::max<std::int64_t>(dim, 0));
  TROUPE_ASSIGN(Shape shape, Shape::make(std::span<const std::int64_t>(dims)));
  return c.allocate_output(0, shape).status();
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("FakeParam")
      .output("output: dtype")
      .attr("dtype: type; shape: shape")
      .shape_fn(infer_shape)
      .not_differentiable("it has no inputs")
      .cpu_kernel(compute)
      .doc("Some value of a dtype and a shape.");
}

} // namespace troupe::control_fake_param
