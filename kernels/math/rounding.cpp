// Floor, Ceil, Rint, Round: to a nearby whole number. IsNan, IsInf, IsFinite: what kind of number.
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_rounding {
namespace {

using arith::UnaryOp;

// Integers are round already.
Status compute_round(KernelContext& c) {
  if (is_floating(c.input(0).dtype()))
    return math::unary(c, UnaryOp::round);
  return c.set_output(0, c.input(0));
}

template <UnaryOp op>
void add_rounding(OpLibrary& library, std::string_view name, std::string_view doc) {
  library.op(name)
      .input("x: T")
      .output("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .roles(Role::flat)
      .shape_fn(shape_unchanged)
      .not_differentiable("it is piecewise constant")
      .cpu_kernel(math::unary<op>, math::for_types_of(op))
      .gpu_kernel(math::unary_on_gpu<op>, math::for_gpu(op))
      .doc(doc);
}

template <UnaryOp op>
void add_test(OpLibrary& library, std::string_view name, std::string_view doc) {
  library.op(name)
      .input("x: T")
      .output("y: bool")
      .attr("T: {bfloat16, half, float, double}")
      .shape_fn(shape_unchanged)
      .not_differentiable("its values are true and false")
      .cpu_kernel(math::unary<op>, math::for_types_of(op))
      .gpu_kernel(math::unary_on_gpu<op>, math::for_gpu(op))
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add_rounding<UnaryOp::floor>(library, "Floor", "The largest whole number <= x.");
  add_rounding<UnaryOp::ceil>(library, "Ceil", "The smallest whole number >= x.");
  add_rounding<UnaryOp::round>(library, "Rint", "The nearest whole number; the even one of two.");
  std::vector<DType> round_types = arith::dtypes_of(UnaryOp::round);
  round_types.insert(round_types.end(), {DType::int8, DType::int16, DType::int32, DType::int64});
  library.op("Round")
      .input("x: T")
      .output("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}")
      .roles(Role::flat)
      .shape_fn(shape_unchanged)
      .not_differentiable("it is piecewise constant")
      .cpu_kernel(compute_round, math::for_types(std::move(round_types)))
      .gpu_kernel(math::unary_on_gpu<UnaryOp::round>, math::for_gpu(UnaryOp::round))
      .doc("The nearest whole number; the even one of two.");
  add_test<UnaryOp::is_nan>(library, "IsNan", "Whether x is NaN.");
  add_test<UnaryOp::is_inf>(library, "IsInf", "Whether x is infinite.");
  add_test<UnaryOp::is_finite>(library, "IsFinite", "Whether x is neither infinite nor NaN.");
}

} // namespace troupe::math_rounding
