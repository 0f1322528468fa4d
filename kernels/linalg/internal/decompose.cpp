#include "kernels/linalg/internal/decompose.hpp"

#include <numeric>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace troupe::linalg {
namespace {

using ColumnMajor = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;

/// As row-major elements.
void write(const ColumnMajor& m, Complex* to) {
  View<Complex>(to, m.rows(), m.cols()) = m;
}

} // namespace

template <>
void triangular_solve(const ConstView<Complex>& a, arith::Triangle triangle, bool adjoint,
                      View<Complex> x);

template <class T>
Lu<T> lu(Matrix<T> a) {
  Lu<T> out{std::move(a), {}};
  out.order.resize(static_cast<std::size_t>(out.factors.rows()));
  arith::lu(out.factors.data(), out.factors.rows(), out.order.data());
  return out;
}
template Lu<float> lu(Matrix<float>);
template Lu<double> lu(Matrix<double>);

template <>
Lu<Complex> lu(Matrix<Complex> a) {
  Lu<Complex> out{std::move(a), {}};
  const Eigen::PartialPivLU<Eigen::Ref<Matrix<Complex>>> found(out.factors);
  const auto& to = found.permutationP().indices();
  out.order.resize(static_cast<std::size_t>(to.size()));
  for (Eigen::Index i = 0; i < to.size(); ++i)
    out.order[static_cast<std::size_t>(to(i))] = i;
  return out;
}

template <class T>
void solve(const Lu<T>& a, const ConstView<T>& b, View<T> x) {
  for (std::size_t i = 0; i < a.order.size(); ++i)
    x.row(static_cast<Eigen::Index>(i)) = b.row(a.order[i]);
  const ConstView<T> factors(a.factors.data(), a.factors.rows(), a.factors.cols());
  triangular_solve<T>(factors, arith::Triangle::unit_lower, false, x);
  triangular_solve<T>(factors, arith::Triangle::upper, false, x);
}
template void solve(const Lu<float>&, const ConstView<float>&, View<float>);
template void solve(const Lu<double>&, const ConstView<double>&, View<double>);
template void solve(const Lu<Complex>&, const ConstView<Complex>&, View<Complex>);

template <class T>
bool cholesky(Matrix<T>& a) {
  return arith::cholesky(a.data(), a.rows());
}
template bool cholesky(Matrix<float>&);
template bool cholesky(Matrix<double>&);

template <>
bool cholesky(Matrix<Complex>& a) {
  return Eigen::LLT<Eigen::Ref<Matrix<Complex>>, Eigen::Lower>(a).info() == Eigen::Success;
}

template <class T>
void triangular_solve(const ConstView<T>& a, arith::Triangle triangle, bool adjoint, View<T> x) {
  arith::triangular_solve(a.data(), a.rows(), triangle, adjoint, x.data(), x.cols());
}
template void triangular_solve(const ConstView<float>&, arith::Triangle, bool, View<float>);
template void triangular_solve(const ConstView<double>&, arith::Triangle, bool, View<double>);

template <>
void triangular_solve(const ConstView<Complex>& a, arith::Triangle triangle, bool adjoint,
                      View<Complex> x) {
  switch (triangle) {
  case arith::Triangle::unit_lower:
    if (adjoint)
      return a.adjoint().triangularView<Eigen::UnitUpper>().solveInPlace(x);
    return a.triangularView<Eigen::UnitLower>().solveInPlace(x);
  case arith::Triangle::lower:
    if (adjoint)
      return a.adjoint().triangularView<Eigen::Upper>().solveInPlace(x);
    return a.triangularView<Eigen::Lower>().solveInPlace(x);
  case arith::Triangle::upper:
    if (adjoint)
      return a.adjoint().triangularView<Eigen::Lower>().solveInPlace(x);
    return a.triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

template <>
bool self_adjoint_eig(const ConstView<double>& a, double* values, double* vectors) {
  return arith::self_adjoint_eig(a.data(), a.rows(), values, vectors);
}

template <>
bool self_adjoint_eig(const ConstView<Complex>& a, Complex* values, Complex* vectors) {
  const Eigen::SelfAdjointEigenSolver<ColumnMajor> found(
      a, vectors != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (found.info() != Eigen::Success || !found.eigenvalues().allFinite())
    return false;
  for (Eigen::Index k = 0; k < a.rows(); ++k)
    values[k] = found.eigenvalues()(k);
  if (vectors != nullptr)
    write(found.eigenvectors(), vectors);
  return true;
}

template <>
void qr(const ConstView<double>& a, View<double> q, View<double> r) {
  arith::qr(a.data(), a.rows(), a.cols(), q.cols(), q.data(), r.data());
}

template <>
void qr(const ConstView<Complex>& a, View<Complex> q, View<Complex> r) {
  const Eigen::HouseholderQR<Matrix<Complex>> found(a);
  Matrix<Complex> left = Matrix<Complex>::Identity(q.rows(), q.cols());
  left.applyOnTheLeft(found.householderQ());
  q = left;
  const Matrix<Complex> right = found.matrixQR().topRows(r.rows());
  r = right.triangularView<Eigen::Upper>();
}

template <>
void svd(const ConstView<double>& a, bool full, double* values, double* u, double* v) {
  arith::svd(a.data(), a.rows(), a.cols(), full, values, u, v);
}

template <>
void svd(const ConstView<Complex>& a, bool full, Complex* values, Complex* u, Complex* v) {
  unsigned options = 0;
  if (u != nullptr)
    options |= full ? Eigen::ComputeFullU : Eigen::ComputeThinU;
  if (v != nullptr)
    options |= full ? Eigen::ComputeFullV : Eigen::ComputeThinV;
  // Not by divide and conquer: few take complex ones, and that code is long.
  const Eigen::JacobiSVD<ColumnMajor> found(a, options);
  for (Eigen::Index k = 0; k < found.singularValues().size(); ++k)
    values[k] = found.singularValues()(k);
  if (u != nullptr)
    write(found.matrixU(), u);
  if (v != nullptr)
    write(found.matrixV(), v);
}

} // namespace troupe::linalg
