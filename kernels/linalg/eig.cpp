// Eig: complex eigenvalues and eigenvectors of square matrices.
#include "kernels/framework/eigen_checks.hpp"

#include <type_traits>

#include <Eigen/Eigenvalues>

#include "kernels/linalg/internal/batched.hpp"

namespace troupe::linalg_eig {
namespace {

using namespace linalg;
template <class T>
using ColumnMajorOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
using ColumnMajor = ColumnMajorOf<Complex>;

/// Eigenvalues of real matrices come in the order in which their own algorithm finds them, as in
/// TensorFlow.
template <class T>
using Solver =
    std::conditional_t<std::is_same_v<T, Complex>, Eigen::ComplexEigenSolver<ColumnMajor>,
                       Eigen::EigenSolver<ColumnMajorOf<T>>>;

/// Each column gets length 1.
ColumnMajor normalised(ColumnMajor v) {
  for (Eigen::Index j = 0; j < v.cols(); ++j)
    if (const double length = v.col(j).norm(); length > 0)
      v.col(j) /= length;
  return v;
}

template <class T>
Status decompose(KernelContext& c, Matrices a) {
  const auto outer = outer_dims(c.input(0).shape());
  const bool vectors = attr_or(c, "compute_v", true);
  TROUPE_ASSIGN(Tensor e, result(c, 0, outer, {a.rows}));
  Matrices v;
  if (vectors) {
    TROUPE_ASSIGN(v, result_matrices(c, 1, outer, a.rows, a.rows));
  }
  if (a.rows > 0)
    TROUPE_TRY(for_each_matrix(
        c, linalg::product(outer), 30 * cubic(a.rows), [&](std::int64_t i) -> Status {
          const Solver<T> eig(a.at<T>(i), vectors);
          if (eig.info() != Eigen::Success || !eig.eigenvalues().allFinite())
            return invalid_argument(
                "Eigen decomposition was not successful. The input might not be valid.");
          Complex* values = e.mutable_data<Complex>().data() + i * a.rows;
          for (std::int64_t k = 0; k < a.rows; ++k)
            values[k] = eig.eigenvalues()(k);
          if (vectors)
            v.at_mutable<Complex>(i) = normalised(eig.eigenvectors());
          return {};
        }));
  TROUPE_TRY(narrow(c, 0, e));
  return vectors ? narrow(c, 1, v.wide) : c.allocate_output(1, Shape{0}).status();
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(Matrices a, operand(c, 0));
  TROUPE_TRY(check_square(a));
  return is_complex(a.wide.dtype()) ? decompose<Complex>(c, std::move(a))
                                    : decompose<double>(c, std::move(a));
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(infer_square(c));
  const PartialShape square = c.outputs()[0];
  TROUPE_ASSIGN(const bool vectors, c.attr<bool>("compute_v"));
  TROUPE_TRY(c.set_output(0, with_inner(outer_of(square), {from_end(square, 1)})));
  return c.set_output(1, vectors ? square : PartialShape{0});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Eig")
      .input("input: T")
      .output("e: Tout; v: Tout")
      .attr("compute_v: bool = true; T: {float, double, complex64, complex128}")
      .attr("Tout: {complex64, complex128}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("Eigenvalues and eigenvectors of square matrices.");
}

} // namespace troupe::linalg_eig
