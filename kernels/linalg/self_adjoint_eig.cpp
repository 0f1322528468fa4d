// SelfAdjointEigV2 and its kin: eigenvalues, smallest first, and eigenvectors of Hermitian
// matrices, of which only the lower triangle is read.
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_self_adjoint_eig {
namespace {

using namespace linalg;

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  const bool vectors = attr_or(c, "compute_v", true);
  TROUPE_ASSIGN(Tensor e, result(c, 0, outer, {a.rows}));
  Matrices v;
  if (vectors) {
    TROUPE_ASSIGN(v, result_matrices(c, 1, outer, a.rows, a.rows));
  }
  if (a.rows > 0)
    TROUPE_TRY(dispatch(Wide{}, a.wide.dtype(), [&]<class T>() {
      return for_each_matrix(
          c, linalg::product(outer), 10 * cubic(a.rows), [&](std::int64_t i) -> Status {
            if (!self_adjoint_eig<T>(a.at<T>(i), e.mutable_data<T>().data() + i * a.rows,
                                     vectors ? v.at_mutable<T>(i).data() : nullptr))
              return invalid_argument("Self-adjoint eigen decomposition was not successful. The "
                                      "input might not be valid.");
            return {};
          });
    }));
  TROUPE_TRY(narrow(c, 0, e));
  return vectors ? narrow(c, 1, v.wide) : c.allocate_output(1, Shape{0}).status();
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(infer_square(c));
  const PartialShape square = c.outputs()[0];
  TROUPE_ASSIGN(const bool vectors, c.attr<bool>("compute_v"));
  TROUPE_TRY(c.set_output(0, with_inner(outer_of(square), {from_end(square, 1)})));
  return c.set_output(1, vectors ? square : PartialShape{0});
}

/// The first row of each result is the eigenvalues, the others are the eigenvectors.
Status compute_in_one(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, a.rows + 1, a.rows));
  if (a.rows > 0)
    TROUPE_TRY(for_each_matrix(
        c, linalg::product(outer), 10 * cubic(a.rows), [&](std::int64_t i) -> Status {
          double* values = out.at_mutable<double>(i).data();
          if (!self_adjoint_eig<double>(a.at<double>(i), values, values + a.rows))
            return invalid_argument("Self Adjoint Eigen decomposition wasnot successful. The "
                                    "input might not be valid.");
          return {};
        }));
  return narrow(c, 0, out.wide);
}

Status infer_in_one(ShapeContext& c) {
  TROUPE_TRY(infer_square(c));
  const PartialShape square = c.outputs()[0];
  const std::int64_t size = from_end(square, 1);
  return c.set_output(0, with_inner(outer_of(square), {size < 0 ? size : size + 1, size}));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SelfAdjointEigV2")
      .input("input: T")
      .output("e: T; v: T")
      .attr("compute_v: bool = true; T: {double, float, half, complex64, complex128}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("Eigenvalues and eigenvectors of Hermitian matrices.");
  KernelOptions old = kernel_options();
  old.types = {{"T", {DType::float32, DType::float64}}};
  library.op("BatchSelfAdjointEigV2")
      .input("input: T")
      .output("e: T; v: T")
      .attr("compute_v: bool = true; T: {double, float}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
  for (const bool batch : {false, true})
    library.op(batch ? "BatchSelfAdjointEig" : "SelfAdjointEig")
        .input("input: T")
        .output("output: T")
        .attr(batch ? "T: {double, float}" : "T: {double, float, half}")
        .shape_fn(infer_in_one)
        .not_differentiable("its gradient is made where graphs are written")
        .cpu_kernel(compute_in_one, old)
        .doc("Eigenvalues of Hermitian matrices in a row above their eigenvectors.");
}

} // namespace troupe::linalg_self_adjoint_eig
