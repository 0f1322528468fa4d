// _FusedMatMul: what the pass fuse_matmul makes of MatMul and the elementwise ops after it: these
// are done to rows of the product while they lie in a cache.
#include <array>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/members.hpp"
#include "kernels/linalg/internal/product.hpp"
#include "kernels/math/elementwise_program.hpp"

namespace troupe::linalg_fused_matmul {
namespace {

using Lines = std::vector<std::string>;
using math::ElementwiseProgram;

struct Fused {
  linalg::MatMulAttrs matmul;
  ElementwiseProgram program; ///< operand 0 is the product, the others are the node's args
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(linalg::MatMulAttrs attrs, linalg::read_matmul_attrs(c));
  TROUPE_ASSIGN(Lines lines, c.attr<Lines>("program"));
  TROUPE_ASSIGN(auto program, ElementwiseProgram::parse(c.num_inputs() - 1, lines));
  TROUPE_TRY(program.bind(c.output_type(0)));
  return prepared(Fused{attrs, std::move(program)});
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(Lines lines, c.attr<Lines>("program"));
  TROUPE_ASSIGN(auto program, ElementwiseProgram::parse(c.num_inputs() - 1, lines));
  TROUPE_ASSIGN(PartialShape product, linalg::infer_matmul(c));
  std::vector<PartialShape> operands{std::move(product)};
  for (int i = 2; i < c.num_inputs(); ++i)
    operands.push_back(c.input(i));
  TROUPE_ASSIGN(PartialShape shape, program.infer_shape(std::move(operands)));
  return c.set_output(0, std::move(shape));
}

Status compute(KernelContext& c) {
  const auto& [attrs, program] = c.prepared<Fused>();
  const Tensor &a = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const auto type, arith::gemm_type(a.dtype()));
  const auto checked = linalg::matmul_sizes(c, attrs);
  TROUPE_TRY(of_member(c, checked.status(), 0));
  const arith::GemmShape& sizes = *checked;
  TROUPE_ASSIGN(const Shape product, Shape::make(std::array{sizes.m, sizes.n}));
  ElementwiseProgram::Bound bound(program, a.dtype());
  bound.add_input(product, nullptr);
  for (int i = 2; i < c.num_inputs(); ++i)
    bound.add_input(c.input(i).shape(), c.input(i).raw());
  const auto inferred = bound.infer_shape();
  TROUPE_TRY(of_member(c, inferred.status(), 1 + bound.num_inferred()));
  const Shape& shape = *inferred;
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  const bool in_place = out.shape() == product && program.may_overwrite(0);
  Tensor apart;
  if (!in_place) {
    TROUPE_ASSIGN(apart, c.allocate_temp(a.dtype(), product));
  }
  void* to = out.mutable_raw();
  void* sum = in_place ? to : apart.mutable_raw();
  bound.set_data(0, sum);
  if (out.shape() != product) {
    linalg::product(c, type, sizes, a.raw(), b.raw(), sum);
    TROUPE_TRY(bound.prepare(c));
    c.parallel_for(out.num_elements(), program.cost(),
                   [&](std::int64_t begin, std::int64_t end) { bound.run(to, begin, end); });
    return {};
  }
  TROUPE_TRY(bound.prepare(c));
  const auto run = [&](std::int64_t begin, std::int64_t end) { bound.run(to, begin, end); };
  const linalg::Finish finish(run);
  linalg::product(c, type, sizes, a.raw(), b.raw(), sum, &finish, program.cost());
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("_FusedMatMul")
      .input("a: T; b: T; args: num_args * T")
      .output("product: T")
      .attr("transpose_a: bool = false; transpose_b: bool = false; T: {float, double}")
      .attr("num_args: int >= 0; program: list(string) >= 1")
      .shape_fn(infer_shape)
      .not_differentiable("it is made of ops that are, after their gradients were added")
      .cpu_kernel(compute, std::move(options))
      .doc("MatMul, then elementwise ops: each line of the program is an op and the numbers of its "
           "operands, 0 for the product, then args, then results of earlier lines.");
}

} // namespace troupe::linalg_fused_matmul
