// Matrix products by Eigen (f32, f64) and by plain loops (i32, i64).
#include "kernels/arith/isa/functions.hpp"
#include <Eigen/Core>

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class M>
using Strided = Eigen::Map<M, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T, class A, class B>
void multiply(const GemmBlock& g) {
  Strided<const A> a(static_cast<const T*>(g.a), g.m, g.k, Eigen::OuterStride<>(g.lda));
  Strided<const B> b(static_cast<const T*>(g.b), g.k, g.n, Eigen::OuterStride<>(g.ldb));
  Strided<RowMajor<T>> c(static_cast<T*>(g.c), g.m, g.n, Eigen::OuterStride<>(g.ldc));
  if (g.accumulate)
    c.noalias() += a * b;
  else
    c.noalias() = a * b;
}

template <class T>
void multiply_real(const GemmBlock& g) {
  if (g.transpose_a && g.transpose_b)
    multiply<T, ColumnMajor<T>, ColumnMajor<T>>(g);
  else if (g.transpose_a)
    multiply<T, ColumnMajor<T>, RowMajor<T>>(g);
  else if (g.transpose_b)
    multiply<T, RowMajor<T>, ColumnMajor<T>>(g);
  else
    multiply<T, RowMajor<T>, RowMajor<T>>(g);
}

template <class T>
void multiply_integer(const GemmBlock& g) {
  auto a = static_cast<const T*>(g.a);
  auto b = static_cast<const T*>(g.b);
  auto c = static_cast<T*>(g.c);
  int64_t a_row = g.transpose_a ? 1 : g.lda, a_column = g.transpose_a ? g.lda : 1;
  for (int64_t i = 0; i < g.m; ++i) {
    T* out = c + i * g.ldc;
    if (!g.accumulate)
      for (int64_t j = 0; j < g.n; ++j)
        out[j] = 0;
    if (g.transpose_b) {
      for (int64_t j = 0; j < g.n; ++j) {
        const T* column = b + j * g.ldb;
        T sum = 0;
        for (int64_t k = 0; k < g.k; ++k)
          sum += a[i * a_row + k * a_column] * column[k];
        out[j] += sum;
      }
    } else {
      for (int64_t k = 0; k < g.k; ++k) {
        const T factor = a[i * a_row + k * a_column];
        const T* in = b + k * g.ldb;
        TROUPE_INDEPENDENT
        for (int64_t j = 0; j < g.n; ++j)
          out[j] += factor * in[j];
      }
    }
  }
}

} // namespace

bool gemm(Type type, const GemmBlock& block) {
  if (block.m == 0 || block.n == 0)
    return true;
  switch (type) {
  case Type::float32:
    multiply_real<float>(block);
    return true;
  case Type::float64:
    multiply_real<double>(block);
    return true;
  case Type::int32:
    multiply_integer<int32_t>(block);
    return true;
  case Type::int64:
    multiply_integer<int64_t>(block);
    return true;
  default:
    return false;
  }
}

} // namespace troupe::arith::TROUPE_ISA
