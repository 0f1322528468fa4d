// _FusedElementwise: what the pass fuse_elementwise makes of elementwise ops that only each other
// read.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise_program.hpp"

namespace troupe {
namespace {

using Lines = std::vector<std::string>;

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(Lines lines, c.attr<Lines>("program"));
  TROUPE_ASSIGN(auto program, math::ElementwiseProgram::parse(c.num_inputs(), lines));
  TROUPE_TRY(program.bind(c.output_type(0)));
  return prepared(std::move(program));
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(Lines lines, c.attr<Lines>("program"));
  TROUPE_ASSIGN(auto program, math::ElementwiseProgram::parse(c.num_inputs(), lines));
  std::vector<PartialShape> shapes;
  for (int i = 0; i < c.num_inputs(); ++i)
    shapes.push_back(c.input(i));
  TROUPE_ASSIGN(PartialShape shape, program.infer_shape(std::move(shapes)));
  return c.set_output(0, std::move(shape));
}

Status compute(KernelContext& c) {
  return c.prepared<math::ElementwiseProgram>().run(c);
}

} // namespace

void register_math_fused_elementwise(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("_FusedElementwise")
      .input("inputs: N * T")
      .output("output: T")
      .attr("N: int >= 1; T: {float, double}; program: list(string) >= 1")
      .shape_fn(infer_shape)
      .not_differentiable("it is made of ops that are, after their gradients were added")
      .cpu_kernel(compute, std::move(options))
      .doc("Several elementwise ops as one: each line of the program is an op and the numbers of "
           "its operands, inputs first, then results of earlier lines.");
}

} // namespace troupe
