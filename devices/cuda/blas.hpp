// cuBLAS, opened at run time: products of matrices on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/base/status.hpp"
#include "core/tensor/dtype.hpp"
#include "devices/cuda/driver.hpp"

namespace troupe::cuda {

class Gpu;
using BlasHandle = struct cublasContext*;

// Name, parameters; numbers are those of cublas_api.h and library_types.h (CUDA 11 and later).
#define TROUPE_CUBLAS_FUNCTIONS(X)                                                                 \
  X(cublasCreate_v2, (BlasHandle * handle))                                                        \
  X(cublasDestroy_v2, (BlasHandle handle))                                                         \
  X(cublasSetStream_v2, (BlasHandle handle, StreamHandle stream))                                  \
  X(cublasSetMathMode, (BlasHandle handle, int mode))                                              \
  X(cublasGemmStridedBatchedEx,                                                                    \
    (BlasHandle handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, \
     int type_a, int lda, long long stride_a, const void* b, int type_b, int ldb,                  \
     long long stride_b, const void* beta, void* c, int type_c, int ldc, long long stride_c,       \
     int batches, int compute_type, int algorithm))

/// The functions, under their own names.
struct BlasLibrary {
#define TROUPE_CUBLAS_MEMBER(name, parameters) int(*name) parameters = nullptr;
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_CUBLAS_MEMBER)
#undef TROUPE_CUBLAS_MEMBER

  /// Opens libcublas.so.13, .12 or .11 at the first call; it stays open. FAILED_PRECONDITION, with
  /// the remedy, where there is none.
  static Result<const BlasLibrary*> open();
};

inline constexpr int blas_math_default = 0, blas_math_tf32 = 3;
inline constexpr int blas_no_transpose = 0, blas_transpose = 1;
inline constexpr int blas_real_f32 = 0, blas_real_f64 = 1, blas_real_f16 = 2, blas_real_bf16 = 14;
inline constexpr int blas_compute_f32 = 68, blas_compute_f64 = 70, blas_default_algorithm = -1;

/// c[i] = op(a[i]) op(b[i]) for i < batches, of dense row-major matrices: op(a) is m x k, op(b) k x
/// n.
struct BatchedProduct {
  DType dtype =
      DType::float32; ///< float, double, half or bfloat16; half and bfloat16 are summed in float
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batches = 1;
  std::int64_t stride_a = 0,
               stride_b = 0; ///< elements from one matrix to the next; 0: the same for all
  bool adds = false;         ///< to what is in c
};

/// Of one GPU. Any thread.
class Blas {
public:
  static Result<std::unique_ptr<Blas>> make(Gpu& gpu, const BlasLibrary& library);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// Enqueues it on the GPU's compute stream. m, n, k and batches are at least 1. INVALID_ARGUMENT
  /// for matrices of 2^31 elements along a side.
  Status multiply(const BatchedProduct& product, const void* a, const void* b, void* c);

private:
  Blas(Gpu& gpu, const BlasLibrary& library, BlasHandle handle)
      : gpu_(gpu), library_(library), handle_(handle) {}

  Gpu& gpu_;
  const BlasLibrary& library_;
  std::mutex lock_; ///< a handle is for one thread at a time
  BlasHandle handle_;
};

} // namespace troupe::cuda
