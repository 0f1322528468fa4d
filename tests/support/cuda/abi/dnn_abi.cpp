// The same for cuDNN, whose headers are not CUDA's.
#include <cstddef>
#include <type_traits>

#include <cudnn.h>

#include "devices/cuda/dnn.hpp"
#include "tests/support/cuda/abi/same_call.hpp"

namespace troupe::cuda {
namespace {

#define TROUPE_COMPARE_DNN(result, name, parameters)                                               \
  static_assert(SameCall<decltype(DnnLibrary::name), decltype(&::name)>::value, #name);
TROUPE_CUDNN_FUNCTIONS(TROUPE_COMPARE_DNN)
#undef TROUPE_COMPARE_DNN

template <class Theirs>
constexpr bool is_our_algorithm() {
  return sizeof(DnnAlgorithm) == sizeof(Theirs) &&
         offsetof(DnnAlgorithm, algorithm) == offsetof(Theirs, algo) &&
         offsetof(DnnAlgorithm, status) == offsetof(Theirs, status) &&
         offsetof(DnnAlgorithm, memory) == offsetof(Theirs, memory) &&
         offsetof(DnnAlgorithm, determinism) == offsetof(Theirs, determinism) &&
         offsetof(DnnAlgorithm, math) == offsetof(Theirs, mathType);
}
static_assert(is_our_algorithm<cudnnConvolutionFwdAlgoPerf_t>());
static_assert(is_our_algorithm<cudnnConvolutionBwdDataAlgoPerf_t>());
static_assert(is_our_algorithm<cudnnConvolutionBwdFilterAlgoPerf_t>());

static_assert(dnn_success == CUDNN_STATUS_SUCCESS);
static_assert(dnn_nchw == CUDNN_TENSOR_NCHW && dnn_nhwc == CUDNN_TENSOR_NHWC &&
              dnn_cross_correlation == CUDNN_CROSS_CORRELATION);
static_assert(dnn_f32 == CUDNN_DATA_FLOAT && dnn_f64 == CUDNN_DATA_DOUBLE &&
              dnn_f16 == CUDNN_DATA_HALF && dnn_bf16 == CUDNN_DATA_BFLOAT16);
static_assert(dnn_math_default == CUDNN_DEFAULT_MATH &&
              dnn_math_tensor_op == CUDNN_TENSOR_OP_MATH && dnn_math_fma == CUDNN_FMA_MATH);
static_assert(dnn_deterministic == CUDNN_DETERMINISTIC);
// The algorithms that sum products of elements.
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_DIRECT == 3 && CUDNN_CONVOLUTION_FWD_ALGO_FFT == 4);
static_assert(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 == 1 && CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT == 2);
static_assert(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 == 1 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT == 2 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3 == 3);

} // namespace
} // namespace troupe::cuda
