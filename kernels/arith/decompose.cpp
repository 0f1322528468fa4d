#include "kernels/arith/decompose.hpp"

#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

namespace isa_base {
extern const DecompositionTable decompositions;
}
#ifdef TROUPE_HAVE_X86_ISAS
namespace isa_avx2 {
extern const DecompositionTable decompositions;
}
#endif

namespace {

const DecompositionTable& table() {
#ifdef TROUPE_HAVE_X86_ISAS
  if (isa() != Isa::base)
    return isa_avx2::decompositions;
#endif
  return isa_base::decompositions;
}

} // namespace

void lu(float* a, int64_t n, int64_t* order) {
  table().of_float.lu(a, n, order);
}
void lu(double* a, int64_t n, int64_t* order) {
  table().of_double.lu(a, n, order);
}

bool cholesky(float* a, int64_t n) {
  return table().of_float.cholesky(a, n);
}
bool cholesky(double* a, int64_t n) {
  return table().of_double.cholesky(a, n);
}

void triangular_solve(const float* a, int64_t n, Triangle triangle, bool transpose, float* x,
                      int64_t columns) {
  table().of_float.triangular_solve(a, n, triangle, transpose, x, columns);
}
void triangular_solve(const double* a, int64_t n, Triangle triangle, bool transpose, double* x,
                      int64_t columns) {
  table().of_double.triangular_solve(a, n, triangle, transpose, x, columns);
}

bool self_adjoint_eig(const double* a, int64_t n, double* values, double* vectors) {
  return table().self_adjoint_eig(a, n, values, vectors);
}

void qr(const double* a, int64_t m, int64_t n, int64_t inner, double* q, double* r) {
  table().qr(a, m, n, inner, q, r);
}

void svd(const double* a, int64_t m, int64_t n, bool full, double* values, double* u, double* v) {
  table().svd(a, m, n, full, values, u, v);
}

} // namespace troupe::arith
