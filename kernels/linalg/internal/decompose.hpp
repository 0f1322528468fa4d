// Decompositions of one matrix of double or Complex, and by elimination of float: the real ones as
// the instruction set in use has them (kernels/arith), the complex ones by Eigen as it is compiled
// for all processors.
#pragma once
#include "kernels/arith/decompose.hpp"
#include "kernels/linalg/internal/batched.hpp"

namespace troupe::linalg {

/// Gaussian elimination with partial pivoting: row i of l u is row order[i] of the matrix.
template <class T>
struct Lu {
  Matrix<T> factors; // l, of whose diagonal only ones are left out, below u
  std::vector<std::int64_t> order;

  /// A pivot of zero, or one that is no number, says that there is no inverse.
  bool is_invertible() const { return factors.diagonal().cwiseAbs().minCoeff() > 0; }
};
template <class T>
Lu<T> lu(Matrix<T> a);

/// x becomes a^-1 x.
template <class T>
void solve(const Lu<T>& a, const ConstView<T>& b, View<T> x);

/// The lower triangle of `a` becomes that of l, a = l l^H. False unless a is positive definite.
template <class T>
bool cholesky(Matrix<T>& a);

/// x becomes op(a)^-1 x, where op(a) is a triangle of a, or that triangle's adjoint.
template <class T>
void triangular_solve(const ConstView<T>& a, arith::Triangle triangle, bool adjoint, View<T> x);

/// Eigenvalues of a Hermitian matrix, smallest first, and its eigenvectors as columns, unless null.
/// False where the iteration fails.
template <class T>
bool self_adjoint_eig(const ConstView<T>& a, T* values, T* vectors);

/// a = q r; q has as many columns as r has rows.
template <class T>
void qr(const ConstView<T>& a, View<T> q, View<T> r);

/// Singular values of finite elements, largest first; u and v unless null, of a.rows() and a.cols()
/// columns if `full`, else of as many as there are values.
template <class T>
void svd(const ConstView<T>& a, bool full, T* values, T* u, T* v);

} // namespace troupe::linalg
