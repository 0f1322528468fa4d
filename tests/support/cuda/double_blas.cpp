// cuBLAS, as the double answers it: plain sums on the host, in the order of the stream.
#include <cstdint>
#include <vector>

#include "core/tensor/types.hpp"
#include "devices/cuda/blas.hpp"
#include "tests/support/cuda/internal/machine.hpp"

namespace troupe::cuda {
struct cublasContext {
  StreamHandle stream = nullptr;
};
} // namespace troupe::cuda

namespace troupe::testing {
namespace {

using namespace cuda;

constexpr int blas_invalid_value = 7;

struct Operand {
  bool is_transposed;
  int leading;
  long long stride;
};

/// By columns: element (row, column) is at row + column * leading.
template <class T>
double at(const void* matrix, const Operand& how, int batch, int row, int column) {
  const int inner = how.is_transposed ? column : row, outer = how.is_transposed ? row : column;
  return static_cast<double>(static_cast<float>(static_cast<const T*>(
      matrix)[batch * how.stride + inner + std::int64_t{outer} * how.leading]));
}
template <>
double at<double>(const void* matrix, const Operand& how, int batch, int row, int column) {
  const int inner = how.is_transposed ? column : row, outer = how.is_transposed ? row : column;
  return static_cast<const double*>(
      matrix)[batch * how.stride + inner + std::int64_t{outer} * how.leading];
}

template <class T>
void multiply(int m, int n, int k, const void* a, Operand of_a, const void* b, Operand of_b,
              double beta, void* c, Operand of_c, int batches) {
  for (int batch = 0; batch < batches; ++batch)
    for (int column = 0; column < n; ++column)
      for (int row = 0; row < m; ++row) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += at<T>(a, of_a, batch, row, i) * at<T>(b, of_b, batch, i, column);
        if (beta != 0)
          sum += at<T>(c, of_c, batch, row, column);
        T& out =
            static_cast<T*>(c)[batch * of_c.stride + row + std::int64_t{column} * of_c.leading];
        if constexpr (std::is_same_v<T, double>)
          out = sum;
        else
          out = T(static_cast<float>(sum));
      }
}

int create(BlasHandle* handle) {
  *handle = new cublasContext;
  return 0;
}
int destroy(BlasHandle handle) {
  delete handle;
  return 0;
}
int set_stream(BlasHandle handle, StreamHandle stream) {
  handle->stream = stream;
  return 0;
}
int set_math_mode(BlasHandle, int) {
  return 0;
}

int gemm(BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
         const void* a, int type, int lda, long long stride_a, const void* b, int type_b, int ldb,
         long long stride_b, const void* beta, void* c, int type_c, int ldc, long long stride_c,
         int batches, int compute_type, int) {
  const Operand of_a{op_a != blas_no_transpose, lda, stride_a};
  const Operand of_b{op_b != blas_no_transpose, ldb, stride_b};
  const Operand of_c{false, ldc, stride_c};
  const bool is_double = type == blas_real_f64;
  const double factor =
      is_double ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  const double kept =
      is_double ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  if (type_b != type || type_c != type || factor != 1 || m < 1 || n < 1 || k < 1 || batches < 1 ||
      lda < (of_a.is_transposed ? k : m) || ldb < (of_b.is_transposed ? n : k) || ldc < m ||
      compute_type != (is_double ? blas_compute_f64 : blas_compute_f32))
    return blas_invalid_value;
  CudaDouble::Machine& machine = testing::machine();
  std::scoped_lock guard(machine.lock);
  auto& stream = *reinterpret_cast<DoubleStream*>(handle->stream);
  machine.checker.next(stream.number, "a product of matrices");
  machine.checker.reads(a);
  machine.checker.reads(b);
  machine.checker.writes(c);
  ++machine.launches["cublasGemm"];
  machine.enqueue(stream, {.run = [=] {
                    switch (type) {
                    case blas_real_f64:
                      multiply<double>(m, n, k, a, of_a, b, of_b, kept, c, of_c, batches);
                      break;
                    case blas_real_f16:
                      multiply<Half>(m, n, k, a, of_a, b, of_b, kept, c, of_c, batches);
                      break;
                    case blas_real_bf16:
                      multiply<BFloat16>(m, n, k, a, of_a, b, of_b, kept, c, of_c, batches);
                      break;
                    default:
                      multiply<float>(m, n, k, a, of_a, b, of_b, kept, c, of_c, batches);
                    }
                    return success;
                  }});
  return 0;
}

} // namespace

Result<const BlasLibrary*> blas_of_double();
Result<const BlasLibrary*> blas_of_double() {
  static const BlasLibrary library{.cublasCreate_v2 = create,
                                   .cublasDestroy_v2 = destroy,
                                   .cublasSetStream_v2 = set_stream,
                                   .cublasSetMathMode = set_math_mode,
                                   .cublasGemmStridedBatchedEx = gemm};
  return &library;
}

} // namespace troupe::testing
