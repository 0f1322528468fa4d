// Decompositions of matrices by Eigen. Compiled for the base and for AVX2 alone: a minute of the
// compiler's time for each instruction set is more than the wider registers would save.
#include "kernels/arith/isa/functions.hpp"
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowMajor = Rows<double>;
using ColumnMajor = Eigen::MatrixXd;
using View = Eigen::Map<RowMajor>;
using ConstView = Eigen::Map<const RowMajor>;

template <class T>
void lu(T* a, int64_t n, int64_t* order) {
  Eigen::Map<Rows<T>> view(a, n, n);
  const Eigen::PartialPivLU<Eigen::Ref<Rows<T>>> found(view);
  for (int64_t i = 0; i < n; ++i)
    order[found.permutationP().indices()(i)] = i;
}

template <class T>
bool cholesky(T* a, int64_t n) {
  Eigen::Map<Rows<T>> view(a, n, n);
  return Eigen::LLT<Eigen::Ref<Rows<T>>, Eigen::Lower>(view).info() == Eigen::Success;
}

template <class T>
void triangular_solve(const T* a, int64_t n, Triangle triangle, bool transpose, T* x,
                      int64_t columns) {
  const Eigen::Map<const Rows<T>> view(a, n, n);
  Eigen::Map<Rows<T>> b(x, n, columns);
  switch (triangle) {
  case Triangle::unit_lower:
    if (transpose)
      return view.transpose().template triangularView<Eigen::UnitUpper>().solveInPlace(b);
    return view.template triangularView<Eigen::UnitLower>().solveInPlace(b);
  case Triangle::lower:
    if (transpose)
      return view.transpose().template triangularView<Eigen::Upper>().solveInPlace(b);
    return view.template triangularView<Eigen::Lower>().solveInPlace(b);
  case Triangle::upper:
    if (transpose)
      return view.transpose().template triangularView<Eigen::Lower>().solveInPlace(b);
    return view.template triangularView<Eigen::Upper>().solveInPlace(b);
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
const DecompositionTable decompositions = {{lu<float>, cholesky<float>, triangular_solve<float>},
                                           {lu<double>, cholesky<double>, triangular_solve<double>},
                                           self_adjoint_eig,
                                           qr,
                                           svd};

} // namespace troupe::arith::TROUPE_ISA
