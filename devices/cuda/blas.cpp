#include "devices/cuda/blas.hpp"

#include <algorithm>
#include <limits>

#include <dlfcn.h>

#include "core/base/strings.hpp"
#include "devices/cuda/gpu.hpp"

namespace troupe::cuda {

namespace {

constexpr int blas_success = 0;

Status no_blas(std::string_view why) {
  return failed_precondition(
      str_cat("cuBLAS, which multiplies matrices on GPUs, is not to be had on this machine: ", why,
              "; install it (libcublas of CUDA 11 or later) where the linker finds it, or in a "
              "folder of LD_LIBRARY_PATH"));
}

Result<BlasLibrary> load_blas() {
  void* library = nullptr;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"})
    if (!library)
      library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return no_blas(::dlerror());
  BlasLibrary out;
  const char* missing = nullptr;
#define TROUPE_CUBLAS_FIND(name, parameters)                                                       \
  if (!(out.name = reinterpret_cast<decltype(out.name)>(::dlsym(library, #name))))                 \
    missing = #name;
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_CUBLAS_FIND)
#undef TROUPE_CUBLAS_FIND
  if (missing)
    return no_blas(str_cat("it is too old, it has no ", missing));
  return out;
}

Status failed(const Gpu& gpu, std::string_view what, int status) {
  if (Status lost = gpu.lost(); !lost.ok())
    return lost;
  return internal(
      str_cat(what, " by cuBLAS on GPU ", gpu.ordinal(), " failed with its status ", status));
}

int type_of(DType dtype) {
  switch (dtype) {
  case DType::float64:
    return blas_real_f64;
  case DType::float16:
    return blas_real_f16;
  case DType::bfloat16:
    return blas_real_bf16;
  default:
    return blas_real_f32;
  }
}

} // namespace

Result<const BlasLibrary*> BlasLibrary::open() {
  static const Result<BlasLibrary> loaded = load_blas();
  if (!loaded.ok())
    return loaded.status();
  return &*loaded;
}

Result<std::unique_ptr<Blas>> Blas::make(Gpu& gpu, const BlasLibrary& library) {
  TROUPE_TRY(gpu.activate());
  BlasHandle handle = nullptr;
  if (int status = library.cublasCreate_v2(&handle); status != blas_success)
    return failed(gpu, "starting", status);
  std::unique_ptr<Blas> out(new Blas(gpu, library, handle));
  if (int status = library.cublasSetStream_v2(handle, gpu.compute().handle());
      status != blas_success)
    return failed(gpu, "choosing a stream", status);
  // Floats keep their digits.
  if (int status = library.cublasSetMathMode(handle, blas_math_default); status != blas_success)
    return failed(gpu, "choosing an arithmetic", status);
  return out;
}

Blas::~Blas() {
  if (gpu_.activate().ok())
    library_.cublasDestroy_v2(handle_);
}

// cuBLAS knows columns where we have rows, and a matrix by its columns is the transposed one by its
// rows: c' = b' a'.
Status Blas::multiply(const BatchedProduct& p, const void* a, const void* b, void* c) {
  if (std::max({p.m, p.n, p.k, p.batches}) > std::numeric_limits<int>::max())
    return invalid_argument(str_cat("a product of matrices on a GPU takes sides below 2^31, got ",
                                    p.m, " x ", p.k, " by ", p.k, " x ", p.n));
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const float one_f32 = 1, beta_f32 = p.adds ? 1 : 0;
  const double one_f64 = 1, beta_f64 = p.adds ? 1 : 0;
  const bool is_double = p.dtype == DType::float64;
  const int type = type_of(p.dtype);
  std::scoped_lock guard(lock_);
  const int status = library_.cublasGemmStridedBatchedEx(
      handle_, p.transpose_b ? blas_transpose : blas_no_transpose,
      p.transpose_a ? blas_transpose : blas_no_transpose, n, m, k,
      is_double ? static_cast<const void*>(&one_f64) : &one_f32, b, type, p.transpose_b ? k : n,
      p.stride_b, a, type, p.transpose_a ? m : k, p.stride_a,
      is_double ? static_cast<const void*>(&beta_f64) : &beta_f32, c, type, n, p.m * p.n,
      static_cast<int>(p.batches), is_double ? blas_compute_f64 : blas_compute_f32,
      blas_default_algorithm);
  return status == blas_success ? Status{} : failed(gpu_, "a product of matrices", status);
}

} // namespace troupe::cuda
