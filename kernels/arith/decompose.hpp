// Decompositions of dense row-major matrices, by Eigen, as the instruction set in use has them: by
// elimination of float and double, the others of double.
// Every function is single-threaded and allocates what it needs beside its arguments; where there
// is no memory for that, std::bad_alloc is thrown.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// Gaussian elimination with partial pivoting: a [n, n] becomes l, of whose diagonal only ones are
/// left out, below u. Row i of l u is row order[i] of a. A singular matrix leaves a zero, or what
/// is no number, on the diagonal.
void lu(float* a, int64_t n, int64_t* order);
void lu(double* a, int64_t n, int64_t* order);

/// The lower triangle of a [n, n] becomes that of l, a = l l^T; the upper one is neither read nor
/// written. False unless a is positive definite.
bool cholesky(float* a, int64_t n);
bool cholesky(double* a, int64_t n);

enum class Triangle { lower, upper, unit_lower };

/// x [n, columns] becomes op(a)^-1 x, where op(a) is a triangle of a [n, n], or that triangle's
/// transpose. A zero on the diagonal gives infinities and NaN.
void triangular_solve(const float* a, int64_t n, Triangle triangle, bool transpose, float* x,
                      int64_t columns);
void triangular_solve(const double* a, int64_t n, Triangle triangle, bool transpose, double* x,
                      int64_t columns);

/// Eigenvalues [n] of the symmetric matrix whose lower triangle is a's, smallest first, and as
/// columns of `vectors` [n, n] their eigenvectors, unless that is null. False where the iteration
/// does not end, or ends in what is no number.
bool self_adjoint_eig(const double* a, int64_t n, double* values, double* vectors);

/// q [m, inner] and r [inner, n] of a [m, n] = q r, by Householder reflections; inner is m, or the
/// smaller one of m and n.
void qr(const double* a, int64_t m, int64_t n, int64_t inner, double* q, double* r);

/// Singular values of a [m, n], all of whose elements are finite, largest first: min(m, n) of them.
/// u [m, columns] and v [n, columns] unless null; `full` says whether they have m and n columns, or
/// both min(m, n).
void svd(const double* a, int64_t m, int64_t n, bool full, double* values, double* u, double* v);

} // namespace troupe::arith
