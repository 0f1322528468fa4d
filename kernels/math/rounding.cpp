// Floor, Ceil, Rint, Round: to a nearby whole number. IsNan, IsInf, IsFinite: what kind of number.
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe {
namespace {

using arith::UnaryOp;

// Integers are round already.
Status compute_round(KernelContext& c) {
  if (is_floating(c.input(0).dtype()))
    return math::unary(c, UnaryOp::round);
  return c.set_output(0, c.input(0));
}

void add_rounding(OpLibrary& library, std::string_view name, KernelFn fn, std::string_view doc) {
  library.op(name)
      .input("x: T")
      .output("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .roles(Role::flat)
      .shape_fn(shape_unchanged)
      .not_differentiable("it is piecewise constant")
      .cpu_kernel(fn, math::for_types_of(UnaryOp::floor))
      .doc(doc);
}

void add_test(OpLibrary& library, std::string_view name, KernelFn fn, std::string_view doc) {
  library.op(name)
      .input("x: T")
      .output("y: bool")
      .attr("T: {bfloat16, half, float, double}")
      .shape_fn(shape_unchanged)
      .not_differentiable("its values are true and false")
      .cpu_kernel(fn, math::for_types_of(UnaryOp::is_nan))
      .doc(doc);
}

} // namespace

void register_math_rounding(OpLibrary& library) {
  add_rounding(library, "Floor", math::unary<UnaryOp::floor>, "The largest whole number <= x.");
  add_rounding(library, "Ceil", math::unary<UnaryOp::ceil>, "The smallest whole number >= x.");
  add_rounding(library, "Rint", math::unary<UnaryOp::round>,
               "The nearest whole number; the even one of two.");
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
      .doc("The nearest whole number; the even one of two.");
  add_test(library, "IsNan", math::unary<UnaryOp::is_nan>, "Whether x is NaN.");
  add_test(library, "IsInf", math::unary<UnaryOp::is_inf>, "Whether x is infinite.");
  add_test(library, "IsFinite", math::unary<UnaryOp::is_finite>,
           "Whether x is neither infinite nor NaN.");
}

} // namespace troupe
