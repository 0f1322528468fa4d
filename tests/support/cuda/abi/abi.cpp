// Compares the types that we declare for NVIDIA's libraries with those of their headers, where
// these are: built, not run.
#include <type_traits>

#include <cublas_api.h>
#include <cuda.h>

#include "devices/cuda/blas.hpp"
#include "devices/cuda/driver.hpp"
#include "tests/support/cuda/abi/same_call.hpp"

namespace troupe::cuda {
namespace {

#define TROUPE_COMPARE(name, parameters)                                                           \
  static_assert(SameCall<decltype(Driver::name), decltype(&::name)>::value, #name);
TROUPE_CUDA_DRIVER_FUNCTIONS(TROUPE_COMPARE)
#undef TROUPE_COMPARE

// The header overloads it for C++; the library has this one.
using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                const void*, const void*, cudaDataType, int, long long, const void*,
                                cudaDataType, int, long long, const void*, void*, cudaDataType, int,
                                long long, int, cublasComputeType_t, cublasGemmAlgo_t);
static_assert(
    std::is_convertible_v<decltype(static_cast<Gemm>(&::cublasGemmStridedBatchedEx)), Gemm>);
static_assert(SameCall<decltype(BlasLibrary::cublasGemmStridedBatchedEx), Gemm>::value);
static_assert(
    SameCall<decltype(BlasLibrary::cublasCreate_v2), decltype(&::cublasCreate_v2)>::value);
static_assert(
    SameCall<decltype(BlasLibrary::cublasDestroy_v2), decltype(&::cublasDestroy_v2)>::value);
static_assert(
    SameCall<decltype(BlasLibrary::cublasSetStream_v2), decltype(&::cublasSetStream_v2)>::value);
static_assert(
    SameCall<decltype(BlasLibrary::cublasSetMathMode), decltype(&::cublasSetMathMode)>::value);

static_assert(success == CUDA_SUCCESS && out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(event_blocking_sync == CU_EVENT_BLOCKING_SYNC &&
              event_disable_timing == CU_EVENT_DISABLE_TIMING);
static_assert(attribute_multiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              attribute_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              attribute_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              attribute_memory_pools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(pool_release_threshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(blas_no_transpose == CUBLAS_OP_N && blas_transpose == CUBLAS_OP_T);
static_assert(blas_math_default == CUBLAS_DEFAULT_MATH);
static_assert(blas_real_f32 == CUDA_R_32F && blas_real_f64 == CUDA_R_64F &&
              blas_real_f16 == CUDA_R_16F && blas_real_bf16 == CUDA_R_16BF);
static_assert(blas_compute_f32 == CUBLAS_COMPUTE_32F && blas_compute_f64 == CUBLAS_COMPUTE_64F);
static_assert(blas_default_algorithm == CUBLAS_GEMM_DEFAULT);

} // namespace
} // namespace troupe::cuda
