// MatrixInverse and MatrixSolve, by LU decomposition with partial pivoting.
#include "graph/op/grad_context.hpp"
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_solve {
namespace {

using namespace linalg;

template <class T>
Lu<T> decompose(ConstView<T> a, bool adjoint) {
  return adjoint ? lu<T>(a.adjoint()) : lu<T>(a);
}

Status compute_inverse(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0, eliminated_dtype));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, a.rows, a.rows, eliminated_dtype));
  const bool adjoint = attr_or(c, "adjoint", false);
  if (out.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Eliminated{}, a.wide.dtype(), [&]<class T>() {
      return for_each_matrix(c, product(outer), cubic(a.rows), [&](std::int64_t i) -> Status {
        const Lu<T> found = decompose<T>(a.at<T>(i), adjoint);
        if (!found.is_invertible())
          return invalid_argument("Input is not invertible.");
        const Matrix<T> identity = Matrix<T>::Identity(a.rows, a.rows);
        solve<T>(found, {identity.data(), a.rows, a.rows}, out.at_mutable<T>(i));
        return {};
      });
    }));
  return narrow(c, 0, out.wide);
}

Status compute_solve(KernelContext& c) {
  TROUPE_TRY(check_same_batch(c, 2));
  TROUPE_ASSIGN(const Matrices a, operand(c, 0, eliminated_dtype));
  TROUPE_ASSIGN(const Matrices b, operand(c, 1, eliminated_dtype));
  if (a.rows != a.cols)
    return invalid_argument("First input (lhs) must be a square matrix.");
  if (a.rows != b.rows)
    return invalid_argument("Input matrix and rhs are incompatible.");
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, a.cols, b.cols, eliminated_dtype));
  const bool adjoint = attr_or(c, "adjoint", false);
  if (out.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Eliminated{}, a.wide.dtype(), [&]<class T>() {
      return for_each_matrix(c, product(outer), cubic(a.rows), [&](std::int64_t i) -> Status {
        const Lu<T> found = decompose<T>(a.at<T>(i), adjoint);
        if (!found.is_invertible())
          return invalid_argument("Input matrix is not invertible.");
        solve<T>(found, b.at<T>(i), out.at_mutable<T>(i));
        return {};
      });
    }));
  return narrow(c, 0, out.wide);
}

Status infer_solve(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_least(1, 2));
  const PartialShape &a = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const auto outer, shape_rules::merge_shapes(outer_of(a), outer_of(b)));
  TROUPE_ASSIGN(std::int64_t n, shape_rules::merge_dims(from_end(a, 2), from_end(a, 1)));
  TROUPE_ASSIGN(n, shape_rules::merge_dims(n, from_end(b, 2)));
  return c.set_output(0, with_inner(outer, {n, from_end(b, 1)}));
}

Value product_of(GradContext& g, Value x, Value y, bool adj_x, bool adj_y) {
  return g.op("BatchMatMulV2", {x, y}, {{"adj_x", adj_x}, {"adj_y", adj_y}});
}

// y = a^-1: da = -y^H dy y^H; with adjoint, the adjoint of that.
Status differentiate_inverse(GradContext& g) {
  const bool adjoint = g.attrs().get_or("adjoint", false);
  const Value y = g.output(0), dy = g.output_grad(0);
  const Value right = product_of(g, dy, y, adjoint, true);
  const Value da = adjoint ? product_of(g, product_of(g, y, dy, false, true), y, false, false)
                           : product_of(g, y, right, true, false);
  return g.set_input_grad(0, g.neg(da));
}

// x = a^-1 b: db = a^-H dx, da = -db x^H.
Status differentiate_solve(GradContext& g) {
  const bool adjoint = g.attrs().get_or("adjoint", false);
  const Value x = g.output(0);
  const Value db = g.op("MatrixSolve", {g.input(0), g.output_grad(0)}, {{"adjoint", !adjoint}});
  TROUPE_TRY(g.set_input_grad(1, db));
  return g.set_input_grad(
      0, g.neg(adjoint ? product_of(g, x, db, false, true) : product_of(g, db, x, false, true)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options = kernel_options();
  options.types[0].dtypes.push_back(DType::float16);
  library.op("MatrixInverse")
      .input("input: T")
      .output("output: T")
      .attr("adjoint: bool = false; T: {double, float, half, complex64, complex128}")
      .shape_fn(infer_square)
      .gradient(differentiate_inverse)
      .cpu_kernel(compute_inverse, options)
      .doc("The inverse of each matrix, or of its adjoint.");
  library.op("MatrixSolve")
      .input("matrix: T; rhs: T")
      .output("output: T")
      .attr("adjoint: bool = false; T: {double, float, half, complex64, complex128}")
      .shape_fn(infer_solve)
      .gradient(differentiate_solve)
      .cpu_kernel(compute_solve, kernel_options())
      .doc("What each matrix, or its adjoint, must be multiplied with to give rhs.");
  library.op("BatchMatrixInverse")
      .input("input: T")
      .output("output: T")
      .attr("adjoint: bool = false; T: {double, float}")
      .shape_fn(infer_square)
      .gradient(differentiate_inverse)
      .cpu_kernel(compute_inverse, options)
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
  library.op("BatchMatrixSolve")
      .input("matrix: T; rhs: T")
      .output("output: T")
      .attr("adjoint: bool = false; T: {double, float}")
      .shape_fn(infer_solve)
      .gradient(differentiate_solve)
      .cpu_kernel(compute_solve, kernel_options())
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::linalg_solve
