// Decompositions of f64 matrices by Eigen. Compiled for the base and for AVX2 alone: a minute of the
// compiler's time for each instruction set is more than the wider registers would save.
#include "kernels/arith/isa/functions.hpp"
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace troupe::arith::TROUPE_ISA {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ColumnMajor = Eigen::MatrixXd;
using View = Eigen::Map<RowMajor>;
using ConstView = Eigen::Map<const RowMajor>;

void lu(double* a, int64_t n, int64_t* order) {
  View view(a, n, n);
  const Eigen::PartialPivLU<Eigen::Ref<RowMajor>> found(view);
  for (int64_t i = 0; i < n; ++i)
    order[found.permutationP().indices()(i)] = i;
}

bool cholesky(double* a, int64_t n) {
  View view(a, n, n);
  return Eigen::LLT<Eigen::Ref<RowMajor>, Eigen::Lower>(view).info() == Eigen::Success;
}

void triangular_solve(const double* a, int64_t n, Triangle triangle, bool transpose, double* x,
                      int64_t columns) {
  const ConstView view(a, n, n);
  View b(x, n, columns);
  switch (triangle) {
  case Triangle::unit_lower:
    if (transpose)
      return view.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(b);
    return view.triangularView<Eigen::UnitLower>().solveInPlace(b);
  case Triangle::lower:
    if (transpose)
      return view.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
    return view.triangularView<Eigen::Lower>().solveInPlace(b);
  case Triangle::upper:
    if (transpose)
      return view.transpose().triangularView<Eigen::Lower>().solveInPlace(b);
    return view.triangularView<Eigen::Upper>().solveInPlace(b);
  }
}

bool self_adjoint_eig(const double* a, int64_t n, double* values, double* vectors) {
  const Eigen::SelfAdjointEigenSolver<ColumnMajor> found(
      ConstView(a, n, n), vectors != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (found.info() != Eigen::Success || !found.eigenvalues().allFinite())
    return false;
  Eigen::Map<Eigen::VectorXd>(values, n) = found.eigenvalues();
  if (vectors != nullptr)
    View(vectors, n, n) = found.eigenvectors();
  return true;
}

void qr(const double* a, int64_t m, int64_t n, int64_t inner, double* q, double* r) {
  const Eigen::HouseholderQR<RowMajor> found(ConstView(a, m, n));
  RowMajor left = RowMajor::Identity(m, inner);
  left.applyOnTheLeft(found.householderQ());
  View(q, m, inner) = left;
  const RowMajor right = found.matrixQR().topRows(inner);
  View(r, inner, n) = right.triangularView<Eigen::Upper>();
}

void svd(const double* a, int64_t m, int64_t n, bool full, double* values, double* u, double* v) {
  unsigned options = 0;
  if (u != nullptr)
    options |= full ? Eigen::ComputeFullU : Eigen::ComputeThinU;
  if (v != nullptr)
    options |= full ? Eigen::ComputeFullV : Eigen::ComputeThinV;
  // Divide and conquer, as TensorFlow: several times as quick as Jacobi's.
  const Eigen::BDCSVD<ColumnMajor> found(ConstView(a, m, n), options);
  const auto& s = found.singularValues();
  Eigen::Map<Eigen::VectorXd>(values, s.size()) = s;
  if (u != nullptr)
    View(u, m, found.matrixU().cols()) = found.matrixU();
  if (v != nullptr)
    View(v, n, found.matrixV().cols()) = found.matrixV();
}

} // namespace

extern const DecompositionTable decompositions;
const DecompositionTable decompositions = {lu, cholesky, triangular_solve, self_adjoint_eig,
                                           qr, svd};

} // namespace troupe::arith::TROUPE_ISA
